"""The overview: all stored results of one model together."""
