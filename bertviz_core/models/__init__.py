"""Models: their files (checkpoint), how they read (reading, encoding) and what is seen in them (attention)."""
