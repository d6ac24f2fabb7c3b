"""What ships with the project: the demo model, the sample corpora, and their precomputed results."""
