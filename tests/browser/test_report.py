"""The report as a reader gets it: from the button on the overview, on the screen and as a PDF."""

from pathlib import Path
from typing import Any

from tests.browser import chromium as browser


def test_the_button_gives_a_page_that_needs_no_network_and_prints(address: str, chromium: Any, tmp_path: Path) -> None:
    page = browser.open_page(chromium, address)
    with page.expect_download(timeout=120_000) as waiting:
        page.locator("summary").filter(has_text="Report").click()
        page.get_by_role("button", name="Report").click()
    assert waiting.value.suggested_filename == "report-demo.html"
    waiting.value.save_as(tmp_path / "report.html")
    page.close()
    report = chromium.new_page(viewport={"width": 800, "height": 900})
    asked: list[str] = []
    report.on("request", lambda request: asked.append(request.url))
    report.goto((tmp_path / "report.html").as_uri())
    assert report.locator("h1").inner_text() == "What does demo look at?"
    assert report.locator(".main-svg").count() >= 10 and len(asked) == 1
    assert report.evaluate("document.documentElement.scrollWidth <= innerWidth")
    pdf = report.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF") and 10 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 60
    report.close()
