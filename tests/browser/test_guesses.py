"""Guesses of a head in a real browser: chosen by clicks, opened in the viewer."""

from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support import chromium as browser

pytestmark = pytest.mark.browser


def test_a_click_on_a_relation_then_a_head_shows_their_sentences_and_the_address_follows(open_page: Any) -> None:
    page = open_page("dependency_heads?head=6-8")
    page.set_viewport_size({"width": 1280, "height": 2600})
    browser.settle(page)
    grid = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    page.mouse.click(grid["x"] + 15, grid["y"] + 37 + 35 * 3 + 17)  # the box before the fourth row
    browser.wait_for_address(page, "relation=")
    assert "head=6-8" not in page.url
    page.locator(".point[data-head='2-3']").click()
    browser.wait_for_address(page, "head=2-3")
    assert page.locator("p", has_text="Head 2-3 in").first.is_visible()
    page.wait_for_selector("figure svg text", timeout=10_000)
    with page.expect_download() as saved:
        page.locator("figure a[download]").first.click()
    assert ElementTree.parse(saved.value.path()).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert browser.fits(page)


def test_a_click_on_a_head_draws_its_guesses_and_the_address_follows(open_page: Any) -> None:
    page = open_page("coreference_heads?head=6-8")
    page.set_viewport_size({"width": 1280, "height": 2600})
    browser.settle(page)
    heading = page.locator("p", has_text="Guesses of head")
    assert heading.inner_text().startswith("Guesses of head 6-8:")
    page.locator(".point[data-head='2-3']").click()
    browser.wait_for_address(page, "head=2-3")
    assert heading.inner_text().startswith("Guesses of head 2-3:")
    page.get_by_role("radio", name="antecedent → mention").or_(
        page.get_by_role("button", name="antecedent → mention")
    ).first.click()
    browser.wait_for_address(page, "direction=antecedent-%3Emention")
    page.get_by_role("tab", name="Method").click()
    page.get_by_text("paper does not measure this direction").wait_for()


def test_a_guess_opens_its_window_in_the_viewer_and_one_press_of_back_returns(open_page: Any) -> None:
    page = open_page("coreference_heads?head=6-8&passage_page=2&guesses=wrong")
    link = page.locator("figure li a").first
    link.wait_for()
    text, before = link.inner_text(), shown(page)
    link.click()
    page.wait_for_selector("li[role=option]", timeout=60_000)
    browser.settle(page)
    pinned = page.locator("li[aria-selected=true]").all_inner_texts()
    assert len(pinned) == 1 and pinned[0] in text
    assert "head=6-8" in page.url and page.get_by_text("Back to Coreference heads").is_visible()
    page.go_back()
    browser.wait_for_page(page, "Coreference heads")
    page.locator("figure li a").first.wait_for()
    assert shown(page) == before


def shown(page: Any) -> tuple[Any, ...]:
    """The address, the claim, the head map, and the passages with their guesses."""
    claim = page.locator("[data-testid=stMarkdown]").filter(has_text="finds an antecedent of").first.inner_text()
    passages = page.locator("figure").all_inner_texts()
    return page.url, claim, page.locator(".map").all_inner_texts(), passages
