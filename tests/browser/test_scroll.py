"""Whoever looks at a sentence in the viewer finds the page where it was left."""

from typing import Any

import pytest

from tests.support import chromium as browser

pytestmark = pytest.mark.browser
LEFT = 400  # pixels; the last sentence stays in sight
SCROLLED = "() => document.querySelector('[data-testid=stMain]').scrollTop"


def height(page: Any) -> int:
    return int(page.evaluate(SCROLLED))


def wait_for_height(page: Any, expected: int) -> None:
    browser.wait_until(page, f"Math.abs(({SCROLLED})() - {expected}) < 3")


def open_sentence(page: Any) -> None:
    """Scroll to the last sentence and open it in the viewer."""
    link = page.locator(".drawings a", has_text="Open in the attention viewer").last
    link.hover()
    page.mouse.wheel(0, LEFT)
    wait_for_height(page, LEFT)
    link.click()
    browser.wait_for_page(page, "Attention viewer")


def test_back_from_the_viewer_leads_to_the_same_place_on_the_page(open_page: Any) -> None:
    page = open_page("dependency_heads")
    open_sentence(page)
    page.get_by_role("link", name="Back to Dependency heads").click()
    browser.wait_for_page(page, "Dependency heads")
    wait_for_height(page, LEFT)
    page.mouse.wheel(0, -200)  # the reader goes on from there
    page.wait_for_timeout(1500)
    assert height(page) < LEFT


def test_the_browsers_back_does_so_too_and_the_menu_leads_to_the_top(open_page: Any) -> None:
    page = open_page("dependency_heads")
    open_sentence(page)
    page.go_back()
    browser.wait_for_page(page, "Dependency heads")
    wait_for_height(page, LEFT)
    for name in ("Entropy", "Dependency heads"):
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        browser.wait_for_page(page, name)
    page.wait_for_timeout(1500)
    assert height(page) == 0
