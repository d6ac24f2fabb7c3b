"""A document as SVG: words in lines, mentions underlined in the color of their chain, a curve from each mention to
the mention that a head guesses. Built as a tree of elements, so that no word can ever be markup.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from bertviz_core.analyses.coreference_heads.documents import Guess
from bertviz_core.errors import shorten
from bertviz_core.models.labels import PICTURES, columns, isolated, right_to_left

COLUMNS = 104  # letters in a line
BESIDE = 30  # pixels at the right, for the weight of a line's last word
LETTER = 8.4  # pixels, of a monospaced letter
LINE = 56  # pixels from one line to the next
TEXT = 36  # from the top of a line to the feet of its letters
RISE = 13  # of the letters, with a little air
CHAIN_COLORS = ("#4c6ef5", "#e8890c", "#0c9aa8", "#9c36b5", "#2b9348", "#d6336c", "#8a6d1a", "#5f7d95")
ALONE = "#8c8c8c"  # a chain of one mention
RIGHT, WRONG = "#2b9348", "#e03131"
DEEPEST = 3  # underlines below one another


@dataclass(frozen=True)
class Place:
    """A word's letters: pixels from the left, width, and line."""

    x: float
    width: float
    line: int

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def feet(self) -> float:
        return self.line * LINE + TEXT


def draw(document: Mapping[str, Any], guesses: Sequence[Guess], ink: str = "#1f2430") -> str:
    """`document` as a result keeps it (words, sentences, mentions [start, end, cluster, head, type]); one SVG element.

    ink: the color of the words.   A right guess is a solid green curve with a tick, a wrong one red, dashed, with a
    cross, at the mention; the fainter, the less attention.
    """
    boxes = _flow(document["words"], set(document["sentences"]))
    height = (boxes[-1].line + 1) * LINE if boxes else LINE
    width = COLUMNS * LETTER + BESIDE
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {width:.0f} {height}",
        "width": f"{width:.0f}",
        "role": "img",
        "fill": ink,
        "font-family": "ui-monospace, Menlo, Consolas, monospace",
        "font-size": "14",
    }
    svg = ET.Element("svg", attributes)
    name = shorten(document["name"], COLUMNS).translate(PICTURES)
    _add(svg, "title", f"{name}: mentions by chain, and the head's guesses")
    colors = _colors(document["mentions"])
    for mention, depth in zip(document["mentions"], _depths(document["mentions"]), strict=True):
        _underline(svg, boxes, mention, depth, colors[mention[2]])
    heads = {mention[3] for mention in document["mentions"]}
    for index, (word, position) in enumerate(zip(document["words"], boxes, strict=True)):
        _word(svg, _shown(word), position, index in heads)
    free = rooms(boxes)
    for guess in guesses:
        _curve(svg, document, boxes, free, guess)
    return ET.tostring(svg, encoding="unicode")


def _flow(words: Sequence[str], starts: set[int]) -> list[Place]:
    """Words one after the other, a new line for each sentence and where a line is full; from the right where the
    writing begins there."""
    boxes: list[Place] = []
    column, line, mirrored = 0, -1, right_to_left(words)
    for index, word in enumerate(words):
        length = columns(_shown(word))
        if index in starts or line < 0 or column + length > COLUMNS:
            column, line = 0, line + 1
        first = COLUMNS - column - length if mirrored else column
        boxes.append(Place(first * LETTER, length * LETTER, line))
        column += length + 1
    return boxes


def _shown(word: str) -> str:
    """A word as it is drawn: cut where it would not fit a line, with question marks for what XML cannot hold."""
    short = word if len(word) <= COLUMNS // 2 else word[: COLUMNS // 2 - 1] + "…"
    return "".join(letter if letter.isprintable() else "?" for letter in short) or "?"


def _colors(mentions: Sequence[Sequence[Any]]) -> dict[int, str]:
    """A color for each chain of two mentions or more, in order of appearance."""
    sizes = Counter(mention[2] for mention in mentions)
    several = [chain for chain, size in sizes.items() if size > 1]
    known = {chain: CHAIN_COLORS[i % len(CHAIN_COLORS)] for i, chain in enumerate(several)}
    return {chain: known.get(chain, ALONE) for chain in sizes}


def _depths(mentions: Sequence[Sequence[Any]]) -> list[int]:
    """How deep each mention's underline is: the number of mentions nested inside it, the innermost closest to the
    words.

    One sweep from the last start to the first, shorter spans before longer ones of the same start: what stands inside a
    span has been seen, and began no earlier, so that its end alone decides.
    """
    sizes = Counter((mention[0], mention[1]) for mention in mentions)
    first_end = [math.inf] * (DEEPEST + 1)  # of the spans seen, the first end of one with a nest of that depth or more
    depth: dict[tuple[int, int], int] = {}
    for start, end in sorted(sizes, key=lambda span: (-span[0], span[1])):
        inside = max((nest for nest in range(DEEPEST + 1) if first_end[nest] <= end), default=-1) + 1
        depth[start, end] = min(DEEPEST, inside + sizes[start, end] - 1)
        for nest in range(depth[start, end] + 1):
            first_end[nest] = min(first_end[nest], end)
    return [depth[mention[0], mention[1]] for mention in mentions]


def _underline(svg: ET.Element, boxes: Sequence[Place], mention: Sequence[Any], depth: int, color: str) -> None:
    """Draw a bar under the mention's words in every line that it touches."""
    spans: dict[int, list[Place]] = {}
    for position in boxes[mention[0] : mention[1]]:
        spans.setdefault(position.line, []).append(position)
    for words in spans.values():
        y = words[0].feet + 5 + 4 * depth
        x, end = min(word.x for word in words), max(word.x + word.width for word in words)
        _add(svg, "rect", x=x, y=y, width=end - x, height="2.5", rx="1", fill=color)


def _word(svg: ET.Element, word: str, position: Place, is_head: bool) -> None:
    bold = {"font_weight": "700"} if is_head else {}
    size = {"textLength": position.width, "lengthAdjust": "spacingAndGlyphs"}
    _add(svg, "text", word, x=position.x, y=position.feet, **size, **bold)


def _add(parent: ET.Element, tag: str, text: str | None = None, **attributes: Any) -> ET.Element:
    """Add an element: numbers are pixels, and an underscore in a name is a hyphen."""
    shown = {name.replace("_", "-"): v if isinstance(v, str) else f"{v:.1f}" for name, v in attributes.items()}
    element = ET.SubElement(parent, tag, shown)
    element.text = text
    return element


def _curve(
    svg: ET.Element,
    document: Mapping[str, Any],
    boxes: Sequence[Place],
    free: Mapping[int, set[float]],
    guess: Guess,
) -> None:
    """Draw the curve from above the mention's head word to above the guessed one's."""
    source, target = (boxes[document["mentions"][index][3]] for index in (guess.mention, guess.guessed))
    (x1, y1), (x2, y2) = ((position.middle, position.feet - RISE) for position in (source, target))
    if source.line == target.line:
        lift = 8 + min(12, abs(x1 - x2) / 14)
        path = f"M{x1:.1f},{y1:.1f} C{x1:.1f},{y1 - lift:.1f} {x2:.1f},{y2 - lift:.1f} {x2:.1f},{y2:.1f}"
    else:
        points = route(free, source, target, 5 + 3 * (guess.mention % 4))
        path = "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    color, mark = (RIGHT, "✓") if guess.right else (WRONG, "✗")
    dashed = {} if guess.right else {"stroke_dasharray": "4 3"}
    stroke = {"stroke": color, "stroke_width": "1.6", "stroke_linejoin": "round"}
    group = _add(svg, "g")
    _add(group, "title", described(document, guess))
    opacity = f"{0.5 + 0.5 * min(1.0, 3 * guess.weight):.2f}"
    _add(group, "path", d=path, fill="none", **stroke, **dashed, opacity=opacity)
    _add(group, "circle", cx=x2, cy=y2, r="2.2", fill=color)
    label = _add(group, "text", mark, x=x1 + 3, y=y1 + 1, font_size="13", font_weight="700")
    _add(label, "tspan", f" {guess.weight:.2f}", font_size="11", font_weight="400")


def rooms(boxes: Sequence[Place]) -> dict[int, set[float]]:
    """Line -> pixels from the left at which something can pass between its words, or after them."""
    free: dict[int, set[float]] = {}
    for position in boxes:
        beside = (position.x - LETTER / 2, position.x + position.width + LETTER / 2)
        free.setdefault(position.line, set()).update(x for x in beside if x > 0)
    return free


def route(free: Mapping[int, set[float]], source: Place, target: Place, lift: float) -> list[tuple[float, float]]:
    """The way of a curve from above one word to above a word of another line: along the gaps between lines, and through
    each line that lies between where two words leave room.

    Args:
        free: As `rooms` gives it.
        source, target: Words of different lines.
        lift: Pixels above the words' tops at which the way runs along.

    Returns:
        Corners (x, y) in pixels.
    """
    up = target.line < source.line
    crossed = range(source.line - 1, target.line - 1, -1) if up else range(source.line, target.line)
    x, y = source.middle, source.feet - RISE - lift
    points = [(source.middle, source.feet - RISE), (x, y)]
    for line in crossed:
        x = min(free[line], key=lambda room: (abs(room - x) + abs(room - target.middle), room))
        points.append((x, y))
        y += -LINE if up else LINE
        points.append((x, y))
    return [*points, (target.middle, y), (target.middle, target.feet - RISE)]


def described(document: Mapping[str, Any], guess: Guess) -> str:
    """The guess as text, for those who cannot see the curve."""
    source, target = (mention_text(document, index) for index in (guess.mention, guess.guessed))
    return f"{isolated(source)} → {isolated(target)}: {guess.weight:.2f}, {'right' if guess.right else 'wrong'}"


def mention_text(document: Mapping[str, Any], index: int) -> str:
    """A mention's words, the first twelve of them."""
    start, end = document["mentions"][index][:2]
    return " ".join(_shown(word) for word in document["words"][start:end][:12])
