"""Two drawings of one sentence in the attention viewer: a pin on one side is on the other too."""

from __future__ import annotations

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
