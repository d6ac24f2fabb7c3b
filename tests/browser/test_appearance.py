"""Light and dark, and what is in sight on a laptop: positions and sizes that only a browser knows."""

from typing import Any

import pytest

from tests.support import chromium as browser

pytestmark = pytest.mark.browser


def test_the_theme_is_switched_on_the_page_and_kept_on_the_others(address: str, chromium: Any) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page = context.new_page()
    background = (
        "getComputedStyle(document.querySelector('[data-testid=stApp]') ?? document.documentElement).backgroundColor"
    )
    light, dark = (f"{background} === '{browser.BACKGROUNDS[scheme]}'" for scheme in ("light", "dark"))
    page.goto(f"{address}/tour")
    page.get_by_role("button", name="Dark theme").click()
    browser.wait_until(page, dark)
    page.goto(f"{address}/")
    page.wait_for_selector("h1")
    browser.wait_until(page, dark)
    page.get_by_role("button", name="Light theme").click()
    browser.wait_until(page, light)
    context.close()


def test_a_phone_has_neither_cut_legends_nor_a_page_wider_than_itself(open_page: Any) -> None:
    page = open_page("surface_patterns", width=390)
    page.locator(".point").first.wait_for()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    for legend in page.locator("[data-testid=stPlotlyChart] .legend").all():
        box = legend.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390


@pytest.mark.parametrize("name", ["minimal_pairs", "ablation", "dependency_heads"])
def test_choices_stand_in_one_line(name: str, open_page: Any) -> None:
    page = open_page(name)
    places = [each.bounding_box() for each in page.locator(".st-key-page-controls :is(button, input):visible").all()]
    assert len(places) > 1
    assert max(box["y"] for box in places) - min(box["y"] for box in places) < 40
    labels = page.locator(".st-key-page-controls [data-testid=stWidgetLabel]:visible p").all()
    assert not any(each.evaluate("label => label.scrollWidth > label.clientWidth") for each in labels)


SHIFTS = """
window.shifts = [];  // of each its size, and what moved, from where
const moved = ({ node, previousRect }) => [node?.textContent, previousRect];
const add = (entries) => {
  for (const each of entries.getEntries()) {
    if (!each.hadRecentInput) window.shifts.push([each.value, each.sources.map(moved)]);
  }
};
new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
@pytest.mark.parametrize("name", ["overview", "dependency_heads", "head", "tour"])
def test_nothing_jumps_while_a_page_arrives(name: str, width: int, height: int, address: str, chromium: Any) -> None:
    page = browser.new_tab(chromium, width, height)
    page.add_init_script(SHIFTS)
    page.goto(f"{address}/{name}")
    page.wait_for_selector("h1", timeout=60_000)
    browser.settle(page)
    shifts = page.evaluate("window.shifts")
    assert sum(size for size, _ in shifts) < 0.1, shifts  # "good" by the measure of Core Web Vitals
    page.close()
