"""The analyses, a folder each, named as their pages, commands and tests are. `analysis.py` says what each must have."""
