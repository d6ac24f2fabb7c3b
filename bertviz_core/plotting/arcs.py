"""A sentence as inline SVG in the page's color, all texts escaped: gold arcs above the words, guesses below them."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from bertviz_core.models.labels import PICTURES, columns, isolated, right_to_left

RIGHT, WRONG = "#2b9348", "#e03131"
# In pixels.
SIZE = 14  # of letters
GAP = 20  # between words
STEP = 17  # between arcs
LABEL = 13  # of an arc's label
LETTER = 0.56 * SIZE  # pixels, how wide a letter is


@dataclass(frozen=True)
class Arc:
    """An arrow to a word from its governor, words counted from 0."""

    word: int
    governor: int  # -1 for the root
    label: str = ""
    note: str = ""  # shown on hover
    right: bool | None = None  # None for gold
    faint: bool = False  # only gives context


def gold_arc(words: Sequence[str], word: int, governor: int, relation: str, *, shown: bool = True) -> Arc:
    """The treebank's arrow to a word (from 0) from its governor (from 1, 0 for the root), faint if not `shown`."""
    note = f"{relation}: {isolated(words[word])} ← {isolated(words[governor - 1]) if governor else 'root'}"
    return Arc(word, governor - 1, relation if shown else "", note, faint=not shown)


def sentence_svg(words: Sequence[str], gold: Sequence[Arc], guesses: Sequence[Arc], name: str = "") -> str:
    """The drawing; `name` says in words what it shows. The first word is at the right where writing begins there."""
    middles, width = [], GAP / 2
    for word in words:
        wide = columns(word) * LETTER
        middles.append(width + wide / 2)
        width += max(wide, 12) + GAP
    if right_to_left(words):
        middles = [width - middle for middle in middles]
    above, below = _levels(gold), _levels(guesses)
    base = LABEL + STEP * (max(above, default=0) + 1)
    height = base + SIZE + 14 + (LABEL + STEP * (max(below, default=0) + 1) if guesses else 0)
    marked = {arc.word for arc in gold if not arc.faint}
    parts = [_arc(arc, middles, level, base - 4, -1) for arc, level in zip(gold, above, strict=True)]
    parts += [_arc(arc, middles, level, base + SIZE + 8, 1) for arc, level in zip(guesses, below, strict=True)]
    for index, (word, middle) in enumerate(zip(words, middles, strict=True)):
        weight = 700 if index in marked else 400
        parts.append(_text(word, f"{middle:.0f}", f"{base + SIZE}", f'font-size="{SIZE}" font-weight="{weight}"'))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="{_escaped(name)}" font-family="inherit">{"".join(parts)}</svg>'
    )


def _text(text: str, x: str, y: str, look: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle" fill="currentColor" {look}>{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    """Escape a text for XML, with control characters as their pictures, since XML cannot hold them."""
    return escape(text.translate(PICTURES))


def _levels(arcs: Sequence[Arc]) -> list[int]:
    """How high each arc must go to pass over the arcs inside it; arrows from the root come from above all."""
    spans = [(min(arc.word, arc.governor), max(arc.word, arc.governor)) for arc in arcs]
    levels = [0] * len(arcs)
    skyline = np.zeros(2 * max((end for _, end in spans), default=0) + 1, dtype=np.int64)  # words, and gaps between
    for index in sorted(range(len(arcs)), key=lambda p: spans[p][1] - spans[p][0]):
        start, end = spans[index]
        if arcs[index].governor < 0:
            continue
        below = skyline[2 * start + (start < end) : 2 * end + (start == end)]
        levels[index] = 1 + int(below.max())
        below[:] = levels[index]
    top = 1 + max(levels, default=0)
    return [top if arc.governor < 0 else level for arc, level in zip(arcs, levels, strict=True)]


def _arc(arc: Arc, middles: Sequence[float], level: int, base: float, sign: int) -> str:
    """One arrow, up (sign -1) or down (sign 1) from the line at `base`, its label and its hover text."""
    color = "currentColor" if arc.right is None else RIGHT if arc.right else WRONG
    to = middles[arc.word]
    peak = base + sign * STEP * level
    if arc.governor < 0:
        path = f"M{to:.1f},{peak:.1f} L{to:.1f},{base:.1f}"
        middle = to
    else:
        # A word's own arrow ends in its middle; those that leave it start a little aside.
        start = middles[arc.governor] + (4 if to > middles[arc.governor] else -4)
        bend = min(10.0, abs(to - start) / 2) * (1 if to > start else -1)
        path = (
            f"M{start:.1f},{base:.1f} C{start:.1f},{peak:.1f} {start:.1f},{peak:.1f} {start + bend:.1f},{peak:.1f} "
            f"L{to - bend:.1f},{peak:.1f} C{to:.1f},{peak:.1f} {to:.1f},{peak:.1f} {to:.1f},{base:.1f}"
        )
        middle = (start + to) / 2
    foot = base + sign * 6
    tip = f"M{to - 3.5:.1f},{foot:.1f} L{to:.1f},{base:.1f} L{to + 3.5:.1f},{foot:.1f}"
    dash = ' stroke-dasharray="4 3"' if arc.right is False else ""
    label = _text(arc.label, f"{middle:.1f}", f"{peak + (-3 if sign < 0 else 11):.1f}", 'font-size="11"')
    return (
        f'<g opacity="{0.28 if arc.faint else 1}"><title>{_escaped(arc.note)}</title>'
        f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{1 if arc.faint else 1.6}"{dash}/>'
        f'<path d="{tip}" fill="none" stroke="{color}" stroke-width="1.4"/>{label if arc.label else ""}</g>'
    )
