"""The map of heads in a real browser: pointing, clicking, the keyboard, and the picture that is saved."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertviz_core.heads import all_heads
from bertviz_core.plotting import DIVERGING
from bertviz_core.plotting.browser import FOLDER
from bertviz_core.plotting.head_map import HeadMap, MarkerGroup, value_map
from tests.support import chromium as browser
from tests.support.shipped import COUNT

pytestmark = pytest.mark.browser

POINT = """cell => {
  const start = performance.now();
  cell.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
  return performance.now() - start;
}"""  # what the handler takes, whatever else the machine does
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def open_map(open_page: Any) -> Any:
    """open_map("entropy"): a page whose map is drawn."""

    def opened(path: str = "") -> Any:
        page = open_page(path)
        page.locator(".point").first.wait_for()
        return page

    return opened


def chosen(map_or_page: Any) -> str:
    return map_or_page.locator(".point[aria-selected=true]").get_attribute("data-head")


def saved(page: Any, folder: Path) -> ET.Element:
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG of the map").first.click()
    download.value.save_as(folder / "map.svg")
    return ET.parse(folder / "map.svg").getroot()


def texts_of(drawing: ET.Element) -> str:
    return " ".join(element.text or "" for element in drawing.iter(f"{SVG}text"))


def point(page: Any, head: str) -> float:
    """Point at a head; milliseconds until its preview is drawn."""
    return page.locator(f".point[data-head='{head}'] .area").first.evaluate(POINT)


def test_a_click_on_a_behavior_chooses_its_head_and_the_map_is_saved_with_its_legend(
    open_map: Any, tmp_path: Path
) -> None:
    page = open_map()
    page.locator(".point[data-head='1-2']").click()
    browser.wait_for_address(page, "head=1-2")
    assert chosen(page) == "1-2"
    assert page.locator(".ring").count() == 1
    assert page.locator(".point:has(path)").count() == page.locator(".point").count() == COUNT
    entries = page.locator(".entry").all_text_contents()
    drawing = saved(page, tmp_path)
    assert len(entries) > 2 and all(entry in texts_of(drawing) for entry in entries)
    assert "after Clark et al. 2019" in texts_of(drawing)
    titles = [element.text for element in drawing.iter(f"{SVG}title")]
    assert len(titles) == COUNT and "rank" in titles[0]


def test_arrows_move_and_enter_chooses_and_the_saved_map_of_values_stays_within_its_frame(
    open_map: Any, tmp_path: Path
) -> None:
    page = open_map("entropy?head=2-3")
    page.locator(".point[tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    tip = page.locator(".tip").inner_text()
    assert tip.startswith("3-4: ") and f" of {COUNT}" in tip
    page.keyboard.press("Enter")
    browser.wait_for_address(page, "head=3-4")
    assert chosen(page) == "3-4"
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    browser.wait_for_address(page, "head=4-4")
    assert page.locator("[role=grid] > [role=row] > [role=gridcell]").count() == COUNT
    drawing = saved(page, tmp_path)
    assert "nats" in texts_of(drawing) and "after Clark et al. 2019" in texts_of(drawing)
    assert len(list(drawing.iter(f"{SVG}stop"))) == 2
    page.set_content((tmp_path / "map.svg").read_text())
    assert page.evaluate(
        "[...document.querySelectorAll('text')].every(t => { const b = t.getBoundingClientRect(),"
        " f = document.querySelector('svg').getBoundingClientRect();"
        " return b.left >= f.left - 1 && b.right <= f.right + 1 && b.bottom <= f.bottom + 1; })"
    )


def test_the_pictures_of_the_viewer_choose_heads_and_are_saved_whole(open_map: Any, tmp_path: Path) -> None:
    page = open_map("attention_viewer")
    pictures = page.locator(".map", has=page.locator("image"))
    point(page, "2-9")
    assert point(page, "2-3") < 100  # ms
    tokens = page.locator("ul.column.from li").all_inner_texts()
    assert pictures.locator(".tip .preview text[text-anchor=end]").all_text_contents() == tokens
    pictures.locator(".point[data-head='4-5']").click()
    browser.wait_for_address(page, "head=4-5")
    assert chosen(pictures) == "4-5"
    assert page.get_by_text(re.compile(r"Head 4-5 (attends most strongly|gives [\d.]+% of its attention)")).is_visible()
    page.locator(".st-key-step-next button").first.click()
    browser.wait_for_address(page, "head=4-6")
    assert chosen(pictures) == "4-6"
    with page.expect_download() as download:
        pictures.locator(".save").click()
    download.value.save_as(tmp_path / "pictures.svg")
    assert "data:image/png;base64" in (tmp_path / "pictures.svg").read_text()


def test_on_dependency_heads_the_preview_is_of_the_first_sentence_drawn_below(open_map: Any) -> None:
    page = open_map("dependency_heads")
    example = page.locator("figcaption", has_text="sentence").first.inner_text().partition(":")[0]
    point(page, "2-9")
    assert point(page, "1-3") < 100  # ms
    assert page.locator(".tip p").inner_text() == f"Guesses in {example}"
    assert page.locator(".tip .preview text").count() > 4


@pytest.mark.parametrize("path", ["entropy", "compare"])
def test_pointing_at_a_head_previews_its_lines_at_once_and_without_a_run_of_the_page(open_map: Any, path: str) -> None:
    page = open_map(path)
    point(page, "2-9")
    assert point(page, "1-3") < 100  # ms
    assert page.locator(".tip .preview line").count() >= 5
    assert page.locator(".tip .preview text").first.text_content() == "[CLS]"
    assert "head=" not in page.url


def test_a_card_beside_the_map_of_the_overview_tells_of_the_head_under_the_pointer(open_map: Any) -> None:
    page = open_map("overview?head=1-3")
    page.locator(".card").wait_for()
    wide = page.locator(".map").first.bounding_box()["width"] / page.locator(".frame").first.bounding_box()["width"]
    assert 0.5 < wide < 0.65
    point(page, "2-9")
    assert (
        page.locator(".card strong").inner_text() == "Head 2-9 · L1H8" and page.locator(".card tbody tr").count() == 2
    )
    assert page.locator(".card .preview line").count() >= 5 and page.locator(".card a").count() == 0
    page.locator("h1").hover()
    page.locator(".map > svg").evaluate("map => map.dispatchEvent(new PointerEvent('pointerleave'))")
    assert page.locator(".card strong").inner_text() == "Head 1-3 · L0H2"
    page.locator(".card a", has_text="Open in the attention viewer").click()
    browser.wait_for_page(page, "Attention viewer")
    assert "head=1-3" in page.url and "input=own+text" in page.url


def test_lines_answer_a_typed_sentence_and_the_viewer_takes_it_over(open_map: Any) -> None:
    page = open_map("overview?head=2-2")
    sentence = page.get_by_role("textbox", name="Sentence")
    sentence.fill("Tom said that he was tired.")
    sentence.press("Enter")
    browser.wait_for_address(page, "sentence=Tom+said")
    page.locator(".card .preview text", has_text="tired").first.wait_for()
    tokens = page.locator(".card .preview text[text-anchor=end]").all_text_contents()
    assert tokens == ["[CLS]", "tom", "said", "that", "he", "was", "tired", ".", "[SEP]"]
    page.locator(".card a", has_text="Open in the attention viewer").click()
    browser.wait_for_page(page, "Attention viewer")
    browser.wait_for_address(page, "text=Tom+said+that+he+was+tired.")


def mounted(chromium: Any, drawn: HeadMap, chosen: str, width: int) -> Any:
    """A page with the map alone, as an app's page loads it."""
    own = json.dumps({"chosen": chosen, "alt": "Map", "origin": "here", "name": "map", "height": None})
    files = [FOLDER / f"{name}.js" for name in ("elements", "head_map_cells", "head_map")]
    script = "".join(file.read_text(encoding="utf-8") for file in files).replace("export default mount;", "")
    page = chromium.new_page()
    page.set_content(f"<div id=map style='width: {width}px; font-size: 12px'></div>")
    page.evaluate(
        f"""sent => {{ {script}
          window.chosen = [];
          const setTriggerValue = (name, head) => window.chosen.push(head);
          const data = new TextEncoder().encode(sent), parentElement = document.getElementById("map");
          mount({{ data, parentElement, setTriggerValue }});
        }}""",
        f"{own}\n{drawn.encoded.decode()}",
    )
    return page


def test_a_head_of_two_roles_has_both_markers_in_its_cell_and_few_heads_of_many_layers_have_high_cells(
    chromium: Any,
) -> None:
    layers, heads = 18, 4
    groups = (
        MarkerGroup("first token (2)", "#e8590c", "circle", "1", ("6-2", "2-1")),
        MarkerGroup("induction (1)", "#c2255c", "hexagon", "I", ("6-2",)),
    )
    hover = tuple(f"{head.label()}: what it does" for head in all_heads(layers, heads))
    page = mounted(chromium, HeadMap(hover, layers, heads, groups=groups), "6-2", 490)
    cell = page.locator(".point[data-head='6-2']")
    area = cell.locator("rect").bounding_box()
    assert area["height"] > 1.4 * area["width"] and page.locator(".point[data-head='2-1'] path").count() == 1
    first, second = (cell.locator("path").nth(index).bounding_box() for index in range(2))
    assert first["y"] + first["height"] <= second["y"] + 1, "one does not hide the other"
    for mark in (first, second):
        assert area["x"] - 1 <= mark["x"] and mark["x"] + mark["width"] <= area["x"] + area["width"] + 1
        assert area["y"] - 1 <= mark["y"] and mark["y"] + mark["height"] <= area["y"] + area["height"] + 1
    assert [each for each in page.locator("svg > text").all_text_contents() if each in ("1", "I")].count("I") == 1
    assert page.locator("svg").first.bounding_box()["width"] <= 490
    page.close()


def test_a_map_of_thousands_of_heads_is_one_picture_for_pointer_and_keyboard(chromium: Any) -> None:
    """80 layers of 64 heads; the component alone, as the page loads it."""
    values = np.linspace(0, 1, 80 * 64).reshape(80, 64)
    page = mounted(chromium, value_map(values, "share", limits=(0, 1), scale=DIVERGING), "3-5", 400)
    assert page.locator("image.cells").count() == page.locator(".point").count() == page.locator(".ring").count() == 1
    assert page.locator("svg *").count() < 200
    assert chosen(page) == "3-5"
    frame = page.locator("image.cells").bounding_box()
    at = (frame["x"] + 40.5 / 80 * frame["width"], frame["y"] + 10.5 / 64 * frame["height"])  # layer 41, head 11
    page.mouse.move(*at)
    page.locator(".tip", has_text="41-11").wait_for()
    page.mouse.click(*at)
    assert chosen(page) == "41-11" and page.evaluate("chosen") == ["41-11"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("chosen") == ["41-11", "42-12"]
    assert page.evaluate("document.activeElement.dataset.head") == "42-12"
    page.close()
