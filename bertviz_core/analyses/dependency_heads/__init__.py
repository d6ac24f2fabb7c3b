"""Dependency heads (section 4.2; Table 1)."""
