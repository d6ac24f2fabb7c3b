"""The tour as slides in a real browser: the arrow keys, the answer on request, and everything in sight."""

from typing import Any

import pytest

from bertviz_core.tour import STEPS
from tests.support import chromium as browser

pytestmark = pytest.mark.browser

LAPTOP = {"width": 1280, "height": 720}


def at(page: Any, title: str) -> None:
    page.locator("h2").get_by_text(title, exact=True).wait_for()
    browser.settle(page)


def test_arrow_keys_turn_the_pages_and_a_shows_the_answer(open_page: Any) -> None:
    page = open_page("tour")
    page.get_by_role("button", name="Next Shortcut").wait_for()  # its code may come after the title's
    for step in STEPS[:3]:
        page.keyboard.press("ArrowRight")
        at(page, step.title)
    chosen = page.locator(".st-key-head input").input_value()
    page.keyboard.press("a")
    page.get_by_text("of its attention on the previous token").first.wait_for()
    browser.settle(page)
    assert "answer=shown" in page.url and page.locator(".st-key-head input").input_value() != chosen
    page.keyboard.press("ArrowLeft")
    at(page, STEPS[1].title)
    assert "answer" not in page.url and page.get_by_role("button", name="Show answer").is_visible()
    assert page.locator(".slides button:not([tabindex='-1'])").count() == 1  # the numbers are one stop of the Tab key
    page.get_by_role("button", name="5", exact=True).click()
    at(page, STEPS[4].title)
    page.keyboard.press("ArrowRight")  # from the number that has the focus
    at(page, STEPS[5].title)
    page.locator(".point[tabindex='0']").first.focus()
    page.keyboard.press("ArrowDown")  # in a map the arrows are its own
    page.keyboard.press("ArrowRight")
    browser.settle(page)
    assert "step=6" in page.url


def test_question_and_figure_of_every_slide_fit_a_laptop(open_page: Any) -> None:
    page = open_page("tour")
    page.set_viewport_size(LAPTOP)
    page.get_by_role("button", name="Next Shortcut").wait_for()
    for number in range(len(STEPS) + 3):
        if number:
            page.keyboard.press("ArrowRight")
            browser.wait_for_address(page, f"step={number}")
        visible = f"{browser.PICTURES}, .st-key-show-answer"
        bottoms = browser.everywhere(page, visible, "e.getBoundingClientRect().bottom")
        assert number == len(STEPS) + 1 or (bottoms and max(bottoms) <= LAPTOP["height"]), number
        width = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
        assert width <= LAPTOP["width"], number
