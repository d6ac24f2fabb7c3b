"""Ablation: how much the loss changes without a head (beyond the paper)."""
