"""Owner and guest in real browsers: the cookie outlives a reload and is shared by tabs, and a link is no ownership."""

from __future__ import annotations

from typing import Any

from tests.browser import chromium as browser

FILE = {"name": "private.txt", "mimeType": "text/plain", "buffer": b"The cat sat.\nIt was warm.\n"}


def open_in(context: Any, address: str) -> Any:
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("h1", timeout=60_000)
    browser.settle_but_skeletons(page)
    return page


def delete_buttons(page: Any) -> int:
    page.get_by_text("Your own text").click()
    page.get_by_text("“private.txt”").wait_for(timeout=30_000)
    count = page.get_by_role("button", name="Delete now").count()
    page.keyboard.press("Escape")
    return count


def test_the_owner_is_known_after_a_reload_and_a_guest_never_is(address: str, chromium: Any) -> None:
    owners, guests = chromium.new_context(), chromium.new_context()
    page = open_in(owners, f"{address}/entropy")
    page.get_by_text("Your own text").click()
    page.set_input_files("[class*=st-key-uploader] input[type=file]", FILE)
    page.locator("[data-testid=stMain]").get_by_text("demo on private.txt").wait_for(timeout=60_000)
    browser.settle_but_skeletons(page)
    link = page.url
    assert "corpus=upload-" in link and "bertviz_reader" not in page.evaluate("document.cookie")
    assert delete_buttons(open_in(owners, link)) == 1  # a second tab, which is a new session
    assert delete_buttons(open_in(guests, link)) == 0
    page.reload()
    page.wait_for_selector("h1", timeout=60_000)
    browser.settle_but_skeletons(page)
    page.get_by_text("Your own text").click()
    page.get_by_role("button", name="Delete now").click()
    browser.settle_but_skeletons(page)
    late = open_in(guests, link)
    late.get_by_text("The link cannot be restored").wait_for(timeout=30_000)
    owners.close()
    guests.close()
