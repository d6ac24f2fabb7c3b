"""Coreference heads (section 4.3; Table 2)."""
