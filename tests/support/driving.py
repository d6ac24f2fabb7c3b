"""The app as AppTest drives it: opening a page, what it says, waiting for its job."""

import re
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages.shared.frame import PANEL

POPOVERS = (PANEL, "page-options", "guess-options", "thresholds", "compare")
EXPANDERS = (
    "findings",
    "like-most",
    "heads",
    "numbers",
    "strongest",
    "atlas",
    "headvis",
    "gender",
    "stored",
    "report",
    "about",
    "skipped",
    "provenance",
)
ROOT = Path(__file__).parents[2]


def open_app(page: str = "", /, **address: str) -> AppTest:
    """A page, the overview without a name, with the parameters of its address, its expanders and popovers open."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for name, value in address.items():
        app.query_params[name] = value
    for key in (*POPOVERS, *(f"folded-{name}" for name in EXPANDERS)):
        app.session_state[key] = True
    if page:
        app._page_hash = calc_hash(page)  # also of a page without a file
    app.run()
    while any("The hub is asked" in note.value for note in app.info):  # A browser draws the page again by itself.
        time.sleep(0.05)
        app.run()
    assert not app.exception, "the page failed: the captured output has its traceback"
    return app


def switch(app: AppTest, page: str) -> AppTest:
    """Another page in the same session, also one without a file."""
    app._page_hash = calc_hash(page)
    app.query_params.clear()
    return app.run()


def words(app: AppTest) -> str:
    """All that the page says, with its details, widgets and tables apart."""
    kinds = (app.markdown, app.caption, app.error, app.warning, app.info, app.title, app.header)
    details = (element.proto.help for element in app.markdown)
    return unescaped("\n".join([shown(app), *(element.value for kind in kinds for element in kind), *details]))


def shown(app: AppTest) -> str:
    """What the line under the title says: "demo on encyclopedia", with every corpus of the page."""
    lines = (element.value for element in app.markdown if element.value.endswith(" ·"))
    return unescaped(next(lines, "").removesuffix(" ·").replace("**", ""))


def open_uploads(app: AppTest) -> AppTest:
    """Open the panel with the uploads again, which an upload closes."""
    app.session_state[PANEL] = True
    return app.run()


def uploader(app: AppTest) -> Any:
    """The header's, which is a new one after each upload."""
    if not app.session_state[PANEL]:
        open_uploads(app)
    return next(each for each in app.file_uploader if each.key.startswith("uploader"))


def unescaped(markdown: str) -> str:
    """What is read: without the backslashes that keep markdown plain, and without the addresses of its links."""
    return re.sub(r"\[([^][]+)\]\([^()]*\)", r"\1", markdown.replace("\\", ""))


def wait_for_job(app: AppTest) -> AppTest:
    """The page once its job has ended. It is not run meanwhile for nothing, which takes the time that the job needs."""
    for _ in range(600):
        for thread in threading.enumerate():
            if thread.name == "jobs":
                thread.join(2)
        app.run()
        if not app.get("progress"):
            return app
        time.sleep(0.1)
    raise AssertionError("the job did not end")


def analyze(app: AppTest) -> None:
    """Have the page run the analysis that it offers."""
    next(button for button in app.button if button.label.startswith("Analyze")).click().run()
    wait_for_job(app)


def paste(app: AppTest, text: str) -> None:
    """Have the page use a pasted text."""
    app.text_area(key="paste").set_value(text).run()
    next(button for button in app.button if button.label == "Use the pasted text").click().run()


def metrics(app: AppTest) -> dict[str, str]:
    """The cards of the page."""
    return {metric.label: metric.value for metric in app.metric}


def parameter(app: AppTest, name: str) -> str | None:
    """Of the address."""
    value = app.query_params.get(name)
    return unquote(value[0] if isinstance(value, list) else value) if value else None
