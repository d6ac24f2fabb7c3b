"""Interactive drawings as pages that need no network, and in a frame for a notebook."""

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

# This folder has elements.js, which all drawings need, and the scripts of the map of heads.
FOLDER = Path(__file__).parent
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
# Characters that would end a script, or a line of one, inside JSON.
UNSAFE = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
# The variables are those of Streamlit's themes, which the drawings take their colors from.
THEME_CSS = """
:root {
  color-scheme: light dark;
  --st-text-color: #1f2430; --st-background-color: #fff; --st-secondary-background-color: #f5f6fa;
  --st-primary-color: #3b5bdb; --st-border-color: #d0d4dc; --st-red-color: #e03131;
}
@media (prefers-color-scheme: dark) {
  :root {
    --st-text-color: #e6e8ef; --st-background-color: #14161c; --st-secondary-background-color: #1c1f28;
    --st-primary-color: #7c93ff; --st-border-color: #8886; --st-red-color: #ff6c6c;
  }
}
body {
  margin: 0; padding: .6rem; font: 14px/1.4 sans-serif; color: var(--st-text-color);
  background: var(--st-background-color);
}
.caption { font-size: .8rem; opacity: .8; margin: .4rem 0 0; }
"""


@cache
def text_of(path: Path) -> str:
    """The text of a script or a style sheet of the package."""
    return path.read_text(encoding="utf-8")


def drawing_page(*, title: str, style: str, body: str, caption: str, data: Any, scripts: Sequence[Path]) -> str:
    """An HTML page that draws `data` and asks nothing of any server.

    Args:
        title: Of the page.
        style: CSS of the drawing.
        body: HTML of the elements that the scripts fill.
        caption: A text below them.
        data: What becomes the JSON of the element `data`.
        scripts: Files of JavaScript, which become one module, in this order.
    """
    module = "\n".join(map(text_of, (FOLDER / "elements.js", *scripts)))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>
<style>{THEME_CSS}{style}</style></head><body>
{body}<p class="caption">{escape(caption)}</p>
<script type="application/json" id="data">{json.dumps(data, ensure_ascii=False).translate(UNSAFE)}</script>
<script type="module">{module}</script></body></html>
"""


def in_frame(document: str, *, title: str, height: int) -> str:
    """A document in a frame of a notebook, whose styles and scripts touch nothing outside; `height` in pixels."""
    return (
        f'<iframe srcdoc="{escape(document)}" sandbox="allow-scripts allow-downloads" title="{escape(title)}" '
        f'style="width: 100%; height: {height}px; border: 1px solid #8884; border-radius: 6px"></iframe>'
    )
