"""Running jobs on the pages."""
