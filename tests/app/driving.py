"""The app as AppTest drives it: opening a page, what it says, waiting for its job."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]


def open_app(page: str = "", **address: str) -> AppTest:
    """A page, the overview without a name, with the parameters of its address."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in address.items():
        app.query_params[name] = value
    if page:
        app.switch_page(f"pages/{page}.py")
    app.run()
    assert not app.exception, app.exception
    return app


def words(app: AppTest) -> str:
    """All that the page says, widgets and tables apart."""
    kinds = (app.markdown, app.caption, app.error, app.warning, app.title, app.header)
    return unescaped("\n".join(element.value for kind in kinds for element in kind))


def uploader(app: AppTest) -> Any:
    """The sidebar's, which is a new one after each upload."""
    return next(each for each in app.file_uploader if each.key.startswith("uploader"))


def unescaped(markdown: str) -> str:
    """Without the backslashes that keep markdown plain."""
    return markdown.replace("\\", "")


def wait_for_job(app: AppTest) -> AppTest:
    """The page once its job has ended."""
    for _ in range(600):
        app.run()
        if not app.get("progress"):
            return app
        time.sleep(0.1)
    raise AssertionError("the job did not end")
