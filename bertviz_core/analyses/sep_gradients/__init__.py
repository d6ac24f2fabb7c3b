"""[SEP] gradients (section 3.2; Figure 3)."""
