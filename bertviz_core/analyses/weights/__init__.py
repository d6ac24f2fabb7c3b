"""Weights: what each head reads and writes, from the weights alone (beyond the paper)."""
