"""Clustering (section 6; Figure 6)."""
