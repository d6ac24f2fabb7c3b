"""Comparison: two runs of one analysis, head by head (docs/methods.md, section 13)."""
