"""The page of an installed analysis in a real browser, opened at a deep link on a fresh server."""

from pathlib import Path
from typing import Any

from tests.browser import chromium as browser
from tests.shipped import COUNT


def test_a_deep_link_an_analysis_and_a_click_on_its_map(chromium: Any, tmp_path: Path, example_path: str) -> None:
    with browser.served(tmp_path / "store", python_path=example_path) as address:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{address}/repeated_token?head=2-3&limit=3")
        page.get_by_role("button", name="Analyze (about").click(timeout=60_000)
        page.get_by_text("Head map").wait_for(timeout=120_000)
        browser.settle(page)
        assert page.locator("h1").inner_text() == "Repeated token"
        assert page.get_by_text("Page not found").count() == 0
        assert page.locator("[data-testid=stSidebar]").get_by_text("Installed analyses").is_visible()
        page.locator(".point[data-head='2-4']").click()
        assert page.locator(".point").count() == COUNT
        browser.wait_for_address(page, "head=2-4")
        page.close()
