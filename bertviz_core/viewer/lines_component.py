"""The interactive lines of one head: the script and style that draw them in a browser, and the data that they read."""

from __future__ import annotations

import base64
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bertviz_core.heads import Head
from bertviz_core.models.labels import Units
from bertviz_core.viewer.view import InputAttention, shorten

FILE = Path(__file__).parent / "attention_lines.js"
MAX_CHARACTERS = 200  # of a label that travels


def script() -> str:
    """A JavaScript module; its default export draws `line_data` into an element."""
    return FILE.read_text(encoding="utf-8")


def style() -> str:
    """CSS; colors come from Streamlit's theme variables where they are set."""
    return FILE.with_suffix(".css").read_text(encoding="utf-8")


def line_data(
    attention: InputAttention, head: Head, *, title: str, min_weight: float, masked: Collection[int] = ()
) -> dict[str, Any]:
    """What the script draws of one head, as JSON values.

    Args:
        attention: One input.
        head: Only its matrix is included.
        title: Title of saved drawings.
        min_weight: Lines below it are not drawn.
        masked: Positions of masked tokens, from 0.
    """
    return {
        "from": _units(attention.queries, masked),
        "to": _units(attention.keys, masked),
        "weights": pack(attention.of(head)),
        "minWeight": min_weight,
        "title": title,
        "name": f"attention-{head.label()}",
    }


def pack(weights: np.ndarray) -> str:
    """base64 of (query, key) weights as little-endian uint16, 65535 for 1: the error is below 1e-5."""
    return base64.b64encode(np.rint(np.clip(weights, 0, 1) * 65535).astype("<u2").tobytes()).decode()


def _units(units: Units, masked: Collection[int]) -> Sequence[dict[str, Any]]:
    columns = zip(units.labels, units.special.tolist(), units.start.tolist(), strict=True)
    return [
        {"label": shorten(label, MAX_CHARACTERS), "special": special, "start": start, "masked": start in masked}
        for label, special, start in columns
    ]
