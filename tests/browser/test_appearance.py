"""The projector, light and dark, and what is in sight on a laptop: positions and sizes that only a browser knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import chromium as browser

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium on this machine")
PAGES = (
    *("", "attention_viewer", "compare", "emergence", "surface_patterns", "sep_gradients", "entropy"),
    *("dependency_heads", "coreference_heads", "probes", "clustering", "ablation"),
)
PICTURES = ".map, .lines, [data-testid=stPlotlyChart]"
EVERYWHERE = """
const deep = (root, which) => [...root.querySelectorAll(which),
  ...[...root.querySelectorAll('*')].filter((e) => e.shadowRoot).flatMap((e) => deep(e.shadowRoot, which))];
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browser.served(tmp_path_factory.mktemp("appearance") / "store") as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.browser() as launched:
        yield launched


@pytest.mark.parametrize("name", PAGES)
def test_the_first_picture_and_the_arrows_for_heads_are_in_sight(address: str, chromium: Any, name: str) -> None:
    page = browser.open_page(chromium, f"{address}/{name}")
    page.locator(PICTURES).first.wait_for()
    tops = page.evaluate(
        f"() => {{ {EVERYWHERE} return deep(document, {PICTURES!r}).map((e) => e.getBoundingClientRect().top) }}"
    )
    assert min(top for top in tops if top > 0) <= 250
    for arrow in ("previous", "next"):
        assert page.locator(f".st-key-step-{arrow}-page").bounding_box()["y"] < 60
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 1280
    page.close()


def test_a_projector_has_large_letters_in_every_figure_and_a_way_back(address: str, chromium: Any) -> None:
    for name in ("", "attention_viewer", "surface_patterns", "clustering"):
        page = browser.open_page(chromium, f"{address}/{name}?projector=true")
        page.locator(PICTURES).first.wait_for()
        page.wait_for_timeout(500)
        sizes = page.evaluate(
            f"() => {{ {EVERYWHERE} return deep(document, '.map text, .lines li, .js-plotly-plot text').filter("
            "(e) => e.textContent.trim()).map((e) => [parseFloat(getComputedStyle(e).fontSize), e.textContent]) }"
        )
        assert sizes and [size for size in sizes if size[0] < 16] == []
        assert not page.locator("[data-testid=stSidebar]").is_visible()
        page.close()
    page = browser.open_page(chromium, f"{address}/entropy?projector=true")
    page.get_by_role("button", name="Close projector").click()
    page.locator("[data-testid=stSidebar]").wait_for(state="visible")
    page.wait_for_function("!location.search.includes('projector=true')", timeout=10_000)
    assert page.problems == []
    page.close()


def test_the_theme_is_switched_on_the_page_and_kept_on_the_others(address: str, chromium: Any) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page = context.new_page()
    background = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    page.goto(f"{address}/tour")
    page.get_by_role("button", name="Dark theme").click()
    page.wait_for_function(f"{background} === 'rgb(20, 22, 28)'", timeout=30_000)
    page.goto(f"{address}/")
    page.wait_for_selector("h1")
    page.wait_for_function(f"{background} === 'rgb(20, 22, 28)'", timeout=30_000)
    page.get_by_role("button", name="Light theme").click()
    page.wait_for_function(f"{background} === 'rgb(255, 255, 255)'", timeout=30_000)
    context.close()


def test_a_phone_has_neither_cut_legends_nor_a_page_wider_than_itself(address: str, chromium: Any) -> None:
    page = browser.open_page(chromium, f"{address}/surface_patterns", width=390)
    page.locator(".point").first.wait_for()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    for legend in page.locator("[data-testid=stPlotlyChart] .legend").all():
        box = legend.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    page.close()
