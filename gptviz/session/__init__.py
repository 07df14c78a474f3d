"""The state of the application, and the one thread that runs the model."""
