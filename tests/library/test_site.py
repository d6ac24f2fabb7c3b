"""The project's site: every link leads somewhere, and no page asks another site for anything."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

pytest.importorskip("pdoc")
pytest.importorskip("mdit_py_plugins")
from bertviz_core.tour import STEPS
from docs.site import __main__ as site
from docs.site import pages, tour

pytestmark = pytest.mark.slow

ELSEWHERE = ("atlas/", "api/")  # parts of the site that others write


class Page(HTMLParser):
    """What a page leads to, what it loads, and the ids that links may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        address = attributes.get("href") or attributes.get("src")
        if address:
            (self.links if tag == "a" else self.loaded).append(address)
        self.ids += [attributes["id"] or ""] if "id" in attributes else []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without the API reference and the atlas."""
    written = tmp_path_factory.mktemp("site")
    site.write_pages(written)
    return written


def broken(folder: Path) -> Iterator[str]:
    """Every address within the site that leads nowhere, after its page."""
    parsed = {path.relative_to(folder).as_posix(): Page(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    for name, page in parsed.items():
        for address in (*page.links, *page.loaded):
            parts = urlsplit(urljoin(name, address))
            path = unquote(parts.path) or name
            if parts.scheme or path.startswith(ELSEWHERE):
                continue
            if not (folder / path).is_file() or (parts.fragment and unquote(parts.fragment) not in parsed[path].ids):
                yield f"{name}: {address}"


def test_every_link_leads_somewhere(folder: Path) -> None:
    assert [*broken(folder)] == []
    assert len([*folder.rglob("*.html")]) >= 20
    (folder / "wrong.html").write_text('<a href="docs/nothing.html">a</a><a href="index.html#nothing">b</a>')
    assert [*broken(folder)] == ["wrong.html: docs/nothing.html", "wrong.html: index.html#nothing"]
    (folder / "wrong.html").unlink()


def test_pages_load_nothing_from_elsewhere(folder: Path) -> None:
    for path in folder.rglob("*.html"):
        text = path.read_text("utf-8")
        assert [address for address in Page(text).loaded if urlsplit(address).scheme not in ("", "data")] == [], path
        assert text.count("default-src 'self' data:") == 1


def test_ids_are_unique_and_tables_and_formulas_are_drawn(folder: Path) -> None:
    methods = (folder / "docs" / "methods.html").read_text("utf-8")
    ids = Page(methods).ids
    assert len(ids) == len({*ids})
    prose = re.sub(r"<(code|pre|math)\b.*?</\1>", "", methods, flags=re.S)
    assert methods.count("<math") > 100 and "$" not in prose and "|---|" not in prose
    assert '<div class="wide"><table>' in (folder / "docs" / "cli.html").read_text("utf-8")


def test_the_tour_has_every_slide_with_its_figure_and_answer(folder: Path) -> None:
    text = (folder / "tour.html").read_text("utf-8")
    sections = re.findall(r"<section>(.*?)</section>", text, re.S)
    assert len(sections) == len(STEPS)
    for section in sections:
        assert "<summary>Answer</summary><h3>" in section and "<h3></h3>" not in section
        assert "<iframe" in section or "plotly-graph-div" in section


def test_the_atlas_leads_back_to_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[tuple[str, ...]] = []
    monkeypatch.setattr(site, "run", lambda *command: commands.append(command))
    monkeypatch.setattr(site, "write_pages", lambda folder: None)
    site.write(tmp_path, with_atlas=True)
    options = dict(pairwise(commands[-1]))
    assert (Path(options["--out"]) / options["--home"]).resolve() == tmp_path.resolve() / "index.html"


def test_links_are_those_of_the_site() -> None:
    page = pages.PurePosixPath("docs/methods.md")
    assert pages.target("../README.md#limits", page) == "README.md"
    assert pages.target("https://example.org/a.md", page) is None and pages.target("#here", page) is None
    assert pages.written("README.md") == "index.html" and pages.written("docs/cli.md") == "docs/cli.html"
    assert pages.slug("Where these numbers (section 3.1) come from!") == "where-these-numbers-section-31-come-from"
    assert tour.results_of("demo-decoder")["induction"].analysis == "induction"
