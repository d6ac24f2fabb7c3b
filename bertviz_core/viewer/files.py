"""The attention of one input as files, and what the script of the interactive lines draws."""

import base64
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bertviz_core.errors import InputError
from bertviz_core.heads import Head, all_heads
from bertviz_core.inputs.labels import Units
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.paper import CITATION
from bertviz_core.plotting.browser import drawing_page, in_frame, text_of
from bertviz_core.plotting.drawing import to_svg
from bertviz_core.settings import Settings
from bertviz_core.text_display import cut_end
from bertviz_core.version import __version__
from bertviz_core.viewer.figure import Panel, lines_figure
from bertviz_core.viewer.input_attention import InputAttention
from bertviz_core.viewer.window import TokenRange

# This folder has attention_lines.js, whose default export draws lines into an element, and attention_lines.css.
FOLDER = Path(__file__).parent
SCRIPTS = (FOLDER / "attention_lines.js", FOLDER / "lines_page.js")
MAX_CHARACTERS = 200  # the longest label in a page
MAX_BYTES = 30_000_000  # the most bytes of packed weights in a page
SUFFIXES = (".svg", ".csv", ".html", ".safetensors")
MIN_WEIGHT = 0.02  # The lines that are drawn at first have this weight or more.
CHOICE_CSS = """
.choice { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; margin-bottom: .4rem; }
.choice select { font: inherit; }
.bar button:first-child { display: none; }
"""
BODY = """<div class="choice"><label>Head <select id="head"></select></label>
<label>Minimum weight <input id="weight" type="range" min="0" max="0.95" step="0.01"></label>
<output id="minimum"></output></div>
<div id="lines"></div>"""


def columns_of(
    attention: InputAttention,
    masked: Collection[int] = (),
    found: Collection[int] = (),
    window: TokenRange | None = None,
) -> dict[str, Any]:
    """Both columns of tokens as JSON values for the script.

    Args:
        attention: The attention, whose units are the columns.
        masked: Positions, from 0, of masked words.
        found: Positions, from 0, of words that are searched.
        window: The part of a long input that is drawn; units beyond it look different. None for all.
    """

    def column(units: Units) -> list[dict[str, Any]]:
        beyond = np.zeros(len(units), dtype=bool) if window is None else ~window.has(units)
        rows = zip(units.labels, units.special.tolist(), units.start.tolist(), beyond.tolist(), strict=True)
        return [
            {
                "label": cut_end(label, MAX_CHARACTERS),
                "special": special,
                "start": start,
                "masked": start in masked,
                "found": start in found,
                "beyond": away,
            }
            for label, special, start, away in rows
        ]

    return {"from": column(attention.queries), "to": column(attention.keys)}


def pack_weights(weights: np.ndarray) -> str:
    """Encode (query, key) weights as base64 of little-endian uint16, 65535 for 1; the error is below 1e-5."""
    integers = np.rint(weights.clip(0, 1) * 65535).astype("<u2")
    return base64.b64encode(integers.tobytes()).decode()


def lines_html(attention: InputAttention, heads: Sequence[Head], head: Head, *, model: str, caption: str) -> str:
    """The lines of some heads as an HTML page that opens on `head`.

    Raises:
        InputError: The page would have more than MAX_BYTES.
    """
    size = attention.weights[head].size * 2 * len(heads)
    if size > MAX_BYTES:
        raise InputError(
            f"The lines of {len(heads):,} heads on this input take {size / 1e6:,.0f} MB.",
            hint="Name fewer heads, or give a shorter text.",
        )
    data = {
        "input": columns_of(attention),
        "weights": {each.key(): pack_weights(attention.weights[each]) for each in heads},
        "model": model,
        "head": head.key(),
        "minWeight": MIN_WEIGHT,
    }
    return drawing_page(
        title=f"Attention of {model}" if model else "Attention",
        style=CHOICE_CSS + text_of(FOLDER / "attention_lines.css"),
        body=BODY,
        caption=caption,
        data=data,
        scripts=SCRIPTS,
    )


def lines_frame(document: str, attention: InputAttention) -> str:
    """The page of the lines in a frame for a notebook; rows are as high as in attention_lines.js."""
    count = max(attention.weights.shape[2:])
    row = 26 if count <= 26 else 21
    if count > 50:
        row = 16
    return in_frame(document, title="Attention lines", height=210 + count * row)


def builders(
    attention: InputAttention, head: Head, origin: dict[str, Any], min_weight: float
) -> dict[str, Callable[[], bytes]]:
    """Suffix -> function that builds the bytes: .svg and .csv of one head, the others of every head."""
    return {
        ".svg": lambda: input_svg(attention, head, Path(origin["model"]).name, min_weight),
        ".csv": lambda: attention.to_csv(head, {"head": head.key(), **origin}),
        ".html": lambda: input_html(attention, head, origin),
        ".safetensors": lambda: attention.to_safetensors(origin),
    }


def input_svg(attention: InputAttention, head: Head, model: str, min_weight: float) -> bytes:
    """The lines of one head as SVG, without those under `min_weight`; raises SettingsError without kaleido."""
    title = ", ".join(filter(None, (f"Head {head.key()}", model)))
    panel = Panel(title, attention.queries, attention.keys, attention.weights[head])
    return to_svg(lines_figure([panel], min_weight=min_weight))


def input_html(attention: InputAttention, head: Head, origin: dict[str, Any]) -> bytes:
    """The lines of all heads as an HTML page that needs no network, or of one head where that is too much."""
    is_large = 2 * attention.weights.size > MAX_BYTES
    heads = [head] if is_large else all_heads(*attention.weights.shape[:2])
    model = Path(origin["model"]).name
    entries = origin | {"model": model}
    caption = "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in entries.items())
    return lines_html(attention, heads, head, model=model, caption=caption).encode()


def input_origin(checkpoint: Checkpoint, settings: Settings, digest: str) -> dict[str, Any]:
    """The origin of one input's attention, in fields as of `origin` of results.

    Args:
        digest: The digest of the input's tokens.
    """
    return {
        "model": checkpoint.name,
        "model_fingerprint": checkpoint.fingerprint()[:16],
        "input_digest": digest[:16],
        "mode": settings.mode,
        "weights": settings.weights,
        "dtype": settings.dtype,
        "bertviz_core": __version__,
        "citation": CITATION,
    }
