"""Every figure, map, table, card and drawing of a page is in the files that it offers, whatever is chosen."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pages.shared import page
from tests.app.test_files_follow_choices import CHOSEN
from tests.support import drawn
from tests.support.driving import open_app
from tests.support.running import run

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
WITHOUT_COMMAND = [
    ("emergence", {"training": "small-bert", "at_step": "1000", "relations_of": "det,UAS", "head": "3-1"}),
    ("emergence", {}),
    ("compare", {"analysis": "surface_patterns", "compared": "next", "head": "2-1"}),
    ("compare", {"analysis": "dependency_heads"}),
]
PAGES = [(name, address) for name, address, _ in CHOSEN] + WITHOUT_COMMAND


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """The builders of the last page's files, by suffix."""
    built: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(page, "offer_files", lambda files: built.update({Path(n).suffix: b for n, b in files.values()}))
    return built


@pytest.mark.parametrize(("name", "address"), PAGES)
def test_the_files_of_a_page_hold_all_that_it_draws(name, address, files, monkeypatch) -> None:
    if "both" in address:
        assert not run("surface-patterns", "encyclopedia", "--weights", "norms", "--quiet").returncode
    recorded = drawn.Drawn()
    recorded.record(monkeypatch)
    app = open_app(name, **address)
    assert not app.error
    html = files[".html"]().decode()
    read = drawn.text_of(html)

    traces = set(drawn.traces_of_html(html))
    assert {each[:2] for each in drawn.traces_of_page(app) if each not in traces} == set(), "figures"
    hover = drawn.hover_of_html(html)
    assert [text for each in recorded.maps for text in each.hover if text not in hover] == [], "maps of heads"
    for item in recorded.drawings:
        assert " ".join(item.title.split()) in read, "drawings"
        assert [text for text in drawn.words_of(item.svg) if text not in read] == [], item.title
    assert [text for text in drawn.quoted(app) if text not in read] == [], "inputs"
    rows = drawn.rows_of_files(json.loads(files[".json"]()), files[".zip"]())
    assert drawn.missing_rows(drawn.rows_of_page(app), rows) == [], "tables"
