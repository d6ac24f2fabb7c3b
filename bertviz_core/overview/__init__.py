"""What the stored results of one model say together."""
