"""Heads that find the relations of a treebank (section 4.2; Table 1)."""
