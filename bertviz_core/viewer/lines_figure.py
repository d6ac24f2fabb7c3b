"""Figure 5 as an SVG drawing: two columns, and a line from each token to each, its darkness the weight."""

from __future__ import annotations

from html import escape

import numpy as np

from bertviz_core.heads import Head
from bertviz_core.models.labels import Units
from bertviz_core.plotting.style import RING
from bertviz_core.viewer.view import InputAttention, shorten

ROW = 22  # pixels
COLUMN, BETWEEN = 170, 260
FAINT = 0.005  # a line this light cannot be seen


def draw(seen: InputAttention, head: Head, *, min_weight: float = 0.0, title: str = "") -> str:
    """An SVG document; lines under `min_weight` are left out, special tokens are gray."""
    width, height = 2 * COLUMN + BETWEEN, ROW * (max(len(seen.queries), len(seen.keys)) + 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' font-family="sans-serif" font-size="14">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<title>{escape(title)}</title><text x="{width / 2}" y="15" text-anchor="middle">{escape(title)}</text>',
        *_lines(seen.of(head), min_weight),
        *_column(seen.queries, COLUMN - 8, "end"),
        *_column(seen.keys, COLUMN + BETWEEN + 8, "start"),
        "</svg>",
    ]
    return "\n".join(parts)


def _lines(weights: np.ndarray, min_weight: float) -> list[str]:
    """The darkest last, so that they lie on top."""
    i, j = np.nonzero(weights >= max(min_weight, FAINT))
    order = np.argsort(weights[i, j], kind="stable")
    drawn = [
        f'<line x1="{COLUMN}" y1="{_middle(a)}" x2="{COLUMN + BETWEEN}" y2="{_middle(b)}" '
        f'stroke-opacity="{weights[a, b]:.3f}"/>'
        for a, b in zip(i[order], j[order], strict=True)
    ]
    return ['<g stroke="#1f2430" stroke-width="1.6">', *drawn, "</g>"]


def _column(units: Units, x: int, anchor: str) -> list[str]:
    """Labels, each in a direction of its own: Arabic beside English stays in order."""
    return [
        f'<text x="{x}" y="{_middle(row) + 5}" text-anchor="{anchor}" fill="{_color(label, special)}" '
        f'unicode-bidi="isolate">{escape(shorten(label))}</text>'
        for row, (label, special) in enumerate(zip(units.labels, units.special, strict=True))
    ]


def _color(label: str, special: bool) -> str:
    return RING if label == "[MASK]" else "#8a90a0" if special else "#1f2430"


def _middle(row: int) -> int:
    return ROW * (int(row) + 1) + ROW // 2 + 4
