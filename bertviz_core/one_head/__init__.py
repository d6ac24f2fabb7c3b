"""One head in all that is stored of it: its description, a clear input, small figures and files."""
