"""Models: their files (checkpoint), their inputs (reading, encoding) and their attention (attention)."""
