"""What the labs' threads run: one function a lab. torch and the labs are imported inside the functions.

Each takes what the pane asks for as plain values, and last the job's context; the pane submits a ``partial`` of it.
A lab must not draw from torch's global random numbers: the model's thread may be initialising a model with them at
that moment. ``labs.seeded`` draws the same numbers from a generator of its own.
"""
