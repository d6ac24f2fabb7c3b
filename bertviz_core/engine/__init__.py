"""The engine: the one pass over a corpus, jobs with progress and cancel, and the store of results."""
