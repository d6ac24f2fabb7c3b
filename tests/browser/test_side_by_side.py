"""Two drawings of one sentence in the attention viewer: a pin on one side is on the other too."""

from typing import Any

import pytest

from tests.browser import chromium as browser
from tests.browser.test_attention_lines import viewer


@pytest.fixture
def address(address: str) -> str:
    """Of the page."""
    return f"{address}/attention_viewer"


def pinned(page: Any) -> list[list[str]]:
    """The pinned tokens of the left column of each drawing."""
    columns = page.locator("ul.column.from")
    return [columns.nth(i).locator("li[aria-selected=true]").all_inner_texts() for i in range(columns.count())]


def test_a_pin_on_either_side_marks_the_other(chromium: Any, address: str) -> None:
    page = viewer(chromium, address, head="1-5", beside="two heads", head2="2-8")
    from playwright.sync_api import expect

    marked = page.locator("ul.column.from li[aria-selected=true]")
    left, right = (page.locator("ul.column.from").nth(i) for i in range(2))
    left.locator("li").nth(2).click()
    expect(marked).to_have_count(2, timeout=30_000)
    assert pinned(page)[0] == pinned(page)[1]
    right.locator("li").nth(4).click()
    expect(marked).to_have_count(4, timeout=30_000)
    assert pinned(page)[0] == pinned(page)[1]
    browser.settle(page)
    assert "pin=from3%2Cfrom5" in page.url
    left.locator("li").nth(2).click()
    expect(marked).to_have_count(2, timeout=30_000)
    assert pinned(page)[0] == pinned(page)[1]
    assert not page.problems


def test_what_stands_side_by_side_outlasts_the_first_opening_of_its_popover(chromium: Any, address: str) -> None:
    """A browser makes the widgets of a popover when it is opened; those of a link must not fall back by that."""
    from playwright.sync_api import expect

    page = viewer(chromium, address, head="1-5", beside="weights and norms")
    columns = page.locator("ul.column.from")
    columns.nth(0).locator("li").nth(2).click()  # another run, before the popover is opened
    expect(page.locator("ul.column.from li[aria-selected=true]")).to_have_count(2, timeout=30_000)
    browser.settle(page)
    page.get_by_role("button", name="Compare").last.click()
    page.locator("[data-testid=stPopoverBody]").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Options").click()
    page.get_by_text("Hide special tokens").click()
    page.wait_for_url("**hide=true**")
    browser.settle(page)
    expect(columns).to_have_count(2)
    assert "beside=weights" in page.url
