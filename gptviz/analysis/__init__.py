"""Plain functions on a trace: what the panes show, computed with NumPy and without torch."""
