"""Colors and markers with one meaning in every figure; without plotly, so that the registry can read them."""

from __future__ import annotations

Marker = tuple[str, str]  # color, plotly symbol: the symbol can be read without the color

NEUTRAL: Marker = ("#8c8c8c", "circle-open")
PREVIOUS: Marker = ("#2f7fd1", "triangle-left")
NEXT: Marker = ("#e03131", "triangle-right")
BROAD: Marker = ("#e8890c", "triangle-up")
CLS: Marker = ("#9c36b5", "diamond")
SEP: Marker = ("#2b9348", "circle")
PUNCTUATION: Marker = ("#0c9aa8", "square")
OTHER_TO_SEP: Marker = ("#e8890c", "diamond-open")
# Classes of tokens: name, marker.
TOKENS: dict[str, tuple[str, Marker]] = {
    "sep": ("[SEP]", SEP),
    "punct": (". or ,", PUNCTUATION),
    "cls": ("[CLS]", CLS),
    "other": ("other tokens", NEUTRAL),
}
