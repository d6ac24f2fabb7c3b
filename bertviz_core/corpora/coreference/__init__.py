"""Corpora with coreference chains: formats, documents, mentions and their head words."""
