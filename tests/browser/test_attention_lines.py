"""The attention viewer in a real browser: the drawing itself, by mouse and by keyboard alone, and its address."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest

from bertviz_core.heads import Head
from bertviz_core.plotting import OVERLAY
from tests.support import chromium as browser
from tests.support.shipped import clearest

pytestmark = pytest.mark.browser

expect = pytest.importorskip("playwright.sync_api").expect
HOSTILE = '<img/src=x/onerror=document.title="hacked"> **bold** $x$ \u202eabc\u202c &amp; </script> =1+1 ' + "y" * 600
PATHS = """paths => paths.map(path => [
    getComputedStyle(path).stroke.match(/\\d+/g).map(Number), path.getAttribute("d").split("M").length - 1
])"""


@pytest.fixture
def viewer(open_page: Any) -> Any:
    """viewer(head="2-3"): the attention viewer, once its picture or its table is there."""

    def opened(**parameters: Any) -> Any:
        page = open_page(f"attention_viewer?{urlencode(parameters)}")
        page.wait_for_selector("li[role=option], [data-testid=stTable], .heatmaplayer", timeout=60_000)
        browser.settle(page)
        return page

    return opened


def token(page: Any, side: str, number: int) -> Any:
    """The row of a token, from 1."""
    return page.locator(f"ul.column.{side} li").nth(number - 1)


def labels(page: Any, side: str = "from") -> list[str]:
    return page.locator(f"ul.column.{side} li").all_inner_texts()


def drawn(page: Any) -> tuple[int, int, float]:
    """How many lines are red, how many there are at all, and how bright they are, 0 black to 255 white."""
    paths = page.locator(".stage .drawing path").evaluate_all(PATHS)
    red = sum(count for (red, _, blue), count in paths if red > blue + 60)
    return red, sum(count for _, count in paths), sum(color[0] for color, _ in paths) / len(paths)


def test_hover_isolates_one_token_and_the_keyboard_alone_does_it_all(viewer: Any, planted_folder: Path) -> None:
    page = viewer(model=planted_folder, head="1-1", least="0.1")
    before = drawn(page)[1]
    token(page, "from", 5).hover()
    alone = drawn(page)[1]
    assert 0 < alone < before / 5
    assert page.locator(".status").inner_text().startswith("keys → her ")
    weights = [float(li.evaluate("e => e.style.getPropertyValue('--weight')")) for li in page.locator("ul.to li").all()]
    assert weights.index(max(weights)) == 3
    number = "e => [e.dataset.weight, getComputedStyle(e, '::after').content]"
    value, shown = token(page, "to", 4).evaluate(number)
    assert shown == f'"{value}"' and float(value) == pytest.approx(max(weights), abs=0.006)
    page.mouse.move(5, 5)
    page.wait_for_timeout(100)
    assert drawn(page)[1] == before
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.shadowRoot?.activeElement?.getAttribute('role') === 'option'"):
            break
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert page.locator(".status").inner_text().startswith("keys → her")
    page.keyboard.press("Enter")
    browser.wait_for_address(page, "pin=from5")
    page.keyboard.press("ArrowRight")
    assert page.locator(".status").inner_text().startswith("keys ← in")
    page.keyboard.press("m")
    browser.wait_for_address(page, "mask=5")
    assert page.locator(".status").inner_text().startswith("[MASK] ← in")  # the focus is where it was
    page.keyboard.press("Escape")
    browser.wait_until(page, "!location.search.includes('pin=')")


def test_heads_overlaid_have_colors_and_squares_and_are_in_the_address(viewer: Any) -> None:
    page = viewer(head="1-3", overlay="2-1,3-5")
    assert page.locator(".legend span").all_inner_texts() == ["Head 1-3", "Head 2-1", "Head 3-5"]
    token(page, "from", 5).hover()
    squares = page.locator("ul.to li").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('.square')].map(s => +s.style.opacity))"
    )
    assert [sum(column) for column in zip(*squares, strict=True)] == pytest.approx([1, 1, 1], abs=0.01)
    assert all(f"{head}: " in page.locator(".status").inner_text() for head in ("1-3", "2-1", "3-5"))
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    saved = Path(download.value.path()).read_text()
    assert all(f'stroke="{color}"' in saved for color in OVERLAY[:3])


def test_the_readout_of_a_long_text_stays_in_sight(viewer: Any) -> None:
    page = viewer(input="own text", text="cat " * 90, last=92)
    token(page, "from", 85).hover()
    assert token(page, "from", 85).bounding_box()["y"] > 100
    assert 0 <= page.locator(".status").bounding_box()["y"] < 60


def test_a_long_text_is_walked_through_by_windows_and_by_its_words(viewer: Any) -> None:
    page = viewer(input="own text")
    text = page.get_by_role("textbox", name="Segment A")
    text.fill("The sailor saw the gate. " * 84 + "The captain slept.")
    text.press("Enter")
    browser.wait_for_address(page, "text=The+sailor")
    page.locator("li.beyond").first.wait_for()
    expect(page.locator("ul.column.from li")).to_have_count(41)
    page.get_by_role("button", name="Next window").click()
    browser.wait_for_address(page, "first=41")
    expect(page.locator("ul.column.from li")).to_have_count(42)
    words = page.get_by_role("textbox", name="Find words")
    words.fill("captain slept")
    words.press("Enter")
    page.locator("li.found").first.wait_for()
    assert labels(page)[-5:] == ["the", "captain", "slept", ".", "[SEP]"]
    assert page.get_by_text("1 found, 1 here").is_visible()
    found = page.locator("ul.column.from li.found")
    found.click()
    browser.wait_for_address(page, "pin=from507")
    page.get_by_role("button", name="Previous window").click()
    expect(page.locator("ul.column.from li[aria-selected=true]")).to_have_text("captain")


def test_a_click_pins_in_red_masks_by_button_and_the_theme_redraws(viewer: Any) -> None:
    page = viewer(head=clearest("previous"))
    assert drawn(page)[0] == 0 and drawn(page)[2] < 100
    token(page, "from", 5).click()
    page.get_by_role("button", name="Mask “keys”").click()
    browser.wait_for_address(page, "mask=5")
    assert labels(page)[4] == "[MASK]" and page.get_by_text("Masking shifted").is_visible()
    page.get_by_text("Before masking").click()
    browser.wait_for_address(page, "before=")
    assert labels(page)[4] == "keys"
    page.get_by_role("button", name="Unmask all").click()
    browser.wait_until(page, "!location.search.includes('mask=')")
    browser.settle(page)
    token(page, "to", 2).click()
    browser.wait_for_address(page, "to2")
    page.mouse.move(5, 5)
    assert "from5" in page.url and drawn(page)[0] >= 2
    for side, number in (("from", 5), ("to", 2)):
        assert token(page, side, number).get_attribute("aria-selected") == "true"
    token(page, "from", 5).click()
    page.get_by_role("button", name="Clear pins").click()
    browser.wait_until(page, "!location.search.includes('pin')")
    browser.settle(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(1500)
    assert drawn(page)[2] > 150


def test_an_address_restores_the_whole_view(viewer: Any) -> None:
    parameters = {
        "head": "2-5",
        "input": "own text",
        "text": "The cat saw the dog.",
        "second": "It ran away.",
        "units": "words",
        "sides": "B to A",
        "hide": "true",
        "least": "0.05",
        "mask": "3",
        "pin": "to4",
    }
    page = viewer(**parameters)
    assert labels(page) == ["it", "ran", "away", "."]
    assert labels(page, "to") == ["the", "[MASK]", "saw", "the", "dog", "."]
    assert token(page, "to", 3).get_attribute("aria-selected") == "true"
    assert page.get_by_text("Head 2-5").first.is_visible()
    page.get_by_role("button", name="Options").click()
    assert page.locator("[data-testid=stSliderThumbValue]").inner_text() == "0.05"


@pytest.mark.parametrize("shape", ["lines", "heatmap", "table"])
def test_hostile_text_stays_text(viewer: Any, shape: str) -> None:
    page = viewer(input="own text", text=HOSTILE, given="true", units="words", mask="3", **{"as": shape})
    if shape == "lines":
        assert "[MASK]" in labels(page)[1]
        assert labels(page)[2:4] == ["**bold**", "$x$"]
        assert labels(page)[-2] == "y" * 199 + "…"
        page.get_by_text("Before masking").click()
        browser.wait_for_address(page, "before=")
        assert labels(page)[1].startswith("<img/src=x")
    assert page.title() != "hacked"
    assert page.locator("[data-testid=stMain] img[src=x]").count() == 0
    assert browser.fits(page)


def test_a_sentence_of_the_treebank_opens_with_its_words(open_page: Any) -> None:
    page = open_page("dependency_heads?head=2-3&relation=det")
    page.get_by_role("spinbutton", name="Page of").fill("2")
    page.keyboard.press("Enter")
    browser.settle(page)
    figure = page.locator("figure").first
    title, bold = figure.locator("figcaption").inner_text(), figure.locator("svg text[font-weight='700']")
    dependents = set(bold.all_text_contents())
    page.locator("figcaption").get_by_text("Open in the attention viewer").first.click()
    page.wait_for_selector("li[role=option]", timeout=60_000)
    browser.settle(page)
    assert labels(page)[1:-1] == page.get_by_label("Segment A").input_value().split()
    assert "head=2-3" in page.url
    pinned = page.locator("li[aria-selected=true]").all_inner_texts()
    assert pinned and set(pinned) == dependents
    page.get_by_text("Back to Dependency heads").click()
    browser.wait_for_page(page, "Dependency heads")
    assert "relation=det" in page.url and page.locator("figcaption").first.inner_text() == title


def test_files_are_made_in_the_browser(viewer: Any, tmp_path: Path) -> None:
    import pandas as pd
    from safetensors.numpy import load_file

    label = clearest("previous")
    page = viewer(head=label, input="own text", text=HOSTILE, given="true", units="words", pin="from2")
    for kind in ("SVG", "PNG", "CSV", "safetensors"):
        with page.expect_download() as download:
            page.get_by_role("button", name=kind, exact=True).click()
        download.value.save_as(tmp_path / kind)
        name = download.value.suggested_filename
        assert re.fullmatch(rf"attention-demo-{label}(-[0-9a-f]+)?\.{kind.lower()}", name)
    svg = ElementTree.parse(tmp_path / "SVG").getroot()
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text.startswith("<img/src=x") for text in texts)
    assert any(line.get("stroke") == "#e03131" for line in svg.iter("{http://www.w3.org/2000/svg}path"))
    assert (tmp_path / "PNG").read_bytes()[:4] == b"\x89PNG"
    table, maps = pd.read_csv(tmp_path / "CSV"), load_file(tmp_path / "safetensors")["attention"]
    assert maps.shape[:2] == (6, 12)
    assert table["weight"].to_numpy() == pytest.approx(maps[Head.parse(label)].reshape(-1), abs=1e-6)


def test_a_pin_on_either_side_marks_the_other(viewer: Any) -> None:
    page = viewer(head="1-5", beside="two heads", head2="2-8")
    columns = [page.locator("ul.column.from").nth(i) for i in range(2)]
    marked = "li[aria-selected=true]"
    for side, number, count in ((0, 2, 1), (1, 4, 2), (0, 2, 1)):
        columns[side].locator("li").nth(number).click()
        for column in columns:
            expect(column.locator(marked)).to_have_count(count, timeout=30_000)
        assert columns[0].locator(marked).all_inner_texts() == columns[1].locator(marked).all_inner_texts()
    browser.wait_for_address(page, "pin=from5")


def test_what_stands_side_by_side_outlasts_the_first_opening_of_its_popover(viewer: Any) -> None:
    """A browser makes the widgets of a popover when it is opened; those of a link must not fall back by that."""
    page = viewer(head="1-5", beside="weights and norms")
    columns = page.locator("ul.column.from")
    columns.nth(0).locator("li").nth(2).click()  # another run, before the popover is opened
    expect(page.locator("ul.column.from li[aria-selected=true]")).to_have_count(2, timeout=30_000)
    browser.settle(page)
    page.get_by_role("button", name="Compare").last.click()
    page.locator("[data-testid=stPopoverBody]").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Options").click()
    page.get_by_text("Hide special tokens").click()
    page.wait_for_url("**hide=true**")
    browser.settle(page)
    expect(columns).to_have_count(2)
    assert "beside=weights" in page.url
