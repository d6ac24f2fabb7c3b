"""The paper retold for one model, as a page or as Markdown with its figures beside it.

In reading order: request (what is needed and what is missing), blocks (what a report is made of), tables, sections (its
contents), pages (HTML and Markdown).
"""
