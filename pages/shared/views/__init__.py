"""The parts of single pages."""
