"""Two runs of one analysis side by side (docs/methods.md, section 13)."""
