"""The map of heads in a real browser: pointing, clicking, the keyboard, the legend, and the picture that is saved."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from tests.browser import chromium as browser
from tests.shipped import COUNT

POINT = """cell => {
  const start = performance.now();
  cell.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
  return performance.now() - start;
}"""  # what the handler takes, whatever else the machine does
SVG = "{http://www.w3.org/2000/svg}"


def open_map(chromium: Any, address: str) -> Any:
    page = browser.open_page(chromium, address)
    page.locator(".point").first.wait_for()
    return page


def chosen(map_or_page: Any) -> str:
    return map_or_page.locator(".point[aria-selected=true]").get_attribute("data-head")


def saved(page: Any, folder: Path) -> ET.Element:
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG of the map").first.click()
    download.value.save_as(folder / "map.svg")
    return ET.parse(folder / "map.svg").getroot()


def test_a_click_on_a_behavior_chooses_its_head_and_the_legend_hides_the_others(address: str, chromium: Any) -> None:
    page = open_map(chromium, address)
    page.locator(".point[data-head='1-2']").click()
    page.wait_for_function("location.search.includes('head=1-2')", timeout=10_000)
    browser.settle(page)
    assert chosen(page) == "1-2"
    assert page.locator(".ring").count() == 1
    shown = page.locator(".point path").count()
    assert shown == page.locator(".point").count() == COUNT
    first = page.locator(".entry").first
    first.click()
    hidden = int(first.get_attribute("aria-label").split("(")[1].strip(")"))
    assert first.get_attribute("aria-pressed") == "false"
    assert page.locator(".point path").count() == COUNT - hidden
    first.press("Enter")
    assert page.locator(".point path").count() == COUNT
    assert page.problems == []
    page.close()


def test_arrows_move_and_enter_chooses_and_the_focus_stays(address: str, chromium: Any) -> None:
    page = open_map(chromium, f"{address}/entropy?head=2-3")
    page.locator(".point[tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    tip = page.locator(".tip").inner_text()
    assert tip.startswith("3-4: ") and f" of {COUNT}" in tip
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('head=3-4')", timeout=10_000)
    browser.settle(page)
    assert chosen(page) == "3-4"
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    page.wait_for_function("location.search.includes('head=4-4')", timeout=10_000)
    assert page.locator("[role=grid] > [role=row] > [role=gridcell]").count() == COUNT
    assert page.problems == []
    page.close()


def test_the_saved_map_of_behaviors_has_its_legend_and_says_what_it_was_made_from(
    address: str, chromium: Any, tmp_path: Path
) -> None:
    page = open_map(chromium, address)
    entries = [entry.get_attribute("aria-label") for entry in page.locator(".entry").all()]
    drawing = saved(page, tmp_path)
    texts = " ".join(element.text or "" for element in drawing.iter(f"{SVG}text"))
    assert len(entries) > 2 and all(entry in texts for entry in entries)
    assert "after Clark et al. 2019" in texts
    titles = [element.text for element in drawing.iter(f"{SVG}title")]
    assert len(titles) == COUNT and "rank" in titles[0]
    page.close()


def test_the_saved_map_of_values_has_its_color_bar_and_stays_within_its_frame(
    address: str, chromium: Any, tmp_path: Path
) -> None:
    page = open_map(chromium, f"{address}/entropy")
    drawing = saved(page, tmp_path)
    texts = " ".join(element.text or "" for element in drawing.iter(f"{SVG}text"))
    assert "nats" in texts and "after Clark et al. 2019" in texts
    assert len(list(drawing.iter(f"{SVG}stop"))) == 2
    page.set_content((tmp_path / "map.svg").read_text())
    inside = page.evaluate(
        "[...document.querySelectorAll('text')].every(t => { const b = t.getBoundingClientRect(),"
        " f = document.querySelector('svg').getBoundingClientRect();"
        " return b.left >= f.left - 1 && b.right <= f.right + 1 && b.bottom <= f.bottom + 1; })"
    )
    assert inside
    page.close()


def test_the_pictures_of_the_viewer_choose_heads_and_are_saved_whole(
    address: str, chromium: Any, tmp_path: Path
) -> None:
    page = open_map(chromium, f"{address}/attention_viewer")
    pictures = page.locator(".map", has=page.locator("image"))
    point(page, "2-9")
    assert point(page, "2-3") < 100  # ms
    tokens = page.locator("ul.column.from li").all_inner_texts()
    assert pictures.locator(".tip .preview text[text-anchor=end]").all_text_contents() == tokens
    pictures.locator(".point[data-head='4-5']").click()
    page.wait_for_function("location.search.includes('head=4-5')", timeout=10_000)
    browser.settle(page)
    assert chosen(pictures) == "4-5"
    with page.expect_download() as download:
        pictures.locator(".save").click()
    download.value.save_as(tmp_path / "pictures.svg")
    assert "data:image/png;base64" in (tmp_path / "pictures.svg").read_text()
    assert page.problems == []
    page.close()


def point(page: Any, head: str) -> float:
    """Point at a head; milliseconds until its preview is drawn."""
    milliseconds: float = page.locator(f".point[data-head='{head}'] .area").first.evaluate(POINT)
    return milliseconds


def test_on_dependency_heads_the_preview_is_of_the_first_sentence_drawn_below(address: str, chromium: Any) -> None:
    page = open_map(chromium, f"{address}/dependency_heads")
    example = page.locator("figcaption", has_text="sentence").first.inner_text().partition(":")[0]
    point(page, "2-9")
    assert point(page, "1-3") < 100  # ms
    assert page.locator(".tip p").inner_text() == f"Guesses in {example}"
    assert page.locator(".tip .preview text").count() > 4
    page.close()


def test_pointing_at_a_head_previews_its_lines_at_once_and_without_a_run_of_the_page(
    address: str, chromium: Any
) -> None:
    page = open_map(chromium, f"{address}/entropy")
    point(page, "2-9")
    assert point(page, "1-3") < 100  # ms
    assert page.locator(".tip .preview line").count() >= 5
    assert page.locator(".tip .preview text").first.text_content() == "[CLS]"
    assert chosen(page) != "1-3"
    page.goto(f"{address}/compare")
    page.locator(".point").first.wait_for()
    browser.settle(page)
    point(page, "2-9")
    assert page.locator(".tip .preview line").count() >= 5
    page.goto(f"{address}/overview?head=1-3")
    page.locator(".card").wait_for()
    wide = page.locator(".map").first.bounding_box()["width"] / page.locator(".frame").first.bounding_box()["width"]
    assert 0.55 < wide < 0.65
    point(page, "2-9")
    assert page.locator(".card strong").inner_text() == "Head 2-9" and page.locator(".card dd").count() == 6
    assert page.locator(".card .preview line").count() >= 5 and page.locator(".card a").count() == 0
    page.locator("h1").hover()
    page.locator(".map > svg").evaluate("map => map.dispatchEvent(new PointerEvent('pointerleave'))")
    assert page.locator(".card strong").inner_text() == "Head 1-3"
    page.locator(".card a").click()
    page.wait_for_function("document.querySelector('h1')?.innerText === 'Attention viewer'", timeout=60_000)
    assert "head=1-3" in page.url and "input=own+text" in page.url
    assert page.problems == []
    page.close()
