"""Induction: do heads continue a repeated sequence? (beyond the paper)."""
