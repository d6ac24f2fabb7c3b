"""A sentence as inline SVG in the page's text color, with gold arcs above the words and guesses below them."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from bertviz_core.text_display import PICTURES, display_width, isolated, right_to_left

RIGHT, WRONG = "#2b9348", "#e03131"
# In pixels
SIZE = 13  # size of letters in pixels
GAP = 17  # space between words
STEP = 14  # distance between arcs
LABEL = 13  # height of an arc's label
LETTER = 0.56 * SIZE  # width of a letter
NARROWEST = 12  # the least width of a word


@dataclass(frozen=True)
class Arc:
    """An arrow to a word from its governor.

    Attributes:
        word: The word, from 0.
        governor: Its governor, from 0; -1 for the root.
        label: The text at the arrow.
        note: The text that is shown on hover.
        right: Whether a guess is right; None for an arc of the annotation.
        faint: Whether the arc only gives context.
    """

    word: int
    governor: int
    label: str = ""
    note: str = ""
    right: bool | None = None
    faint: bool = False


def gold_arc(words: Sequence[str], word: int, governor: int, relation: str, *, shown: bool = True) -> Arc:
    """The treebank's arrow to a word (from 0) from its governor (from 1, 0 for the root), faint if not `shown`."""
    source = isolated(words[governor - 1]) if governor else "root"
    note = f"{relation}: {isolated(words[word])} ← {source}"
    return Arc(word, governor - 1, relation if shown else "", note, faint=not shown)


def sentence_svg(words: Sequence[str], gold: Sequence[Arc], guesses: Sequence[Arc], name: str = "") -> str:
    """Draw a sentence, from right to left where its writing runs so; `name` describes it for screen readers."""
    middles = []
    width = GAP / 2
    for word in words:
        word_width = display_width(word) * LETTER
        middles.append(width + word_width / 2)
        width += max(word_width, NARROWEST) + GAP
    if right_to_left(words):
        middles = [width - middle for middle in middles]
    above = _levels(gold)
    below = _levels(guesses)
    base = LABEL + STEP * max(above, default=0) + 6
    height = base + SIZE + 10 + (LABEL + STEP * max(below) if guesses else 0)
    parts = [_arc(arc, middles, level, base - 4, -1) for arc, level in zip(gold, above, strict=True)]
    parts += [_arc(arc, middles, level, base + SIZE + 8, 1) for arc, level in zip(guesses, below, strict=True)]
    marked = {arc.word for arc in gold if not arc.faint}
    for index, (word, middle) in enumerate(zip(words, middles, strict=True)):
        weight = ' font-weight="700"' if index in marked else ""
        parts.append(_text(word, f"{middle:.0f}", f"{base + SIZE}", weight))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="{escaped(name)}" font-family="sans-serif" font-size="{SIZE}" text-anchor="middle" '
        f'fill="currentColor">{"".join(parts)}</svg>'
    )


def _text(text: str, x: str, y: str, look: str) -> str:
    return f'<text x="{x}" y="{y}"{look}>{escaped(text)}</text>'


def escaped(text: str) -> str:
    """Escape a text for XML; control characters, which XML does not allow, become their pictures."""
    return escape(text.translate(PICTURES))


def _levels(arcs: Sequence[Arc]) -> list[int]:
    """The height of each arc, in steps: above the arcs inside it; arrows from the root are the highest."""
    spans = [sorted((arc.word, arc.governor)) for arc in arcs]
    last = max(map(max, spans), default=0)
    skyline = np.zeros(2 * last + 1, dtype=np.int64)  # the height of the arcs above each word and each gap
    levels = [0] * len(arcs)
    inner_first = sorted(range(len(arcs)), key=lambda index: spans[index][1] - spans[index][0])
    for index in inner_first:
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
    color = "currentColor"
    if arc.right is not None:
        color = RIGHT if arc.right else WRONG
    end = middles[arc.word]
    peak = base + sign * STEP * level
    if arc.governor < 0:
        path = f"M{end:.1f},{peak:.1f} L{end:.1f},{base:.1f}"
        middle = end
    else:
        # A word's own arrow ends in its middle; those that leave it start a little aside.
        start = middles[arc.governor]
        start += 4 if end > start else -4
        bend = min(10.0, abs(end - start) / 2) * (1 if end > start else -1)
        path = (
            f"M{start:.1f},{base:.1f} C{start:.1f},{peak:.1f} {start:.1f},{peak:.1f} {start + bend:.1f},{peak:.1f} "
            f"L{end - bend:.1f},{peak:.1f} C{end:.1f},{peak:.1f} {end:.1f},{peak:.1f} {end:.1f},{base:.1f}"
        )
        middle = (start + end) / 2
    foot = base + sign * 6
    tip = f"M{end - 3.5:.1f},{foot:.1f} L{end:.1f},{base:.1f} L{end + 3.5:.1f},{foot:.1f}"
    dash = ' stroke-dasharray="4 3"' if arc.right is False else ""
    beyond = -3 if sign < 0 else 11
    label = _text(arc.label, f"{middle:.1f}", f"{peak + beyond:.1f}", ' font-size="11"') if arc.label else ""
    faint = ' opacity=".28"' if arc.faint else ""
    stroke = f'fill="none" stroke="{color}"'
    return (
        f"<g{faint}><title>{escaped(arc.note)}</title>"
        f'<path d="{path}" {stroke} stroke-width="{1 if arc.faint else 1.6}"{dash}/>'
        f'<path d="{tip}" {stroke} stroke-width="1.4"/>{label}</g>'
    )
