"""Interactive drawings as pages that need no network, and in a frame for a notebook."""

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from bertviz_core.plotting.html import document, element

# This folder has elements.js, which all drawings need, and the scripts of the map of heads.
FOLDER = Path(__file__).parent
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
        style: CSS of the drawing.
        body: HTML of the elements that the scripts fill.
        caption: A text below them.
        data: What becomes the JSON of the element `data`.
        scripts: Files of JavaScript, which become one module, in this order.
    """
    module = "\n".join(map(text_of, (FOLDER / "elements.js", *scripts)))
    json_data = json.dumps(data, ensure_ascii=False).translate(UNSAFE)
    return document(
        title,
        body,
        element("p class=caption", caption),
        f'<script type="application/json" id="data">{json_data}</script><script type="module">{module}</script>',
        style=THEME_CSS + style,
        runs_scripts=True,
    )


def in_frame(page: str, *, title: str, height: int) -> str:
    """An HTML document in a frame of a notebook, whose styles and scripts touch nothing outside; `height` in pixels."""
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts allow-downloads" title="{escape(title)}" '
        f'style="width: 100%; height: {height}px; border: 1px solid #8884; border-radius: 6px"></iframe>'
    )
