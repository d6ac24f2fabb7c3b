"""A slide before a class in a real browser: alone, large, with keys; and the viewer's lines on the whole screen."""

from typing import Any

import pytest

from bertviz_core.tour import STEPS
from tests.support import chromium as browser

pytestmark = pytest.mark.browser

AROUND = "[data-testid=stSidebar], [data-testid=stHeader], .st-key-page-header, .st-key-page-choices"
LARGE = 17.5  # pixels


def press(page: Any, key: str, part: str) -> None:
    page.keyboard.press(key)
    browser.wait_for_address(page, part)


def present(page: Any) -> None:
    page.get_by_role("button", name="Present Shortcut").wait_for()
    press(page, "f", "present=true")
    browser.wait_until(page, "getComputedStyle(document.documentElement).getPropertyValue('--enlarged') > 1")
    browser.settle(page)


def test_a_slide_stands_alone_and_keys_turn_answer_and_note_it(open_page: Any) -> None:
    page = open_page("tour?step=6")
    page.set_viewport_size({"width": 1280, "height": 720})
    present(page)
    assert not any(page.locator(part).first.is_visible() for part in AROUND.split(", "))
    assert not page.get_by_text("Source:").count()
    controls = page.locator(".st-key-tour-navigation")
    assert controls.evaluate("e => getComputedStyle(e).opacity") == "0"
    page.mouse.move(300, 300)
    page.mouse.move(310, 300)
    page.wait_for_timeout(400)
    assert controls.evaluate("e => getComputedStyle(e).opacity") == "1"
    press(page, "a", "answer=shown")
    page.locator("h3").wait_for()
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    speaker = opened.value
    speaker.get_by_text(STEPS[5].notes.strip()[:30]).wait_for()
    assert STEPS[6].question in speaker.inner_text("body") and not page.get_by_text(STEPS[5].notes.strip()[:30]).count()
    speaker.keyboard.press("ArrowRight")
    browser.wait_for_address(page, "step=7")
    page.locator("h2").get_by_text(STEPS[6].title, exact=True).wait_for()
    speaker.get_by_text(STEPS[6].notes.strip()[:30]).wait_for()
    assert "answer" not in page.url and "notes" not in page.url
    speaker.keyboard.press("a")
    browser.wait_for_address(page, "answer=shown")
    press(page, "ArrowLeft", "step=6")
    speaker.get_by_text(STEPS[5].notes.strip()[:30]).wait_for()
    page.keyboard.press("f")
    browser.wait_until(page, "!location.search.includes('present')")
    browser.settle(page)
    page.locator(".st-key-page-header").wait_for()
    browser.wait_until(page, "document.fullscreenElement === null")


def test_a_slide_that_is_left_at_once_leaves_the_full_screen_too(open_page: Any) -> None:
    page = open_page("tour?step=6")
    page.get_by_role("button", name="Present Shortcut").wait_for()
    requests = "window.requests = 0; const ask = Element.prototype.requestFullscreen; "
    requests += "Element.prototype.requestFullscreen = function () { window.requests++; return ask.call(this); }"
    page.evaluate(f"() => {{ {requests} }}")
    press(page, "f", "present=true")
    page.keyboard.press("f")
    browser.wait_until(page, "!location.search.includes('present')")
    browser.settle(page)
    browser.wait_until(page, "document.fullscreenElement === null")
    assert page.evaluate("window.requests") == 1


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)], ids=str)
def test_the_text_of_a_slide_is_large_and_its_figure_is_in_sight(open_page: Any, size: tuple[int, int]) -> None:
    page = open_page("tour?step=4")
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    present(page)
    page.wait_for_selector(".js-plotly-plot .xtick text", timeout=30_000)
    page.wait_for_timeout(500)
    texts = page.locator(".js-plotly-plot .main-svg text").evaluate_all(
        "all => all.filter(e => e.textContent.trim()).map(e => [e.getBoundingClientRect().right, "
        "e.getBoundingClientRect().bottom, parseFloat(getComputedStyle(e).fontSize)])"
    )
    enlarged = min(width / 853, height / 480)
    assert texts and min(text[2] for text in texts) * enlarged >= LARGE
    assert max(text[0] for text in texts) <= width and max(text[1] for text in texts) <= height
    question = page.get_by_text(STEPS[3].question, exact=True)
    assert float(question.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")) * enlarged >= LARGE


def test_on_the_whole_screen_lines_name_head_and_sentence_and_arrows_change_the_head(open_page: Any) -> None:
    page = open_page("attention_viewer?head=2-2&input=own+text&text=A+cat+slept.")
    page.wait_for_selector("li[role=option]", timeout=60_000)
    browser.settle(page)
    letters = "e => parseFloat(getComputedStyle(e).fontSize)"
    assert page.locator(".heading").is_hidden()
    page.get_by_role("button", name="Full screen").click()
    leave = page.get_by_role("button", name="Leave full screen")
    leave.wait_for()
    heading = page.locator(".heading").inner_text().lower()
    assert "head 2-2" in heading and "demo" in heading and "a cat slept" in heading
    assert page.locator("ul.from li").first.evaluate(letters) >= 22
    page.keyboard.press("ArrowRight")
    browser.wait_for_address(page, "head=2-3")
    page.locator(".heading").get_by_text("Head 2-3").wait_for()
    leave.click()
    page.get_by_role("button", name="Full screen").wait_for()
    assert page.locator(".heading").is_hidden()
