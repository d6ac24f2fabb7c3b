"""The attention lines outside the app: one file, in a browser that asks nothing of any server."""

from pathlib import Path
from typing import Any

import pytest

import bertviz_core as bv

HOSTILE = '</script><script>document.title = "hacked"</script> the cat \u2028 "sat" <img src=x onerror=alert(1)> .'


@pytest.fixture
def lines() -> bv.AttentionLines:
    return bv.attention("demo", HOSTILE, head="2-3")


def opened(chromium: Any, page: str, path: Path) -> Any:
    """The page, what it asked for, and what went wrong in it."""
    path.write_text(page, "utf-8")
    tab = chromium.new_page(viewport={"width": 900, "height": 900})
    tab.asked, tab.problems = [], []
    tab.on("request", lambda request: tab.asked.append(request.url))
    tab.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.goto(path.as_uri())
    return tab


def test_hover_pin_and_choose(chromium: Any, lines: bv.AttentionLines, tmp_path: Path) -> None:
    tab = opened(chromium, lines.to_html(), tmp_path / "lines.html")
    rows = tab.locator("ul.from li")
    assert rows.all_inner_texts() == list(lines.tokens) and tab.title() == "Attention of demo"
    cat = lines.tokens.index("cat")
    rows.nth(cat).hover()
    weights = lines.weights[1, 2, cat]
    assert f"{lines.tokens[int(weights.argmax())]} {weights.max():.2f}" in tab.locator(".status").inner_text()
    rows.nth(cat).click()
    tab.select_option("#head", "5-8")
    tab.mouse.move(1, 1)
    assert tab.locator("li[aria-selected=true]").all_inner_texts() == ["cat"]
    rows.nth(cat).hover()
    weights = lines.weights[4, 7, cat]
    assert f"{weights.max():.2f}" in tab.locator(".status").inner_text()
    assert tab.problems == [] and len(tab.asked) == 1
    tab.close()
