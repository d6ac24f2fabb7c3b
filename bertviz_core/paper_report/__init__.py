"""The report: the paper's figures and tables for one model, as one page.

In reading order: request (what is needed and what is missing), lines (Figures 1 and 5), tables, pages (the contents).
"""
