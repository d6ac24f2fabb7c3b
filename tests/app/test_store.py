"""Pages over a store that cannot be used: they open, show what ships, and say what is wrong and what to do."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st

from pages.shared import preview, services
from pages.shared.frame.links import ENTRIES
from tests.support.driving import ROOT, open_app, paste, unescaped, words

pytestmark = pytest.mark.slow

PAGES = [entry.name for entry in ENTRIES]


def forget() -> None:
    """The app has opened no store yet."""
    services._singletons.clear()
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Have the app use a folder."""
    monkeypatch.chdir(ROOT)

    def open_next(folder: Path) -> None:
        monkeypatch.setenv("BERTVIZ_STORE", str(folder))
        forget()  # Only now: what an earlier test has left in the background may have asked for a store meanwhile.

    yield open_next
    forget()


def test_a_damaged_preview_is_as_none(use: Callable[[Path], None], tmp_path: Path) -> None:
    use(tmp_path)
    services.store().put("a" * 64, b"damaged")
    assert preview._stored("a" * 64) == b""


def under_a_file(folder: Path) -> Path:
    folder.write_text("not a folder")
    return folder / "store"


def damaged(folder: Path) -> Path:
    (folder / "results").mkdir(parents=True)
    (folder / "results" / "cache.db").write_bytes(os.urandom(8192))
    return folder


def check_opens(why: str, folder: Path) -> None:
    """The overview says what is wrong and what to do, and goes on."""
    began = time.monotonic()
    app = open_app()
    assert "The store cannot be" in warning(app)
    assert re.search(why, warning(app))
    assert "BERTVIZ_STORE" in warning(app)
    assert str(folder) not in warning(app)  # a visitor need not know the server's folders
    assert "heads" in words(app)
    assert not app.error
    paste(app, "A paste.\nOf two lines.")
    assert not app.exception
    assert "The store cannot be opened" in words(app)
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("make", "why"), [(under_a_file, "nothing new is stored"), (damaged, "not a database")], ids=["file", "damaged"]
)
def test_pages_open_and_say_what_is_wrong(use, tmp_path, make, why):
    use(make(tmp_path / "store"))
    check_opens(why, tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_over_a_damaged_store(use, tmp_path, page):
    use(damaged(tmp_path / "store"))
    app = open_app(page)
    assert "BERTVIZ_STORE" in warning(app)
    assert not app.error


def test_a_store_that_is_removed_while_the_app_runs(use, tmp_path):
    use(tmp_path / "store")
    app = open_app()
    assert warning(app) == ""
    shutil.rmtree(tmp_path / "store")
    app.run()
    assert not app.exception
    assert warning(app) == ""


def test_a_job_that_could_store_nothing_ends_at_once_and_says_so(use, tmp_path):
    use(under_a_file(tmp_path / "store"))
    app = open_app("surface_patterns", seed="7", limit="2")
    next(button for button in app.button if "nalyze" in button.label).click().run()
    for _ in range(60):
        if "The store cannot be opened" in words(app):
            break
        time.sleep(0.5)
        app.run()
    assert "The store cannot be opened" in words(app)
    assert not app.exception


def warning(app) -> str:
    return unescaped("\n".join(element.value for element in app.warning))
