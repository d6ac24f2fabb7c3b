"""Emergence in a real browser: the slider, the lines of the figure, the map of a step, and the address."""

from typing import Any

import numpy as np

from bertviz_core.emergence.series import shipped
from tests.browser import chromium as browser


def counts(page: Any) -> list[int]:
    """The numbers of heads in the map's legend, which has the behaviors of other steps too."""
    names = [entry.get_attribute("aria-label") for entry in page.locator(".entry").all()]
    return sorted(filter(None, (int(name.rpartition("(")[2].strip(")")) for name in names)))


def test_the_slider_moves_map_and_address_and_a_click_chooses_a_head(open_page: Any) -> None:
    result = shipped()
    page = open_page("emergence?head=2-3")
    marks = page.locator("[data-testid=stPlotlyChart]").first.locator(".shapelayer path")
    before = marks.last.get_attribute("d")
    page.get_by_role("slider").first.focus()
    page.keyboard.press("Home")
    first = f"{result.steps[0]:,}"
    page.get_by_test_id("stMetricValue").get_by_text(first, exact=True).wait_for()
    browser.wait_for_address(page, f"at_step={result.steps[0]}")
    assert marks.last.get_attribute("d") != before
    counted = dict(zip(*np.unique(result.behaviors()[0], return_counts=True), strict=True))
    assert counts(page) == sorted(counted.values())
    page.locator(".point[data-head='1-4']").click()
    page.wait_for_function("!location.search.includes('head=2-3')", timeout=10_000)
    browser.settle(page)
    assert f"at_step={result.steps[0]}" in page.url and "head=" in page.url
    head = page.url.partition("head=")[2].partition("&")[0]
    assert page.get_by_text(f"Head {head} over the training").is_visible()
    assert browser.fits(page)
