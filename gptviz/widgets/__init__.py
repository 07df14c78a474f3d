"""Parts that panes are made of; they know neither the session nor torch."""
