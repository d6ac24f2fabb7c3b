"""Models: where their files are (checkpoint), how they read (reading, encoding) and what is seen in them (attention)."""
