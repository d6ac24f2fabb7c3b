"""Probes of the syntax in the maps of all heads (section 5; Table 3)."""
