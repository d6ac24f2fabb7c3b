"""A document as SVG, built as a tree of elements, so that no word is markup: mentions are underlined in the color of
their chain, and boxes and curves say what a head guesses of them, and whether it is right."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle, groupby, zip_longest
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from bertviz_core.analyses.coreference_heads.result import DocumentRecord
from bertviz_core.errors import shorten
from bertviz_core.plotting.arcs import RIGHT, WRONG
from bertviz_core.text_display import PICTURES, cut_end, isolated, right_to_left, sans_serif_width

WIDTH = 790  # pixels of a line
LONGEST = 46  # letters of a word that is named
NAME = 94  # letters of a document's name
LABEL = 52  # pixels of a mark with a weight
SIZE = 14  # pixels of letters
BOLD = 1.07  # times the width of other letters
SPACE = 5  # pixels between words
LANE = 6  # pixels between curves one above another
TEXT = 17  # pixels from the lowest lane above a line to the baseline of its letters
BELOW = 20  # pixels below the baseline, for underlines
RISE = 13  # pixels of the letters above the baseline
MARK = 15  # pixels of a mark above the letters
CHAIN_COLORS = ("#4c6ef5", "#cc7000", "#0c9aa8", "#9c36b5", "#2b9348", "#d6336c", "#8a6d1a", "#5f7d95")
ALONE = "#8c8c8c"  # color of a chain of one mention
DEEPEST = 3  # the most underlines below the first
Span = tuple[int, float, float]  # a stretch of a line: its number, from, to


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
        """The middle of the letters, in pixels from the left."""
        return self.x + self.width / 2


def draw(document: DocumentRecord, guesses: Sequence[Guess], width: int = WIDTH) -> str:
    """Draw a document as results store it, in lines of so many pixels. The head word of a mention has a box, of a
    right guess a green one with a tick, of a wrong one a red, dashed one with a cross; curves within a line are the
    fainter, the less attention."""
    mentions = document["mentions"]
    heads = {mention[3] for mention in mentions}
    longest = int(width / SIZE)
    words = [_shown(word, longest) for word in document["words"]]
    boxes = _flow(words, set(document["sentences"]), heads, width)
    baselines, curves = _laid_out(boxes, mentions, guesses)
    height = (baselines[-1] if boxes else TEXT) + BELOW
    whole = width + LABEL
    view = {"viewBox": f"-3 0 {whole} {height:.0f}", "width": f"{whole}", "role": "img"}
    look = {"fill": "currentColor", "font-family": "sans-serif", "font-size": f"{SIZE}"}
    svg = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg"} | view | look)
    name = shorten(document["name"], NAME).translate(PICTURES)
    _add(svg, "title", f"{name}: mentions by chain, and the head's guesses")
    _underline(svg, mentions, boxes, baselines)
    for index, (word, box) in enumerate(zip(words, boxes, strict=True)):
        weight = {"font_weight": "700"} if index in heads else {}
        place = {"x": box.x, "y": baselines[box.line], "textLength": box.width}
        _add(svg, "text", word, **place, lengthAdjust="spacingAndGlyphs", **weight)
    for guess, curve, room in zip(guesses, curves, _rooms(curves), strict=True):
        _guess(svg, document, curve, guess, room)
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


def _flow(words: Sequence[str], starts: set[int], heads: set[int], width: float) -> list[WordBox]:
    """Words in lines of so many pixels, a new one for each sentence, the heads of mentions in bold letters; from the
    right where writing begins there."""
    boxes: list[WordBox] = []
    x = 0.0
    line = -1
    mirrored = right_to_left(words)
    for index, (word, after) in enumerate(zip_longest(words, words[1:], fillvalue="")):
        length = sans_serif_width(word) * SIZE * (BOLD if index in heads else 1)
        # Room is left for a full stop or a comma, which must not begin a line.
        behind = SPACE + SIZE / 2 if len(after) == 1 and not after.isalnum() else 0
        if index in starts or line < 0 or x + length + behind > width:
            x, line = 0.0, line + 1
        boxes.append(WordBox(width - x - length if mirrored else x, length, line))
        x += length + SPACE
    return boxes


def _shown(word: str, longest: int = LONGEST) -> str:
    """A word as it is drawn: cut where it would not fit a line, with question marks for what XML cannot hold."""
    short = cut_end(word, longest)
    return "".join(letter if letter.isprintable() else "?" for letter in short) or "?"


def _add(parent: ET.Element, tag: str, text: str | None = None, **attributes: object) -> ET.Element:
    """Add an element: numbers are pixels, and an underscore in a name is a hyphen."""
    shown = {name.replace("_", "-"): v if isinstance(v, str) else f"{v:.1f}" for name, v in attributes.items()}
    element = ET.SubElement(parent, tag, shown)
    element.text = text
    return element


def _guess(svg: ET.Element, document: DocumentRecord, line: "Curve", guess: Guess, room: float) -> None:
    """Draw a guess: a box around the mention's head word, its mark and weight above it where there is `room`, and a
    curve to the guessed mention, which is shown if it is on the same line and, in a browser, while one points at the
    box."""
    color, mark = (RIGHT, "✓") if guess.right else (WRONG, "✗")
    dashed = {} if guess.right else {"stroke_dasharray": "4 3"}
    stroke = {"stroke": color, "stroke_width": "1.6", "stroke_linejoin": "round"}
    group = _add(svg, "g")
    source, target = (isolated(mention_text(document, index)) for index in (guess.mention, guess.guessed))
    _add(group, "title", f"{source} → {target}: {guess.weight:.3f}, {'right' if guess.right else 'wrong'}")
    box = line.box
    bounds: dict[str, Any] = {"x": box.x - 2, "y": line.baseline - RISE, "width": box.width + 4, "height": RISE + 3.0}
    _add(group, "rect", **bounds, rx="3", fill=color, fill_opacity="0.18", stroke=color, **dashed)
    opacity = f"{0.5 + 0.5 * min(1.0, 3 * guess.weight):.2f}" if line.is_shown else "0"
    _add(group, "path", d=line.path, fill="none", pointer_events="none", **stroke, **dashed, opacity=opacity)
    # No green or red has enough contrast for small text in both themes: the mark has the color of the words.
    label = _add(group, "text", mark, x=box.x, y=line.baseline - RISE - 3, font_size="12", font_weight="700")
    if room >= LABEL:
        _add(label, "tspan", f" {guess.weight:.3f}", font_size="11", font_weight="400")


class Curve(NamedTuple):
    """Where a guess is drawn.

    Attributes:
        box: The head word of the mention.
        baseline: The baseline of its line, in pixels from the top.
        path: The curve to the guessed mention.
        is_shown: Whether both are on one line, so that the curve crosses no word.
    """

    box: WordBox
    baseline: float
    path: str
    is_shown: bool


def _laid_out(
    boxes: Sequence[WordBox], mentions: Sequence[Sequence[Any]], guesses: Sequence[Guess]
) -> tuple[list[float], list[Curve]]:
    """Make room above the lines for the curves within them. Returns the baseline of each line's letters, and where each
    guess is drawn."""
    ends = [(boxes[mentions[guess.mention][3]], boxes[mentions[guess.guessed][3]]) for guess in guesses]
    within = [(source.line, source.middle, target.middle) for source, target in ends if source.line == target.line]
    rooms = [TEXT] * (boxes[-1].line + 1 if boxes else 0)
    marked = {source for source, _ in ends}
    for box in marked:
        rooms[box.line] = TEXT + MARK
    levels = lanes(within)
    lowest = list(rooms)
    for (line, *_), lane in zip(within, levels, strict=True):
        rooms[line] = max(rooms[line], lowest[line] + LANE * (lane + 1))
    baselines: list[float] = [height - BELOW for height in accumulate(room + BELOW for room in rooms)]
    next_level = iter(levels)
    curves = []
    for source, target in ends:
        # Curves end above the marks.
        start, end = (baselines[box.line] - RISE - MARK * (box in marked) for box in (source, target))
        is_shown = source.line == target.line
        if is_shown:
            top = baselines[source.line] - TEXT - MARK - LANE * next(next_level)
            corners = [(source.middle, start), (source.middle, top), (target.middle, top), (target.middle, end)]
            path = "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        else:
            half = (start + end) / 2
            path = f"M{source.middle:.1f},{start:.1f} C{source.middle:.1f},{half:.1f} {target.middle:.1f},{half:.1f} "
            path += f"{target.middle:.1f},{end:.1f}"
        curves.append(Curve(source, baselines[source.line], path, is_shown))
    return baselines, curves


def _rooms(curves: Sequence[Curve]) -> list[float]:
    """The pixels above the line from the left of each guess's word to that of the next one on its line."""
    lefts = [(curve.box.line, curve.box.x) for curve in curves]
    return [min((x - left for line, x in lefts if line == at and x > left), default=LABEL) for at, left in lefts]


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


def mention_text(document: DocumentRecord, index: int) -> str:
    """The first twelve words of a mention."""
    start, end = document["mentions"][index][:2]
    words = document["words"][start:end]
    return " ".join(map(_shown, words[:12]))
