"""Sink gradients: does attention to the sink matter to the loss? (section 3.2; Figure 3)."""
