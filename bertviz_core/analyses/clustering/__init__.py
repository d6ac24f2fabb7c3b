"""Clustering of heads by Jensen-Shannon divergence (section 6; Figure 6)."""
