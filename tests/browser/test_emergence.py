"""Emergence in a real browser: the slider, the lines of the figure, the map of a step, and the address."""

from typing import Any

import pytest

from bertviz_core.emergence import page_blocks
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import shipped
from tests.support import chromium as browser

pytestmark = pytest.mark.browser

TOGETHER = """() => {
  const step = document.querySelector('[data-testid=stMetricValue]').innerText.trim().replaceAll(',', '');
  return document.querySelector('[aria-valuetext]').getAttribute('aria-valuetext') === step;
}"""  # the slider and the first tile have one step


def counts(page: Any) -> list[int]:
    """The numbers of heads in the map's legend, which has the behaviors of other steps too."""
    names = page.locator(".entry").all_text_contents()
    return sorted(filter(None, (int(name.rpartition("(")[2].strip(")")) for name in names)))


def legend(result: Emergence, index: int) -> list[int]:
    """The numbers of heads that the legend has at a step."""
    groups = page_blocks.map_at(result, result.behaviors(), index).groups
    return sorted(len(group.heads) for group in groups if group.name and group.heads)


def test_the_slider_moves_map_and_address_and_a_click_chooses_a_head(open_page: Any) -> None:
    result = shipped()
    page = open_page("emergence?head=2-3")
    marks = page.locator("[data-testid=stPlotlyChart]").nth(1).locator(".shapelayer path")
    before = marks.last.get_attribute("d")
    page.get_by_role("slider").first.focus()
    page.keyboard.press("Home")
    first = f"{result.steps[0]:,}"
    page.get_by_test_id("stMetricValue").get_by_text(first, exact=True).wait_for()
    browser.wait_for_address(page, f"step={result.steps[0]}")
    assert marks.last.get_attribute("d") != before
    assert counts(page) == legend(result, 0)
    page.locator(".point[data-head='1-4']").click()
    browser.wait_until(page, "!location.search.includes('head=2-3')")
    browser.settle(page)
    assert f"step={result.steps[0]}" in page.url and "head=" in page.url
    head = page.url.partition("head=")[2].partition("&")[0]
    assert page.get_by_text(f"Head {head} over the training").is_visible()
    assert browser.fits(page)


def test_play_moves_slider_cursor_tiles_and_map_together_and_pause_the_address(open_page: Any) -> None:
    result = shipped()
    steps = [f"{step:,}" for step in result.steps]
    page = open_page("emergence")
    entries, seen = page.evaluate("history.length"), {}
    tile = page.get_by_test_id("stMetricValue").first
    page.get_by_role("button", name="Play").focus()
    page.keyboard.press("Enter")  # from the last step it begins at the first
    while len(seen) < 3:
        browser.wait_until(page, TOGETHER)
        shown, heads = tile.inner_text(), counts(page)
        cursor = page.locator("[data-testid=stPlotlyChart]").nth(1).locator(".shapelayer path").last.get_attribute("d")
        if tile.inner_text() != shown or shown == steps[-1]:  # it went on meanwhile, or has not begun
            continue
        assert heads == legend(result, steps.index(shown))
        seen[steps.index(shown)] = float(cursor[1:].partition(",")[0])
    assert [*seen] == sorted(seen) and [*seen.values()] == sorted(set(seen.values()))
    assert page.evaluate("history.length") == entries and "step" not in page.url
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Play").wait_for()
    browser.wait_for_address(page, "step=")
