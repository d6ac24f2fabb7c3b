"""Treebanks: formats, trees, the function-head view."""
