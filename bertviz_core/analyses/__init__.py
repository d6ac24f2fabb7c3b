"""The analyses, one folder each, named like their pages, commands and tests. `analysis.py` is their base class."""
