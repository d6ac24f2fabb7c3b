"""Minimal pairs: which heads a model needs to prefer a grammatical sentence (docs/methods.md, section 19)."""
