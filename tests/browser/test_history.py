"""Back and Forward in a real browser: they restore what was chosen on a page, and lead out of it."""

from typing import Any

import pytest

from tests.support import chromium as browser

pytestmark = pytest.mark.browser


@pytest.fixture
def page(open_page: Any) -> Any:
    return open_page()


def follow(page: Any, name: str, title: str) -> None:
    """Click a link of the menu and wait for its page."""
    page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
    browser.wait_for_page(page, title)


def choose(page: Any, label: str, option: str) -> None:
    """Choose an option of a selectbox by its label."""
    page.get_by_test_id("stSelectbox").filter(has_text=label).get_by_role("combobox").click()
    page.get_by_role("option", name=option).first.click()
    browser.settle(page)


def test_back_and_forward_restore_a_quantity(page: Any) -> None:
    follow(page, "Surface patterns", "Surface patterns")
    choose(page, "Color heads by", "next token")
    page.wait_for_url("**quantity=next*")  # written when the page is drawn
    claim = page.get_by_text("attention on the next token")
    follow(page, "Attention viewer", "Attention viewer")
    page.go_back()
    browser.wait_for_page(page, "Surface patterns")
    assert "quantity=next" in page.url
    claim.first.wait_for()
    page.go_back()  # one entry for the choice
    page.get_by_text("attention on the previous token").first.wait_for()
    page.go_forward()
    claim.first.wait_for()


def test_back_restores_a_step_of_the_tour_and_four_lead_out_of_it(page: Any) -> None:
    follow(page, "Guided tour", "Guided tour")
    for number in (1, 2):
        page.keyboard.press("ArrowRight")
        page.get_by_text(f"Slide {number} of").wait_for()
    page.locator("[data-testid=stMain] [data-testid=stPageLink]").first.click()
    browser.wait_for_page(page, "Attention viewer")
    assert page.get_by_text("Tour, slide 2").is_visible()  # the way back that the page itself has
    page.go_back()
    browser.wait_for_page(page, "Guided tour")
    page.get_by_text("Slide 2 of").wait_for()
    page.go_back()
    page.get_by_text("Slide 1 of").wait_for()
    page.go_back()
    page.get_by_text("Words to begin with").wait_for()
    page.go_back()
    browser.wait_for_page(page, "Overview")


def test_a_head_in_a_sentence_leads_to_its_page_in_this_session(page: Any) -> None:
    follow(page, "Surface patterns", "Surface patterns")
    before = len(page.context.pages)
    link = page.get_by_test_id("stMain").get_by_role("link", name="1-3", exact=True)
    link.click()
    browser.wait_for_page(page, "Head 1-3 · L0H2")
    assert "head=1-3" in page.url and len(page.context.pages) == before
    page.go_back()
    browser.wait_for_page(page, "Surface patterns")


def test_a_link_to_a_page_asks_for_nothing_that_is_not_there(address: str, chromium: Any) -> None:
    page = browser.new_tab(chromium)
    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status == 404 else None)
    page.goto(f"{address}/reach?head=2-3")
    browser.wait_for_page(page, "Reach")
    page.close()
    assert missing == []
