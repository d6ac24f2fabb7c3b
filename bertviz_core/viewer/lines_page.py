"""The interactive lines of one input: what their script draws of a head, and every head as one HTML document that needs
no network."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from bertviz_core.errors import InputError
from bertviz_core.heads import Head
from bertviz_core.viewer.view import InputAttention, shorten

FOLDER = Path(__file__).parent  # of attention_lines.js and .css; its default export draws one head into an element
MAX_CHARACTERS = 200  # of a label that travels
MAX_BYTES = 30_000_000  # of packed weights
MIN_WEIGHT = 0.02  # lines below it are not drawn at first
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


@cache
def text_of(path: Path) -> str:
    """The text of a script or style sheet."""
    return path.read_text(encoding="utf-8")


def sides(attention: InputAttention, masked: Collection[int] = ()) -> dict[str, Any]:
    """Both columns of tokens as JSON values that the script draws; `masked` has positions from 0."""
    return {
        side: [
            {"label": shorten(label, MAX_CHARACTERS), "special": special, "start": start, "masked": start in masked}
            for label, special, start in zip(units.labels, units.special.tolist(), units.start.tolist(), strict=True)
        ]
        for side, units in (("from", attention.queries), ("to", attention.keys))
    }


def pack(weights: np.ndarray) -> str:
    """base64 of (query, key) weights as little-endian uint16, 65535 for 1: the error is below 1e-5."""
    return base64.b64encode(np.rint(np.clip(weights, 0, 1) * 65535).astype("<u2").tobytes()).decode()


def lines_html(
    attention: InputAttention,
    heads: Sequence[Head],
    head: Head,
    *,
    model: str,
    caption: str,
) -> str:
    """Build the HTML document of the lines.

    Args:
        attention: One input.
        heads: Heads that can be chosen, in order.
        head: The one that is shown first, of `heads`.
        model: Name of the model.
        caption: A line under the drawing.

    Raises:
        InputError: The weights of these heads take more than a page should hold.
    """
    size = attention.weights[head].size * 2 * len(heads)
    if size > MAX_BYTES:
        raise InputError(
            f"The lines of {len(heads):,} heads on this input take {size / 1e6:,.0f} MB.",
            hint="Name fewer heads, or give a shorter text.",
        )
    layers = list(dict.fromkeys(each.layer for each in heads))
    weights = {
        str(layer + 1): {str(each.head + 1): pack(attention.weights[each]) for each in heads if each.layer == layer}
        for layer in layers
    }
    data = {
        "input": sides(attention),
        "weights": weights,
        "layers": list(weights),
        "layer": str(head.layer + 1),
        "head": str(head.head + 1),
        "minWeight": MIN_WEIGHT,
        "model": model,
    }
    return _document(data, f"Attention of {model}", caption)


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element, whatever text is in it."""
    return json.dumps(value, ensure_ascii=False).translate(UNSAFE)


def in_frame(document: str, attention: InputAttention) -> str:
    """A document inside a frame of its own, for a page whose style and scripts it must not touch; as high as it needs,
    with rows as attention_lines.js makes them."""
    count = max(len(attention.queries), len(attention.keys))
    height = 210 + count * (26 if count <= 26 else 21 if count <= 50 else 16)
    return (
        f'<iframe srcdoc="{escape(document)}" sandbox="allow-scripts allow-downloads" title="Attention lines" '
        f'style="width: 100%; height: {height}px; border: 1px solid #8884; border-radius: 6px"></iframe>'
    )


def _document(data: dict[str, Any], title: str, caption: str) -> str:
    scripts = "\n".join(text_of(FOLDER / f"{name}.js") for name in ("elements", "attention_lines", "lines_page"))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>
<style>{STYLE}{text_of(FOLDER / "attention_lines.css")}</style></head><body>
<div class="choice"><label>Layer <select id="layer"></select></label>
<label>Head <select id="head"></select></label>
<label>Minimum weight <input id="weight" type="range" min="0" max="0.95" step="0.01"></label>
<output id="minimum"></output></div>
<div id="lines"></div><p class="caption">{escape(caption)}</p>
<script type="application/json" id="data">{script_json(data)}</script>
<script type="module">{scripts}</script></body></html>
"""
