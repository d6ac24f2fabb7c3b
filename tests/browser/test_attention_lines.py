"""The attention viewer in a real browser: the drawing itself, by mouse and by keyboard alone, and its address."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from bertviz_core.heads import Head
from bertviz_core.plotting.palette import OVERLAY
from tests.browser import chromium as browser
from tests.shipped import COUNT, clearest

HOSTILE = '<img/src=x/onerror=document.title="hacked"> **bold** $x$ \u202eabc\u202c &amp; </script> =1+1 ' + "y" * 600


@pytest.fixture
def address(address: str) -> str:
    """Of the page."""
    return f"{address}/attention_viewer"


def viewer(chromium: Any, address: str, scheme: str = "light", width: int = 1280, **parameters: Any) -> Any:
    page = browser.open_page(chromium, f"{address}?{urlencode(parameters)}", scheme, width)
    page.wait_for_selector("li[role=option], [data-testid=stTable], .heatmaplayer", timeout=60_000)
    browser.settle(page)
    return page


def token(page: Any, side: str, number: int) -> Any:
    """The row of a token, from 1."""
    return page.locator(f"ul.column.{side} li").nth(number - 1)


def labels(page: Any, side: str = "from") -> list[str]:
    return page.locator(f"ul.column.{side} li").all_inner_texts()


def red_and_dark(page: Any) -> tuple[int, int]:
    """How many pixels of the drawing are red, and how many are drawn at all."""
    red, drawn = page.locator(".stage canvas").evaluate(
        """c => {
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let red = 0, drawn = 0;
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 20) {
          drawn++;
          if (d[i] > d[i + 2] + 60) red++;
        }
        return [red, drawn];
    }"""
    )
    return red, drawn


def test_hover_isolates_one_token_and_says_its_weights(address: str, chromium: Any, planted_folder: Path) -> None:
    page = viewer(chromium, address, model=planted_folder, head="1-1", least="0.1")
    before = red_and_dark(page)[1]
    token(page, "from", 5).hover()
    alone = red_and_dark(page)[1]
    assert 0 < alone < before / 5
    assert page.locator(".status").inner_text().startswith("keys → her ")
    weights = [float(li.evaluate("e => e.style.getPropertyValue('--weight')")) for li in page.locator("ul.to li").all()]
    assert weights.index(max(weights)) == 3
    number = "e => [e.dataset.weight, getComputedStyle(e, '::after').content]"
    value, shown = token(page, "to", 4).evaluate(number)
    assert shown == f'"{value}"' and float(value) == pytest.approx(max(weights), abs=0.006)
    page.mouse.move(5, 5)
    page.wait_for_timeout(100)
    assert red_and_dark(page)[1] == before
    assert page.problems == []
    page.close()


def test_heads_overlaid_have_colors_and_squares_and_are_in_the_address(address: str, chromium: Any) -> None:
    page = viewer(chromium, address, head="1-3", overlay="2-1,3-5")
    assert page.locator(".legend span").all_inner_texts() == ["Head 1-3", "Head 2-1", "Head 3-5"]
    token(page, "from", 5).hover()
    squares = page.locator("ul.to li").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('.square')].map(s => +s.style.opacity))"
    )
    assert [sum(column) for column in zip(*squares, strict=True)] == pytest.approx([1, 1, 1], abs=0.01)
    assert all(f"{head}: " in page.locator(".status").inner_text() for head in ("1-3", "2-1", "3-5"))
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    drawn = Path(download.value.path()).read_text()
    assert all(f'stroke="{color}"' in drawn for color in OVERLAY[:3])
    assert page.problems == []
    page.close()


def test_the_readout_of_a_long_text_stays_in_sight(address: str, chromium: Any) -> None:
    page = viewer(chromium, address, input="own text", text="cat " * 90)
    token(page, "from", 85).hover()
    assert token(page, "from", 85).bounding_box()["y"] > 100
    assert 0 <= page.locator(".status").bounding_box()["y"] < 60
    page.close()


def test_click_pins_in_red_and_the_address_restores_it(address: str, chromium: Any) -> None:
    page = viewer(chromium, address, head=clearest("previous"))
    assert red_and_dark(page)[0] == 0
    token(page, "from", 5).click()
    token(page, "to", 2).click()
    page.wait_for_function("location.search.includes('from5') && location.search.includes('to2')", timeout=10_000)
    browser.settle(page)
    page.mouse.move(5, 5)
    assert token(page, "from", 5).get_attribute("aria-selected") == "true"
    again = browser.open_page(chromium, page.url)
    again.wait_for_selector("li[role=option]")
    browser.settle(again)
    assert token(again, "from", 5).get_attribute("aria-selected") == "true"
    assert token(again, "to", 2).get_attribute("aria-selected") == "true"
    assert red_and_dark(again)[0] > 100
    token(again, "from", 5).click()
    again.get_by_role("button", name="Clear pins").click()
    again.wait_for_function("!location.search.includes('pin')", timeout=10_000)
    page.close()
    again.close()


def test_the_keyboard_alone_does_it_all(address: str, chromium: Any, planted_folder: Path) -> None:
    page = viewer(chromium, address, model=planted_folder, head="1-1")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.shadowRoot?.activeElement?.getAttribute('role') === 'option'"):
            break
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert page.locator(".status").inner_text().startswith("keys → her")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('pin=from5')", timeout=10_000)
    browser.settle(page)
    page.keyboard.press("ArrowRight")
    assert page.locator(".status").inner_text().startswith("keys ← in")
    page.keyboard.press("m")
    page.wait_for_function("location.search.includes('mask=5')", timeout=10_000)
    browser.settle(page)
    assert page.locator(".status").inner_text().startswith("[MASK] ← in")  # the focus is where it was
    page.keyboard.press("Escape")
    page.wait_for_function("!location.search.includes('pin=')", timeout=10_000)
    assert page.problems == []
    page.close()


def test_an_address_restores_the_whole_view(address: str, chromium: Any) -> None:
    parameters = {
        "head": "2-5", "input": "own text", "text": "The cat saw the dog.", "second": "It ran away.", "units": "words",
        "sides": "B to A", "hide": "true", "least": "0.05", "mask": "3", "pin": "to4",
    }  # fmt: skip
    page = viewer(chromium, address, **parameters)
    assert labels(page) == ["it", "ran", "away", "."]
    assert labels(page, "to") == ["the", "[MASK]", "saw", "the", "dog", "."]
    assert token(page, "to", 3).get_attribute("aria-selected") == "true"
    assert page.get_by_text("Head 2-5").first.is_visible()
    page.get_by_role("button", name="Options").click()
    assert page.locator("[data-testid=stSliderThumbValue]").inner_text() == "0.05"
    page.close()


def test_hostile_text_stays_text(address: str, chromium: Any) -> None:
    for shape in ("lines", "heatmap", "table"):
        page = viewer(
            chromium, address, input="own text", text=HOSTILE, given="true", units="words", mask="3", **{"as": shape}
        )
        if shape == "lines":
            assert "[MASK]" in labels(page)[1]
            assert labels(page)[2:4] == ["**bold**", "$x$"]
            assert labels(page)[-2] == "y" * 199 + "…"
            page.get_by_text("Before masking").click()
            page.wait_for_function("location.search.includes('before=')", timeout=10_000)
            browser.settle(page)
            assert labels(page)[1].startswith("<img/src=x")
        assert page.title() != "hacked"
        assert page.locator("[data-testid=stMain] img[src=x]").count() == 0
        assert browser.fits(page)
        assert page.problems == []
        page.close()


def test_a_click_on_a_small_picture_chooses_its_head(address: str, chromium: Any) -> None:
    page = viewer(chromium, address)
    pictures = page.get_by_role("grid", name="A small picture of every head")
    assert pictures.get_by_role("gridcell").count() == COUNT
    pictures.get_by_role("gridcell", name="Head 2-3").click()
    page.wait_for_function("location.search.includes('head=2-3')", timeout=10_000)
    browser.settle(page)
    assert page.get_by_text("Head 2-3 attends most strongly").is_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('head=3-2')", timeout=10_000)
    browser.settle(page)
    assert pictures.locator("[aria-selected=true]").get_attribute("aria-label") == "Head 3-2"
    page.locator(".st-key-step-next button").first.click()
    page.wait_for_function("location.search.includes('head=3-3')", timeout=10_000)
    browser.settle(page)
    assert pictures.locator("[aria-selected=true]").get_attribute("aria-label") == "Head 3-3"
    assert page.problems == []
    page.close()


def test_a_sentence_of_the_treebank_opens_with_its_words(address: str, chromium: Any) -> None:
    page = browser.open_page(chromium, address.replace("attention_viewer", "dependency_heads?head=2-3&relation=det"))
    page.get_by_role("spinbutton", name="Page of").fill("2")
    page.keyboard.press("Enter")
    browser.settle(page)
    title = page.locator("figcaption").first.inner_text()
    page.locator("figcaption").get_by_text("Open in the attention viewer").first.click()
    page.wait_for_selector("li[role=option]", timeout=60_000)
    browser.settle(page)
    given = page.get_by_label("Segment A").input_value().split()
    assert labels(page)[1:-1] == given
    assert "head=2-3" in page.url
    assert page.locator("li[aria-selected=true]").count() >= 1
    strong = page.locator("figure svg text[font-weight='700']").all_text_contents()
    assert set(page.locator("li[aria-selected=true]").all_inner_texts()) == set(strong)
    page.get_by_text("Back to Dependency heads").click()
    page.wait_for_function("document.querySelector('h1')?.innerText === 'Dependency heads'", timeout=10_000)
    browser.settle(page)
    assert "relation=det" in page.url and page.locator("figcaption").first.inner_text() == title
    page.close()


def test_files_are_made_in_the_browser(address: str, chromium: Any, tmp_path: Path) -> None:
    from xml.etree import ElementTree

    page = viewer(
        chromium,
        address,
        head=clearest("previous"),
        input="own text",
        text=HOSTILE,
        given="true",
        units="words",
        pin="from2",
    )
    for kind in ("SVG", "PNG", "CSV", "safetensors"):
        with page.expect_download() as download:
            page.get_by_role("button", name=kind, exact=True).click()
        download.value.save_as(tmp_path / kind)
        name = download.value.suggested_filename
        assert re.fullmatch(rf"attention-demo-{clearest('previous')}(-[0-9a-f]+)?\.{kind.lower()}", name)
    svg = ElementTree.parse(tmp_path / "SVG").getroot()
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text.startswith("<img/src=x") for text in texts)
    assert any(line.get("stroke") == "#e03131" for line in svg.iter("{http://www.w3.org/2000/svg}line"))
    assert (tmp_path / "PNG").read_bytes()[:4] == b"\x89PNG"
    import pandas as pd
    from safetensors.numpy import load_file

    table, maps = pd.read_csv(tmp_path / "CSV"), load_file(tmp_path / "safetensors")["attention"]
    assert maps.shape[:2] == (6, 12)
    layer, head = Head.parse(clearest("previous")).layer, Head.parse(clearest("previous")).head
    assert table["weight"].to_numpy() == pytest.approx(maps[layer, head].reshape(-1), abs=1e-6)
    page.close()


def brightness(page: Any) -> float:
    """Mean of what is drawn, 0 black to 255 white."""
    return page.locator(".stage canvas").evaluate(
        """c => {
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let sum = 0, drawn = 0;
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 100) { drawn++; sum += d[i]; }
        return sum / drawn;
    }"""
    )


def test_masking_by_button_changes_token_and_address_and_comes_back(address: str, chromium: Any) -> None:
    page = viewer(chromium, address, head=clearest("previous"))
    token(page, "from", 5).click()
    page.get_by_role("button", name="Mask “keys”").click()
    page.wait_for_function("location.search.includes('mask=5')", timeout=10_000)
    browser.settle(page)
    assert labels(page)[4] == "[MASK]"
    assert page.get_by_text("Masking shifted").is_visible()
    page.get_by_text("Before masking").click()
    browser.settle(page)
    page.wait_for_function("location.search.includes('before=')", timeout=10_000)
    browser.settle(page)
    assert labels(page)[4] == "keys"
    page.get_by_role("button", name="Unmask all").click()
    page.wait_for_function("!location.search.includes('mask=')", timeout=10_000)
    page.close()


def test_labels_that_no_tokenizer_makes_stay_text_too(chromium: Any, tmp_path: Path) -> None:
    with browser.served(tmp_path / "store", browser.ROOT / "tests" / "hostile_page.py") as url:
        page = viewer(chromium, url)
        assert labels(page)[0].startswith("<img src=x onerror=")
        assert labels(page)[4] == "</ul><script>"
        assert len(labels(page)[2]) == 200
        token(page, "from", 2).hover()
        box = token(page, "from", 3).bounding_box()
        assert box["width"] < 300
        with page.expect_download() as download:
            page.get_by_role("button", name="SVG", exact=True).click()
        assert "<script>" not in Path(download.value.path()).read_text()
        assert page.title() != "hacked"
        assert page.locator("img[src=x]").count() == 0
        assert page.problems == []
        page.close()


def test_another_theme_redraws_the_lines(address: str, chromium: Any) -> None:
    page = viewer(chromium, address, head=clearest("previous"))
    assert brightness(page) < 100
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(1500)
    assert brightness(page) > 150
    page.close()
