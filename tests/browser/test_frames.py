"""The app in a frame of another site, as a Space of a hub shows it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support import chromium as browser

pytestmark = pytest.mark.browser

# What the hub allows its Spaces.
ALLOWED = (
    'sandbox="allow-downloads allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-same-origin '
    'allow-scripts allow-storage-access-by-user-activation" allow="clipboard-read; clipboard-write; fullscreen"'
)


@contextmanager
def site(host: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Another site on this machine, whose every page is a frame; gives its origin, and where its frame's address is."""
    framed = {"src": ""}

    class Framing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(f'<iframe {ALLOWED} width="1240" height="800" src="{framed["src"]}"></iframe>'.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Framing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{host}:{server.server_port}", framed
    finally:
        server.shutdown()
        server.server_close()


def background(frame: Any) -> str:
    """The color of the page in a frame."""
    color: str = frame.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    return color


def test_a_site_that_is_named_shows_the_whole_app_in_a_frame(
    chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site("localhost") as (origin, framed), site("127.0.0.1") as (other, also_framed):
        monkeypatch.setenv("BERTVIZ_FRAME_ANCESTORS", origin)
        monkeypatch.setenv("BERTVIZ_PUBLIC", "1")
        with browser.served(tmp_path / "store") as address:
            framed["src"] = also_framed["src"] = f"{address}/entropy?head=2-3"
            page = browser.new_tab(chromium)
            page.goto(origin)
            frame = page.frames[1]
            frame.get_by_role("button", name="Copy link").wait_for(timeout=60_000)
            browser.settle(frame)
            with page.expect_download() as download:
                frame.get_by_test_id("stDownloadButton").first.get_by_role("button").click()
            assert download.value.suggested_filename == "entropy-demo-encyclopedia.csv"
            frame.get_by_role("link", name="Reach").click()
            browser.wait_for_page(frame, "Reach")
            page.evaluate("history.back()")
            browser.wait_for_page(frame, "Entropy")
            upload_and_copy(page, frame)
            frame.get_by_role("button", name="Dark theme").click()
            frame.get_by_role("button", name="Light theme").wait_for(timeout=30_000)
            assert background(frame) == browser.BACKGROUNDS["dark"]
            assert page.problems == []
            page.goto(other)
            assert page.frames[1].locator("h1", has_text="Entropy").count() == 0
            assert page.frames[1].url.startswith("chrome-error:")
            page.close()


def upload_and_copy(page: Any, frame: Any) -> None:
    """Give a file, which takes a cookie, and copy the link and the frame, which have no file."""
    frame.get_by_role("button", name="change").click()
    text = "The cat sat on the mat. It was warm and dry.\n" * 40
    file = {"name": "mine.txt", "mimeType": "text/plain", "buffer": text.encode()}
    frame.locator("input[type=file]").first.set_input_files(file)
    frame.get_by_text("Read as text: 1 document").wait_for(timeout=30_000)
    for name in ("Copy link", "Embed"):
        frame.get_by_role("button", name=name).click()
        frame.get_by_role("button", name="Copied, without your file").wait_for()
    page.evaluate("document.body.append(document.createElement('textarea'))")
    page.locator("textarea").click()
    page.keyboard.press("Control+V")
    copied = page.locator("textarea").input_value()
    assert copied.startswith(f'<iframe src="{escape(frame.url)}" title="Entropy"') and "upload" not in frame.url
