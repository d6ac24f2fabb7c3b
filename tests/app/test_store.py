"""Pages over a store that cannot be used: they open, show what ships, and say what is wrong and what to do."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bertviz_core.engine import store as store_module
from bertviz_core.engine import store_disk
from pages.shared import services
from tests import broken_stores
from tests.app.driving import open_app, paste, unescaped, words

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch):
    """Have the app use a folder; it has opened no store yet."""
    import streamlit as st

    def name(folder: Path) -> None:
        services._singletons.clear()
        st.cache_resource.clear()
        st.cache_data.clear()
        monkeypatch.setenv("BERTVIZ_STORE", str(folder))

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(store_module, "PATIENCE", 0.5)
    monkeypatch.setattr(store_disk, "BRIEF", 0.02)  # of every read of a store that is locked
    yield name
    services._singletons.clear()
    st.cache_resource.clear()
    st.cache_data.clear()


def prepared(kind: str, tmp_path: Path, stack: ExitStack) -> Path:
    """A folder that cannot be used, of one kind."""
    folder = tmp_path / "store"
    if kind == "a path under a file":
        folder.write_text("not a folder")
        return folder / "store"
    broken_stores.filled(folder, {"small": b"small"})
    if kind == "read-only":
        return stack.enter_context(broken_stores.read_only(folder, tmp_path / "mount"))
    if kind == "full":
        disk = stack.enter_context(broken_stores.tiny_disk(tmp_path / "mount", "2m"))
        shutil.copytree(folder, disk / "store")
        broken_stores.fill(disk / "filler")
        return disk / "store"
    if kind == "locked":
        stack.enter_context(broken_stores.locked(folder, exclusive=True))
    elif kind == "newer":
        broken_stores.set_version(folder, 99)
    elif kind == "damaged":
        (folder / "cache.db").write_bytes(os.urandom(8192))
    return folder


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("a path under a file", "nothing new is stored"),
        ("read-only", "Read-only file system|Permission denied"),
        ("full", "No space left"),
        ("locked", "locked"),
        ("newer", "newer version"),
        ("damaged", "not a database"),
    ],
)
def test_pages_open_and_say_what_is_wrong(use, tmp_path, stack, kind, why):
    use(prepared(kind, tmp_path, stack))
    began = time.monotonic()
    app = open_app()
    assert "The store cannot be" in warning(app)
    assert re.search(why, warning(app))
    assert "BERTVIZ_STORE" in warning(app)
    assert str(tmp_path) not in warning(app)  # a visitor need not know the server's folders
    assert "heads" in words(app)
    assert not app.error
    assert any("MB on this machine" in caption.value for caption in app.caption)
    paste(app, "A paste.\nOf two lines.")
    assert not app.exception
    assert "The store cannot be written" in words(app)
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_over_a_damaged_store(use, tmp_path, stack, page):
    use(prepared("damaged", tmp_path, stack))
    app = open_app(page)
    assert "BERTVIZ_STORE" in warning(app)
    assert not app.error


def test_a_store_that_is_removed_while_the_app_runs(use, tmp_path, stack):
    use(tmp_path / "store")
    app = open_app()
    assert warning(app) == ""
    shutil.rmtree(tmp_path / "store")
    app.run()
    assert not app.exception
    assert warning(app) == ""


def test_a_job_over_a_read_only_store_ends_at_once_and_says_so(use, tmp_path, stack):
    use(prepared("read-only", tmp_path, stack))
    app = open_app("surface_patterns")
    app.number_input(key="seed").set_value(7).run()
    app.number_input(key="limit").set_value(2).run()
    next(button for button in app.button if "nalyze" in button.label).click().run()
    for _ in range(60):
        if "The store cannot be written" in words(app):
            break
        time.sleep(0.5)
        app.run()
    assert "The store cannot be written" in words(app)
    assert not app.exception


def warning(app) -> str:
    return unescaped("\n".join(element.value for element in app.warning))
