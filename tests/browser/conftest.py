"""One server and one Chromium for all browser tests; a test whose server has to be fresh starts its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from bertviz_core.engine.first_opening import remember
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import find_checkpoint
from tests.support import chromium as browser


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    """Headless Chromium; without it the test is skipped."""
    if browser.CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with browser.browser() as launched:
        yield launched


@pytest.fixture(scope="package")
def store_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the server's store, which is empty at first."""
    return tmp_path_factory.mktemp("browser") / "store"


@pytest.fixture(scope="package")
def address(store_folder: Path) -> Iterator[str]:
    """Of the server."""
    with browser.served(store_folder) as url:
        yield url


@pytest.fixture
def open_page(address: str, store_folder: Path, chromium: Any) -> Iterator[Callable[..., Any]]:
    """open_page("entropy?head=2-3"): a page of the app, closed after the test, in which nothing went wrong. A model of
    a folder counts as opened before: what its first opening takes is tested elsewhere."""
    pages: list[Any] = []

    def opened(path: str = "", **options: Any) -> Any:
        for model in parse_qs(urlsplit(path).query).get("model", ()):
            remember(Store(store_folder), find_checkpoint(model))
        pages.append(browser.open_page(chromium, f"{address}/{path}", **options))
        return pages[-1]

    yield opened
    problems = [problem for page in pages for problem in page.problems]
    for page in pages:
        page.close()
    assert problems == []
