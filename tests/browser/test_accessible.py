"""Every page in both themes: axe-core's rules (WCAG 2.2 A and AA among them), the text of its figures,
its width, and its first picture."""

from pathlib import Path
from typing import Any

import pytest

from bertviz_core.models.checkpoint import DEMO_DECODER
from pages.shared.frame import links
from tests.support import chromium as browser
from tests.support.shipped import OF_DECODERS

pytestmark = pytest.mark.browser

FAINT_TEXT = Path(__file__).with_name("faint_text.js").read_text("utf-8")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
MASKED = "attention_viewer?mask=5&off=layer+2"
PRODUCTS = "attention_viewer?as=query+%C3%97+key&head=1-5"
OF_PAGES = [f"{each.name}?model={DEMO_DECODER}" if each.name in OF_DECODERS else each.name for each in links.ENTRIES]
PATHS = (*OF_PAGES, "tour?step=4", MASKED, PRODUCTS)
CHARTS = {"overview": 0, "emergence": 5, "tour?step=4": 1, "surface_patterns": 1, "sep_gradients": 2, "entropy": 1}
HIGHEST = 250  # pixels to the first picture, under the title, its line of choices, the page's own and the claim
STEPPER = ("step-previous", "head", "step-next")
IN_SIGHT = (
    *("overview", "attention_viewer", "compare", "emergence", "surface_patterns", "sep_gradients", "entropy"),
    *("dependency_heads", "coreference_heads", "probes", "clustering", "ablation", MASKED),
)
OWN = "input=own+text&text=He+sat+.&given=true&units=words"
STATES = (
    *("beside=two+heads&head2=2-8&mask=5&off=layer+2", "example=Two+segments&mask=3&before=true", "as=heatmap&mask=5"),
    f"{OWN}&dependents=from1&back=dependency_heads&mask=2",
)


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_accessible_and_fits_a_laptop(open_page: Any, path: str) -> None:
    page = open_page(path)
    if path in IN_SIGHT:
        assert first_picture(page) <= HIGHEST
        for arrow in ("previous", "next"):
            assert page.locator(f".st-key-step-{arrow}").bounding_box()["y"] < 60
    if path in CHARTS:
        assert page.locator("[data-testid=stPlotlyChart]").count() == CHARTS[path]
    for scheme in ("light", "dark"):
        if scheme == "dark":  # it was opened in the light
            browser.switch_theme(page, scheme)
        assert broken_rules(page, scheme) == [], scheme
        assert page.evaluate(FAINT_TEXT) == [], scheme
        assert browser.fits(page)
    if path.partition("?")[0] != "tour":
        before, chosen, after = (page.locator(f".st-key-{key}").bounding_box() for key in STEPPER)
        assert before["x"] + before["width"] <= chosen["x"] and chosen["x"] + chosen["width"] <= after["x"] <= 1240
    assert first_picture(page) < 500
    assert page.title() not in ("", "What does it look at?")


def first_picture(page: Any) -> float:
    """Pixels from the top of the page to its first picture."""
    page.locator(browser.PICTURES).first.wait_for()
    tops = browser.everywhere(page, browser.PICTURES, "e.getBoundingClientRect().top")
    return float(min(top for top in tops if top > 0))


@pytest.mark.parametrize("state", STATES)
def test_the_viewer_has_its_picture_in_sight_in_every_state(open_page: Any, state: str) -> None:
    page = open_page(f"attention_viewer?{state}")
    assert first_picture(page) <= HIGHEST


def broken_rules(page: Any, scheme: str) -> list[tuple[str, str, str]]:
    """The serious and critical violations: rule, element, what to mend; in the dark, of the colors alone."""
    rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
    violations = axe.Axe().run(page, options={"resultTypes": ["violations"], **rules}).response["violations"]
    return [
        (rule["id"], node["html"][:150], node["failureSummary"][:250])
        for rule in violations
        if rule["impact"] in ("serious", "critical") or rule["id"] in ("heading-order", "empty-table-header")
        for node in rule["nodes"]
    ]
