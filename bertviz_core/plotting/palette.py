"""Colors and markers with one meaning in every figure; without plotly, so that the registry can read them."""

from __future__ import annotations

Marker = tuple[str, str]  # color, plotly symbol: the symbol can be read without the color
Scale = tuple[tuple[float, str], ...]  # (share of the way from the lower to the upper limit, CSS color)
# Alpha instead of a light end: low values fade into the page, light or dark.
SEQUENTIAL: Scale = ((0.0, "rgba(76, 110, 245, 0.06)"), (1.0, "rgba(76, 110, 245, 1)"))
DIVERGING: Scale = ((0.0, "rgba(232, 137, 12, 1)"), (0.5, "rgba(140, 140, 140, 0.08)"), (1.0, "rgba(76, 110, 245, 1)"))

NEUTRAL: Marker = ("#8c8c8c", "circle-open")
PREVIOUS: Marker = ("#2f7fd1", "triangle-left")
NEXT: Marker = ("#e03131", "triangle-right")
BROAD: Marker = ("#e8890c", "triangle-up")
CLS: Marker = ("#9c36b5", "diamond")
SEP: Marker = ("#27823f", "circle")
FIRST: Marker = ("#e8590c", "star")
PUNCTUATION: Marker = ("#0b808c", "square")
OTHER_TO_SEP: Marker = ("#e8890c", "diamond-open")
# Classes of tokens: name, marker.
TOKENS: dict[str, tuple[str, Marker]] = {
    "sep": ("[SEP]", SEP),
    "punct": (". or ,", PUNCTUATION),
    "cls": ("[CLS]", CLS),
    "other": ("other tokens", NEUTRAL),
    "first": ("the first token", FIRST),
}
