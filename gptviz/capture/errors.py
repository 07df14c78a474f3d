"""What goes wrong when a trace is read; without torch, so that panes can tell."""


class TraceError(RuntimeError):
    """A stage can't be had from this trace; the message says why."""


class NotRecordedError(TraceError):
    """A run was recorded without what is asked for, and its model is not loaded."""
