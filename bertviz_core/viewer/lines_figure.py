"""Figures 1 and 5 as SVG: two columns, and a line from each token to each, its darkness the weight."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from bertviz_core.heads import Head
from bertviz_core.models.labels import PICTURES, Units
from bertviz_core.plotting.style import RING
from bertviz_core.viewer.view import InputAttention, shorten

FAINT = 0.005  # a line this light cannot be seen
INK, SPECIAL = "#1f2430", "#8a90a0"


@dataclass(frozen=True, slots=True)
class Measures:
    """Pixels of a drawing: of a row, of a column of labels, between the columns; characters of the longest label."""

    row: int
    column: int
    between: int
    letters: int

    @property
    def width(self) -> int:
        return 2 * self.column + self.between


ALONE, BESIDE = Measures(22, 170, 260, 24), Measures(19, 92, 116, 13)


@dataclass(frozen=True, slots=True)
class Panel:
    """One head on one input.

    Attributes:
        title: Above the drawing.
        queries, keys: Labels of the left and of the right column.
        weights: (query, key).
        red: Rows of the left column that are red, with their lines.
        red_keys: Indices of the right column's labels in red.
    """

    title: str
    queries: Units
    keys: Units
    weights: np.ndarray
    red: Collection[int] = ()
    red_keys: Collection[int] = ()


def draw(attention: InputAttention, head: Head, *, min_weight: float = 0.0, title: str = "") -> str:
    """An SVG document; lines under `min_weight` are left out, special tokens are gray."""
    panel = Panel(title, attention.queries, attention.keys, attention.weights[head])
    return _document(ALONE.width, _height(panel, ALONE), _parts(panel, ALONE, min_weight))


def draw_side_by_side(panels: Sequence[Panel], across: int = 3, min_weight: float = 0.01) -> str:
    """Several heads in one SVG document, as many `across` as in the paper's figures."""
    parts, top = [], 0
    for start in range(0, len(panels), across):
        row = panels[start : start + across]
        for column, panel in enumerate(row):
            parts += [f'<g transform="translate({column * BESIDE.width},{top})">', *_parts(panel, BESIDE, min_weight)]
            parts.append("</g>")
        top += max(_height(panel, BESIDE) for panel in row)
    return _document(across * BESIDE.width, top, parts)


def _document(width: int, height: int, parts: Sequence[str]) -> str:
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' font-family="sans-serif" font-size="14">'
    )
    return "\n".join([start, f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>"])


def _height(panel: Panel, size: Measures) -> int:
    return size.row * (max(len(panel.queries), len(panel.keys)) + 2)


def _parts(panel: Panel, size: Measures, min_weight: float) -> list[str]:
    title, left = escape(panel.title.translate(PICTURES)), size.column - 8
    return [
        f'<title>{title}</title><text x="{size.width / 2}" y="15" text-anchor="middle">{title}</text>',
        *_lines(panel, size, min_weight),
        *_column(panel.queries, left, "end", size, panel.red),
        *_column(panel.keys, size.width - left, "start", size, panel.red_keys),
    ]


def _lines(panel: Panel, size: Measures, min_weight: float) -> list[str]:
    """The darkest last, so that they lie on top, and red ones on top of all."""
    i, j = np.nonzero(panel.weights >= max(min_weight, FAINT))
    red = np.isin(i, list(panel.red)) | np.isin(j, list(panel.red_keys))
    order = np.lexsort((panel.weights[i, j], red))
    drawn = [
        f'<line x1="{size.column}" y1="{_middle(a, size)}" x2="{size.column + size.between}" y2="{_middle(b, size)}" '
        f'stroke-opacity="{panel.weights[a, b]:.3f}"{f" stroke={RING!r}" if is_red else ""}/>'
        for a, b, is_red in zip(i[order], j[order], red[order], strict=True)
    ]
    return [f'<g stroke="{INK}" stroke-width="1.6">', *drawn, "</g>"]


def _column(units: Units, x: int, anchor: str, size: Measures, red: Collection[int]) -> list[str]:
    """Labels, each in a direction of its own: Arabic beside English stays in order."""
    return [
        f'<text x="{x}" y="{_middle(row, size) + 5}" text-anchor="{anchor}" unicode-bidi="isolate" '
        f'fill="{_color(label, special, row in red)}">{escape(shorten(label, size.letters))}</text>'
        for row, (label, special) in enumerate(zip(units.labels, units.special, strict=True))
    ]


def _color(label: str, special: bool, red: bool) -> str:
    return RING if red or label == "[MASK]" else SPECIAL if special else INK


def _middle(row: int, size: Measures) -> int:
    return size.row * (int(row) + 1) + size.row // 2 + 4
