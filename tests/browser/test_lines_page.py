"""The attention lines outside the app: one file, in a browser that asks nothing of any server."""

from pathlib import Path
from typing import Any

import pytest

import bertviz_core as bv

pytestmark = pytest.mark.browser

HOSTILE = '</script><script>document.title = "hacked"</script> the cat \u2028 "sat" <img src=x onerror=alert(1)> .'


def test_hover_pin_and_choose(chromium: Any, tmp_path: Path) -> None:
    lines, asked, problems = bv.attention("demo", HOSTILE, head="2-3"), [], []
    lines.to_html(tmp_path / "lines.html")
    tab = chromium.new_page(viewport={"width": 900, "height": 900})
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto((tmp_path / "lines.html").as_uri())
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
    assert problems == [] and len(asked) == 1
    tab.close()
