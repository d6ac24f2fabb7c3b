"""One server and one Chromium for all browser tests; a test whose server has to be fresh starts its own."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support import chromium as browser


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    """Headless Chromium; without it the test is skipped."""
    if browser.CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with browser.browser() as launched:
        yield launched


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a server whose store is empty at first."""
    with browser.served(tmp_path_factory.mktemp("browser") / "store") as url:
        yield url


@pytest.fixture
def open_page(address: str, chromium: Any) -> Iterator[Callable[..., Any]]:
    """open_page("entropy?head=2-3"): a page of the app, closed after the test, in which nothing went wrong."""
    pages: list[Any] = []

    def opened(path: str = "", **options: Any) -> Any:
        pages.append(browser.open_page(chromium, f"{address}/{path}", **options))
        return pages[-1]

    yield opened
    problems = [problem for page in pages for problem in page.problems]
    for page in pages:
        page.close()
    assert problems == []
