"""Emergence: what heads do at every checkpoint of a training (beyond the paper; docs/methods.md, section 16)."""
