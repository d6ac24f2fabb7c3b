"""Emergence: the analyses of every checkpoint of a training, side by side."""
