"""A document as SVG, built as a tree of elements, so that no word is markup: mentions are underlined in the color of
their chain, and curves lead to the mentions that a head guesses."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, cycle, groupby, zip_longest
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from bertviz_core.errors import shorten
from bertviz_core.plotting.arcs import RIGHT, WRONG
from bertviz_core.writing import PICTURES, columns, isolated, right_to_left

COLUMNS = 94  # letters in a line
BESIDE = 48  # pixels at the right, for the weight of a line's last word
LETTER = 8.4  # width of a monospaced letter in pixels
LANE = 6  # pixels between curves side by side
TEXT = 32  # pixels from the lowest lane above a line to the baseline of its letters
BELOW = 20  # pixels below the baseline, for underlines
RISE = 13  # pixels of the letters above the baseline
CHAIN_COLORS = ("#4c6ef5", "#e8890c", "#0c9aa8", "#9c36b5", "#2b9348", "#d6336c", "#8a6d1a", "#5f7d95")
ALONE = "#8c8c8c"  # color of a chain of one mention
DEEPEST = 3  # the most underlines below the first
Point = tuple[float, float]  # pixels from the left and from the top
Span = tuple[int, float, float]  # a stretch of a curve: its line or side, from, to


@dataclass(frozen=True)
class Guess:
    """A head's guess for a mention; mentions are indices in the document's list.

    Attributes:
        mention: The mention that is scored, an index in the document's list.
        guessed: The mention that the head guesses, likewise.
        weight: The attention between the two, 0 to 1.
        right: Whether the guessed mention is an antecedent.
    """

    mention: int
    guessed: int
    weight: float
    right: bool


class WordBox(NamedTuple):
    """Where a word's letters stand in the drawing.

    Attributes:
        x: Pixels from the left.
        width: Pixels.
        line: The line, from 0.
    """

    x: float
    width: float
    line: int

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def draw(document: Mapping[str, Any], guesses: Sequence[Guess], letters: int = COLUMNS) -> str:
    """Draw a document as results store it, in lines of so many letters. Right guesses are solid green curves with a
    tick, wrong ones red, dashed, with a cross; the fainter, the less attention."""
    words = document["words"]
    mentions = document["mentions"]
    boxes = _flow(words, set(document["sentences"]), letters)
    baselines, curves = _laid_out(boxes, mentions, guesses)
    xs = [x for x, _ in chain(*curves)]
    left = min(0.0, min(xs, default=0.0) - LANE)
    width = max(letters * LETTER + BESIDE, max(xs, default=0.0) + LANE) - left
    height = (baselines[-1] if boxes else TEXT) + BELOW
    view = {"viewBox": f"{left:.0f} 0 {width:.0f} {height:.0f}", "width": f"{width:.0f}", "role": "img"}
    look = {"fill": "currentColor", "font-family": "ui-monospace, Menlo, Consolas, monospace", "font-size": "14"}
    svg = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg"} | view | look)
    name = shorten(document["name"], COLUMNS).translate(PICTURES)
    _add(svg, "title", f"{name}: mentions by chain, and the head's guesses")
    _underline(svg, mentions, boxes, baselines)
    heads = {mention[3] for mention in mentions}
    for index, (word, box) in enumerate(zip(words, boxes, strict=True)):
        weight = {"font_weight": "700"} if index in heads else {}
        _add(
            svg,
            "text",
            _shown(word, letters),
            x=box.x,
            y=baselines[box.line],
            textLength=box.width,
            lengthAdjust="spacingAndGlyphs",
            **weight,
        )
    for guess, curve in zip(guesses, curves, strict=True):
        _curve(svg, document, curve, guess)
    return ET.tostring(svg, encoding="unicode")


def _underline(
    svg: ET.Element, mentions: Sequence[Sequence[Any]], boxes: Sequence[WordBox], baselines: Sequence[float]
) -> None:
    """Underline the mentions in the color of their chain, an outer one below an inner one."""
    sizes = Counter(mention[2] for mention in mentions)
    several = [chain for chain, size in sizes.items() if size > 1]
    colors = dict(zip(several, cycle(CHAIN_COLORS)))
    depths = lanes([(0, start, end - 1) for start, end, *_ in mentions], DEEPEST)
    for (start, end, cluster, *_), depth in zip(mentions, depths, strict=True):
        for line, of_line in groupby(boxes[start:end], key=lambda box: box.line):
            words = list(of_line)
            left = min(box.x for box in words)
            right = max(box.x + box.width for box in words)
            _add(
                svg,
                "rect",
                x=left,
                y=baselines[line] + 5 + 4 * depth,
                width=right - left,
                height="2.5",
                rx="1",
                fill=colors.get(cluster, ALONE),
            )


def _flow(words: Sequence[str], starts: set[int], letters: int) -> list[WordBox]:
    """Words in lines of so many letters, a new one for each sentence; from the right where writing begins there."""
    boxes: list[WordBox] = []
    column = 0
    line = -1
    mirrored = right_to_left(words)
    for index, (word, after) in enumerate(zip_longest(words, words[1:], fillvalue="")):
        length = columns(_shown(word, letters))
        behind = 2 if len(after) == 1 and not after.isalnum() else 0  # a full stop or comma begins no line of its own
        if index in starts or line < 0 or column + length + behind > letters:
            column, line = 0, line + 1
        first = letters - column - length if mirrored else column
        boxes.append(WordBox(first * LETTER, length * LETTER, line))
        column += length + 1
    return boxes


def _shown(word: str, letters: int = COLUMNS) -> str:
    """A word as it is drawn: cut where it would not fit a line, with question marks for what XML cannot hold."""
    short = word if len(word) <= letters // 2 else word[: letters // 2 - 1] + "…"
    return "".join(letter if letter.isprintable() else "?" for letter in short) or "?"


def _add(parent: ET.Element, tag: str, text: str | None = None, **attributes: Any) -> ET.Element:
    """Add an element: numbers are pixels, and an underscore in a name is a hyphen."""
    shown = {name.replace("_", "-"): v if isinstance(v, str) else f"{v:.1f}" for name, v in attributes.items()}
    element = ET.SubElement(parent, tag, shown)
    element.text = text
    return element


def _curve(svg: ET.Element, document: Mapping[str, Any], corners: Sequence[Point], guess: Guess) -> None:
    """Draw a guess along its corners, from above the mention's head word to above the guessed one's."""
    (x1, y1), (x2, y2) = corners[0], corners[-1]
    color, mark = (RIGHT, "✓") if guess.right else (WRONG, "✗")
    dashed = {} if guess.right else {"stroke_dasharray": "4 3"}
    stroke = {"stroke": color, "stroke_width": "1.6", "stroke_linejoin": "round"}
    group = _add(svg, "g")
    source, target = (isolated(mention_text(document, index)) for index in (guess.mention, guess.guessed))
    _add(group, "title", f"{source} → {target}: {guess.weight:.2f}, {'right' if guess.right else 'wrong'}")
    opacity = f"{0.5 + 0.5 * min(1.0, 3 * guess.weight):.2f}"
    path = "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    _add(group, "path", d=path, fill="none", **stroke, **dashed, opacity=opacity)
    _add(group, "circle", cx=x2, cy=y2, r="2.2", fill=color)
    label = _add(group, "text", mark, x=x1 + 3, y=y1 + 1, font_size="13", font_weight="700")
    _add(label, "tspan", f" {guess.weight:.2f}", font_size="11", font_weight="400")


def _laid_out(
    boxes: Sequence[WordBox], mentions: Sequence[Sequence[Any]], guesses: Sequence[Guess]
) -> tuple[list[float], list[list[Point]]]:
    """Make room above the lines for the guesses, and beside the text for those that lead to another line. Returns the
    baseline of each line's letters, and for each guess the corners of its curve, which crosses no word."""
    ends = [(boxes[mentions[guess.mention][3]], boxes[mentions[guess.guessed][3]]) for guess in guesses]
    right = max((box.x + box.width for box in boxes), default=0.0)
    sides = [  # the nearer side of the text, and the lines that a curve passes there
        (int(source.middle + target.middle > right), *sorted((source.line, target.line)))
        for source, target in ends
        if source.line != target.line
    ]
    passing = zip(sides, lanes(sides), strict=True)
    # The parts of each curve above a line.
    runs: list[list[Span]] = []
    for source, target in ends:
        start = source.middle + 1
        end = target.middle - 3  # a little before the middle of a word, where others begin
        if source.line == target.line:
            runs.append([(source.line, start, end)])
        else:
            (side, *_), lane = next(passing)
            beside = right + BESIDE + LANE * lane if side else -LANE * (lane + 2)
            runs.append([(source.line, start, beside), (target.line, beside, end)])
    levels = iter(lanes(list(chain(*runs))))
    placed = [[(*run, next(levels)) for run in parts] for parts in runs]
    used = [0] * (boxes[-1].line + 1 if boxes else 0)
    for line, _, _, lane in chain(*placed):
        used[line] = max(used[line], lane + 1)
    heights = accumulate(LANE * count + TEXT + BELOW for count in used)
    baselines: list[float] = [height - BELOW for height in heights]
    curves: list[list[Point]] = []
    for parts in placed:
        along: list[Point] = []
        for line, start, end, lane in parts:
            y = baselines[line] - TEXT - LANE * lane
            along += [(start, y), (end, y)]
        first = baselines[parts[0][0]] - RISE
        last = baselines[parts[-1][0]] - RISE
        curves.append([(along[0][0], first), *along, (along[-1][0], last)])
    return baselines, curves


def lanes(spans: Sequence[Span], last: int = sys.maxsize) -> list[int]:
    """The lowest lane of its group in which each span meets no other, the shortest first; `last` takes all others."""
    taken: dict[tuple[int, int], list[tuple[float, float]]] = {}
    chosen = [last] * len(spans)
    for index in sorted(range(len(spans)), key=lambda i: abs(spans[i][2] - spans[i][1])):
        group, *ends = spans[index]
        low, high = sorted(ends)
        for lane in range(last):
            others = taken.setdefault((group, lane), [])
            if all(high < a or b < low for a, b in others):
                others.append((low, high))
                chosen[index] = lane
                break
    return chosen


def mention_text(document: Mapping[str, Any], index: int) -> str:
    """The first twelve words of a mention."""
    start, end = document["mentions"][index][:2]
    words = document["words"][start:end]
    return " ".join(map(_shown, words[:12]))
