"""The project's site, as files that any static host can serve: `python -m docs.site --out site`.

`pages` makes the documentation, `tour` the guided tour; `__main__` puts them together with the API reference and the
atlas of the models that ship.
"""
