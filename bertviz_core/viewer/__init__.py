"""The attention of one input: what is shown of it, its figures and files (docs/methods.md, section 10)."""
