"""Corpora: sources of bytes, and the readers that parse them. Never imports torch."""
