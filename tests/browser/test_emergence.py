"""Emergence in a real browser: the slider, the lines of the figure, the map of a step, and the address."""

from typing import Any

import numpy as np

from bertviz_core.emergence.series import shipped
from tests.app.test_emergence import behavior_groups
from tests.browser import chromium as browser


def test_the_slider_moves_map_and_address_and_a_click_chooses_a_head(address: str, chromium: Any) -> None:
    result = shipped()
    page = browser.open_page(chromium, f"{address}/emergence?head=2-3")
    marks = page.locator("[data-testid=stPlotlyChart]").first.locator(".shapelayer path")
    before = marks.last.get_attribute("d")
    page.get_by_role("slider").first.focus()
    page.keyboard.press("Home")
    first = f"{result.steps[0]:,}"
    page.get_by_test_id("stMetricValue").get_by_text(first, exact=True).wait_for()
    page.wait_for_function(f"location.search.includes('at_step={result.steps[0]}')", timeout=10_000)
    browser.settle(page)
    assert marks.last.get_attribute("d") != before
    counted = dict(zip(*np.unique(result.behaviors()[0], return_counts=True), strict=True))
    drawn = [int(entry.get_attribute("aria-label").split("(")[1].strip(")")) for entry in page.locator(".entry").all()]
    assert sorted(filter(None, drawn)) == sorted(counted.values())  # the legend has the behaviors of other steps too
    page.locator(".point[data-head='1-4']").click()
    page.wait_for_function("!location.search.includes('head=2-3')", timeout=10_000)
    browser.settle(page)
    assert f"at_step={result.steps[0]}" in page.url and "head=" in page.url
    head = page.url.partition("head=")[2].partition("&")[0]
    assert page.get_by_text(f"Head {head} over the training").is_visible()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 1280
    assert page.problems == []
    page.close()


def test_play_moves_the_map_in_the_browser_and_pause_the_slider(address: str, chromium: Any) -> None:
    result = shipped()
    page = browser.open_page(chromium, f"{address}/emergence?at_step={result.steps[-3]}")
    page.get_by_role("button", name="Play").focus()
    page.keyboard.press("Enter")
    page.get_by_text(f"step {result.steps[-2]:,}", exact=True).wait_for()
    counts = [entry.get_attribute("aria-label") for entry in page.locator(".entry").all()]
    groups = behavior_groups(result)
    assert counts == groups[-2] or counts == groups[-1]
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Play").wait_for()
    page.wait_for_function(f"!location.search.includes('at_step={result.steps[-3]}')", timeout=10_000)
    assert page.problems == []
    page.close()
