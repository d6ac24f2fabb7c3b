"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""
