"""Reach: how far each head looks, its sinks, its output, and how strongly it acts on each input (beyond the paper)."""
