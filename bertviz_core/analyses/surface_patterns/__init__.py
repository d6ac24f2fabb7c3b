"""Surface patterns (sections 3.1 and 3.2; Figure 2)."""
