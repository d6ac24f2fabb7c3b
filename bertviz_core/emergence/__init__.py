"""Emergence: analyses of every checkpoint of a training run, side by side."""
