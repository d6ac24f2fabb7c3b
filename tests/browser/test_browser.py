"""The app in a real browser: deep links, clicks on figures, the address, both themes, no call to the outside."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support import chromium as browser
from tests.support.running import run

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("path", "title", "left"),
    [
        ("overview/?head=2-3&mode=paper", "Overview", "/?head=2-3&mode=paper"),
        ("entropy/?head=2-3", "Entropy", "/entropy?head=2-3"),
    ],
)
def test_an_address_as_it_is_typed_opens_its_page(
    open_page: Any, address: str, path: str, title: str, left: str
) -> None:
    page = open_page(path)
    assert page.locator("h1").inner_text() == title
    assert page.url.removeprefix(address).startswith(left)
    assert page.get_by_role("dialog").count() == 0


def test_clicks_in_every_figure_of_clustering_choose_a_head(open_page: Any) -> None:
    page = open_page("clustering?head=3-5")
    for chart, point in ((0, 0), (1, 2), (2, 20)):  # three different heads
        before = page.url
        figure = page.locator("[data-testid=stPlotlyChart]").nth(chart)
        dot = figure.locator(".scatterlayer .points path").nth(point)
        dot.scroll_into_view_if_needed()
        box = dot.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        browser.wait_until(page, "before => location.href !== before", before)
        browser.settle(page)
        assert "head=3-5" not in page.url
    assert browser.fits(page)


def test_the_head_stays_when_heads_are_counted_from_0(open_page: Any) -> None:
    page = open_page("entropy?head=2-3")
    page.locator(".st-key-context button").first.click()
    page.get_by_text("Settings", exact=True).click()
    browser.settle(page)
    page.get_by_text("Count heads from 0").click()
    page.wait_for_url("**zero=true")
    page.keyboard.press("Escape")  # the page runs again, as the popover is closed
    page.get_by_text("Count heads from 0").wait_for(state="detached")
    browser.settle(page)
    page.locator(".st-key-step-next button").click()
    page.wait_for_url("**head=2-4&zero=true")


def test_downloads_are_those_of_the_command_line_and_the_camera_saves_a_vector_figure(
    open_page: Any, tmp_path: Path
) -> None:
    page = open_page("surface_patterns")
    with page.expect_download() as download:
        page.locator("[data-testid=stDownloadButton]").first.get_by_role("button").click()
    download.value.save_as(tmp_path / "page.csv")
    figure = page.locator("[data-testid=stPlotlyChart]").first
    figure.hover()
    with page.expect_download() as download:
        figure.locator(".modebar-btn").first.click()
    download.value.save_as(tmp_path / "figure.svg")
    saved = (tmp_path / "figure.svg").read_text()
    assert saved.startswith("<svg") and "after Clark et al. 2019" in " ".join(re.sub("<[^>]*>", " ", saved).split())
    store, out = tmp_path / "store", tmp_path / "line.csv"
    assert run("surface-patterns", "encyclopedia", "--quiet", "--out", out, store=store).returncode == 0
    assert (tmp_path / "page.csv").read_bytes() == out.read_bytes()


def test_the_button_gives_a_report_that_needs_no_network_and_prints(
    open_page: Any, chromium: Any, tmp_path: Path
) -> None:
    page = open_page()
    with page.expect_download(timeout=120_000) as waiting:
        page.locator("summary").filter(has_text="Report").click()
        page.get_by_role("button", name="Report").click()
    assert waiting.value.suggested_filename == "report-demo.html"
    waiting.value.save_as(tmp_path / "report.html")
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


@pytest.mark.timeout(500)
def test_a_deep_link_on_a_fresh_server_opens_an_installed_analysis_whose_choice_is_a_slider_a_link_and_in_its_files(
    chromium: Any, tmp_path: Path, example_path: str
) -> None:
    with browser.served(tmp_path / "store", python_path=example_path) as address:
        page = browser.open_page(chromium, f"{address}/repeated_token?head=2-3&limit=3&over=0.3")
        assert page.locator("h1").inner_text() == "Repeated token"
        assert page.get_by_text("Page not found").count() == 0
        page.locator("[data-testid=stSidebar]").get_by_text("Installed analyses").wait_for()
        analyze, result = page.get_by_role("button", name="Analyze"), "More than 30% to earlier occurrences"
        analyze.click(timeout=60_000)
        page.wait_for_timeout(5_000)
        if analyze.is_visible() and analyze.is_enabled():  # the page was drawn again between press and release
            analyze.click()
        page.get_by_text(result).wait_for(timeout=240_000)  # The job runs at the lowest priority.
        page.get_by_text("uniform attention:").first.wait_for()  # the baseline of its figure
        slider = page.get_by_role("slider", name="Name heads above")
        slider.focus()
        slider.press("ArrowRight")
        page.get_by_text("More than 35% to earlier occurrences").wait_for()
        page.wait_for_url("**over=0.35*")
        with page.expect_download() as saved:
            page.get_by_role("button", name="JSON").click()
        chosen = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))["chosen"]
        assert chosen["over"] == 0.35 and "More than 35%" in chosen["notes"][-1]
        page.close()
