"""Models: where their files are (checkpoint), how they read (encoding) and what is seen in them (attention)."""
