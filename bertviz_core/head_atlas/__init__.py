"""A static site of the heads of models, which needs no server."""
