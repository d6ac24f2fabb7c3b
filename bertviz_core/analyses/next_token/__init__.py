"""Next token: what each head adds to the logit of the next token (beyond the paper)."""
