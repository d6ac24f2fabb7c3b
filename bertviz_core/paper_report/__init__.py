"""The paper retold for one model, as one page.

In reading order: request (what is needed and what is missing), blocks (what a report is made of), lines (Figures 1 and
5), tables, pages (the contents).
"""
