"""Every page in both themes by axe-core's rules (WCAG 2.2 A and AA among them): nothing serious, nothing critical."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pages.shared.frame import catalogue
from tests.browser import chromium as browser

axe = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browser.served(tmp_path_factory.mktemp("accessible") / "store") as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.browser() as launched:
        yield launched


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [entry.name for entry in catalogue.ENTRIES])
def test_no_rule_of_accessibility_is_broken(address: str, chromium: Any, name: str, scheme: str) -> None:
    page = browser.open_page(chromium, f"{address}/{name}", scheme)
    page.wait_for_timeout(300)
    found = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    broken = [
        (rule["id"], node["html"][:150], node["failureSummary"][:250])
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]
    assert not broken
    assert page.title() not in ("", "What does it look at?")
    page.close()


def test_the_buttons_beside_the_head_have_names(address: str, chromium: Any) -> None:
    page = browser.open_page(chromium, f"{address}/entropy?head=1-2")
    main = page.locator("[data-testid=stMain]")
    main.get_by_role("button", name="Next head", exact=True).click()
    page.wait_for_function("location.search.includes('head=1-3')", timeout=10_000)
    main.get_by_role("button", name="Previous head", exact=True).click()
    page.wait_for_function("location.search.includes('head=1-2')", timeout=10_000)
    assert "Entropy: demo" in page.title()
    page.close()
