"""One file a command: ``add_arguments`` says what it takes, ``run`` does it. torch and Qt are imported in functions."""
