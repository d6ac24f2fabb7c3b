"""The lines of every head of one input as one HTML document that needs no network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from bertviz_core.errors import InputError
from bertviz_core.heads import Head
from bertviz_core.viewer.lines_component import line_data, pack, script, style
from bertviz_core.viewer.view import InputAttention

FILE = Path(__file__).parent / "lines_page.js"
MAX_BYTES = 30_000_000  # of packed weights
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
# What would end a script, or a line of one, inside JSON.
UNSAFE = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
STYLE = """
body { margin: 0; padding: .6rem; background: #fff; color: #1f2430; color-scheme: light; font: 14px/1.4 sans-serif; }
.choice { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; margin-bottom: .4rem; }
.choice select { font: inherit; }
.caption { font-size: .8rem; color: #5c6370; margin: .4rem 0 0; }
.bar button:first-child { display: none; }
"""


def lines_html(
    attention: InputAttention,
    heads: Sequence[Head],
    head: Head,
    *,
    model: str,
    caption: str = "",
    min_weight: float = 0.02,
) -> str:
    """Build the HTML document of the lines.

    Args:
        attention: One input.
        heads: Heads that can be chosen, in order.
        head: The one that is shown first, of `heads`.
        model: Name of the model.
        caption: A line under the drawing.
        min_weight: Lines below it are not drawn at first.

    Raises:
        InputError: The weights of these heads take more than a page should hold.
    """
    size = attention.of(head).size * 2 * len(heads)
    if size > MAX_BYTES:
        raise InputError(
            f"The lines of {len(heads):,} heads on this input take {size / 1e6:,.0f} MB.",
            hint="Name fewer heads, or give a shorter text.",
        )
    layers = list(dict.fromkeys(each.layer for each in heads))
    weights = {
        str(layer + 1): {str(each.head + 1): pack(attention.of(each)) for each in heads if each.layer == layer}
        for layer in layers
    }
    first_head = line_data(attention, head, title="", min_weight=min_weight)
    data = {
        "input": {side: first_head[side] for side in ("from", "to")},
        "weights": weights,
        "layers": list(weights),
        "layer": str(head.layer + 1),
        "head": str(head.head + 1),
        "minWeight": min_weight,
        "model": model,
    }
    return _document(data, f"Attention of {model}", caption)


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element, whatever text is in it."""
    return json.dumps(value, ensure_ascii=False).translate(UNSAFE)


def in_frame(document: str, height: int) -> str:
    """A document inside a frame of its own, for a page whose style and scripts it must not touch."""
    return (
        f'<iframe srcdoc="{escape(document)}" sandbox="allow-scripts allow-downloads" title="Attention lines" '
        f'style="width: 100%; height: {height}px; border: 1px solid #8884; border-radius: 6px"></iframe>'
    )


def frame_height(attention: InputAttention) -> int:
    """Pixels that the document needs; rows are as high as attention_lines.js makes them."""
    count = max(len(attention.queries), len(attention.keys))
    return 210 + count * (26 if count <= 26 else 21 if count <= 50 else 16)


def _document(data: dict[str, Any], title: str, caption: str) -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>
<style>{STYLE}{style()}</style></head><body>
<div class="choice"><label>Layer <select id="layer"></select></label>
<label>Head <select id="head"></select></label>
<label>Minimum weight <input id="weight" type="range" min="0" max="0.95" step="0.01"></label>
<output id="minimum"></output></div>
<div id="lines"></div><p class="caption">{escape(caption)}</p>
<script type="application/json" id="data">{script_json(data)}</script>
<script type="module">{script()}
{FILE.read_text(encoding="utf-8")}</script></body></html>
"""
