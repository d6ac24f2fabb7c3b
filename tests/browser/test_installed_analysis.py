"""The page of an installed analysis in a real browser, opened at a deep link on a fresh server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import chromium as browser
from tests.examples import package

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium on this machine")


def test_a_deep_link_an_analysis_and_a_click_on_its_map(tmp_path: Path) -> None:
    path = package.python_path(package.install(tmp_path))
    with browser.served(tmp_path / "store", python_path=path) as address, browser.browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{address}/repeated_token?head=2-3&limit=3")
        page.get_by_role("button", name="Analyze (about").click(timeout=60_000)
        page.get_by_text("Head map").wait_for(timeout=120_000)
        browser.settle(page)
        assert page.locator("h1").inner_text() == "Repeated token"
        assert page.get_by_text("Page not found").count() == 0
        assert page.locator("[data-testid=stSidebar]").get_by_text("Installed analyses").is_visible()
        page.locator(".point[data-head='2-4']").click()
        assert page.locator(".point").count() == 48
        page.wait_for_function("location.search.includes('head=2-4')", timeout=10_000)
