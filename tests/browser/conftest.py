"""One server and one Chromium for all browser tests; a test whose server has to be fresh starts its own."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import chromium as browser


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
