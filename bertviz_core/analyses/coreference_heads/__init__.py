"""Heads that point from mentions to their antecedents (section 4.3; Table 2)."""
