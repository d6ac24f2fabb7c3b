"""What all results say of each head, and of the heads together."""
