"""How long a reader waits who walks through the pages: from a click in the menu until all of the next page is drawn.

A server with an empty store, a browser with an empty cache; the first page is opened, and `--idle` seconds later every
page of the menu is clicked, twice around. Seconds, the first time and the second.

    python -m benchmarks.page_turns
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.support import chromium as browser

MENU = "[data-testid=stSidebar] nav.menu a"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle", type=float, default=8.0, help="Seconds between the first page and the first click.")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.served(Path(folder) / "store") as address,
        browser.browser() as chromium,
    ):
        page = browser.open_page(chromium, address)
        time.sleep(options.idle)
        count = page.locator(MENU).count()
        rounds = [[turn(page, number % count) for number in range(1, count + 1)] for _ in range(2)]
    for (title, first), (_, second) in zip(*rounds, strict=True):
        print(f"{title:20}{first:6.2f}{second:6.2f}")


def turn(page: Any, number: int) -> tuple[str, float]:
    """Click an entry of the menu; the title of its page, and the seconds until all of it is drawn."""
    before = page.locator("h1").first.inner_text()
    start = time.perf_counter()
    page.locator(MENU).nth(number).click()
    page.wait_for_function("before => document.querySelector('h1')?.innerText !== before", arg=before)
    browser.settle(page)
    seconds = time.perf_counter() - start
    return page.locator("h1").first.inner_text(), seconds


if __name__ == "__main__":
    main()
