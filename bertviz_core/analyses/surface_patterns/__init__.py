"""Surface patterns: attention to neighbors, special tokens and punctuation (sections 3.1, 3.2; Figure 2)."""
