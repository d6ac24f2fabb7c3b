"""Entropy (section 3.3; Figure 4)."""
