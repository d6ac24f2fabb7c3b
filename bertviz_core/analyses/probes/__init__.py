"""Probes: how much syntax the maps of all heads hold together (section 5; methods, 8).

In reading order: parts (train, validation, test), room, features (word-level maps, computed once), scores (the probes),
training, decoding, structural, controls, study (all of it for one treebank). Analyses import these inside functions:
they need torch.
"""
