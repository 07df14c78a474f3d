"""The window: what holds the panes together."""
