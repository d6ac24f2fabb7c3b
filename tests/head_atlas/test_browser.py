"""The site from a disk, in a real browser, as wide as a phone."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bertviz_core import published
from bertviz_core.analyses.base.result import renamed
from bertviz_core.errors import SettingsError
from bertviz_core.head_atlas.overview_page import overview_page
from bertviz_core.overview.vocabulary import vocabulary
from tests.support.chromium import browser

EXPRESSIONS = (
    "previous > 0.5 and entropy < 2",
    "not (previous token > 50% or entropy >= 2.5)",
    "0.1 < previous < 0.5",
    "layer = 2 and head ≠ 3",
    "dobj > 0.3 or layer == 1",
    "Previous  Token ≥ .1e0 and NOT entropy<1",
)
WRONG = (
    "previous >",
    "nonsense > 3",
    "previous > 0.5 and",
    "(previous > 1",
    "previous $ 3",
    "previous > 1 2",
    "(" * 22,
    "layer = 1 \U0001f600",
    "\U0001f600 \U0001f600",
)
NAMED = (
    'published = "induction"',
    'Published == "Name  mover" or published = "greater-than"',
    'published ≠ "induction" and layer = 2',
    'not published = "induction" and previous > 0.1',
    'published = "nothing of this name"',
)
MISNAMED = (
    "published",
    "published > 3",
    "published = induction",
    'published = "induction',
    "published = 3",
    "0.3 < published",
    '"induction" = published',
    "published = \u201cinduction\u201d",
)


@pytest.fixture(scope="module")
def page(folder):
    with browser() as chromium:
        opened = chromium.new_page(viewport={"width": 390, "height": 844})
        opened.problems = []
        opened.on("console", lambda message: opened.problems.append(message.text))
        opened.on("pageerror", lambda error: opened.problems.append(str(error)))
        yield opened


def show(page, path):
    page.goto(path.as_uri())
    page.wait_for_load_state()


@pytest.mark.browser
def test_each_kind_of_page_opens_from_a_disk_without_an_error(page, folder):
    names = ("index.html", "index", "heads/2-1", "entropy", "dependency-heads", "report")
    for name in names:
        show(page, folder / (name if name.endswith(".html") else f"demo-decoder/{name}.html"))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        figures = page.locator(".plotly-graph-div")
        if figures.count():
            page.wait_for_selector(".plotly-graph-div .main-svg", state="attached")
        assert page.problems == [], name


@pytest.mark.browser
def test_the_finder_of_the_page_finds_what_that_of_the_library_finds(page, folder, contents):
    show(page, folder / "demo-decoder" / "index.html")
    check(page, vocabulary(contents.results), EXPRESSIONS, WRONG)


@pytest.mark.browser
def test_the_finder_of_the_page_reads_what_papers_have_named(page, folder, contents, monkeypatch):
    model = contents.checkpoint
    rows = [("2-1", "induction"), ("2-1", "name mover"), ("4-8", "induction"), ("1-1", "greater-than")]
    heads = [{"head": key, "role": role} for key, role in rows]
    about = {"name": "A 2020", "title": "A", "page": "https://example.org", "models": [model.name], "revision": "main"}
    paper = about | {"shape": [model.layers, model.heads], "heads": heads}
    monkeypatch.setattr(published, "_papers", lambda: (paper,))
    results = {name: renamed(each, {}, {"of_hub": True}) for name, each in contents.results.items()}
    path = folder / "demo-decoder" / "named.html"
    path.write_bytes(overview_page(replace(contents, results=results)))
    show(page, path)
    known = vocabulary(results)
    assert list(known.find(NAMED[0])["label"]) == ["2-1", "4-8"]
    check(page, known, NAMED, MISNAMED)
    path.unlink()


def check(page, known, expressions, wrong):
    """The page finds what the library finds, and refuses what it refuses, at the same place."""
    field = page.get_by_label("Heads for which this holds")
    for text in expressions:
        field.fill(text)
        found = page.locator("#table tbody tr td:first-child").all_inner_texts()
        assert found == list(known.find(text)["label"]), text
    for text in wrong:
        with pytest.raises(SettingsError) as expected:
            known.find(text)
        field.fill(text)
        place = re.search(r"\(at character \d+\)", expected.value.what)
        assert place and place[0] in page.locator(".answer.wrong").inner_text(), text
    assert page.problems == []


@pytest.mark.browser
def test_map_table_and_scatter_lead_to_heads_by_keyboard_and_link(page, folder, contents):
    overview = folder / "demo-decoder" / "index.html"
    show(page, folder / "index.html")
    page.goto(f"{overview.as_uri()}#find=previous%20%3E%200.5")
    assert page.get_by_label("Heads for which this holds").input_value() == "previous > 0.5"
    values = contents.results["surface_patterns"]["previous"]
    assert page.locator("#table tbody tr").count() == (values > 0.5).sum()
    page.locator(".map .point[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".card a").click()
    page.wait_for_url("**/heads/*.html")
    page.get_by_role("link", name="›").click()
    show(page, overview)
    assert page.locator("#scatter a").count() == values.size
    page.locator("#scatter a[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**/heads/*.html")
    order = [contents.heads[index].key() for index in np.argsort(values.reshape(-1), kind="stable")]
    assert page.url.endswith(f"/{order[1]}.html")
    show(page, overview)
    page.locator("#table th button", has_text="previous token").focus()
    page.keyboard.press("Enter")
    assert page.locator("#table tbody tr td:first-child").first.inner_text() == order[-1]
    assert page.evaluate("document.activeElement.textContent") == "previous token"
    assert page.problems == []
