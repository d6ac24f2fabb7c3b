"""Heads that are the best at finding something, with inputs that show it: on the overview and in a report."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.head_figures import HeadRow
from bertviz_core.analyses.base.shown_inputs import Example
from bertviz_core.heads import Head


class MarkedInput(NamedTuple):
    """An input, and the words that it is about.

    Attributes:
        marked: The words that it is about, numbered from 0.
    """

    where: str
    words: tuple[str, ...]
    marked: tuple[int, ...]


class DrawnExample(NamedTuple):
    """An input as the overview shows it."""

    input: MarkedInput
    svg: str


class ChosenHeads(NamedTuple):
    """The heads that find something best on each half of a corpus.

    Attributes:
        name: What they find, as a relation.
        heads: One head where both halves choose the same, else two, in the order of layers.
        is_found: Whether heads are shown to find it: on the other half, above every baseline that needs no model.
    """

    name: str
    heads: tuple[Head, ...]
    is_found: bool


@dataclass(frozen=True)
class FoundHead:
    """The head that finds something best.

    Attributes:
        name: What it finds, as a relation.
        text: How much of that, as it is shown.
        is_of_keys: Whether the marked words of inputs are keys, else queries.
        inputs: Lists inputs that show it, the surest first; a report draws the attention on the first short one.
        counted: Which words are counted, where those are not all.
        baseline: The number of a baseline with its name, beside which a report lists the head; empty for none.
        finding: What it comes to, which the overview says above the drawings; None where it has none.
        target: On which the page of the analysis opens for more.
        more: The link to that.
        draw: Draws the inputs that the overview shows.
    """

    head: Head
    name: str
    text: str
    is_of_keys: bool
    inputs: Callable[[], Iterable[MarkedInput]]
    counted: str = ""
    baseline: str = ""
    finding: Finding | None = None
    target: str = ""
    more: str = ""
    draw: Callable[[], list[DrawnExample]] = list


def _no_drawing(words: Sequence[str], weights: np.ndarray) -> str:
    return ""


@dataclass(frozen=True)
class HeadRole:
    """Something that an analysis names a head for, with the evidence.

    Attributes:
        name: What the head finds, as in `NamedHead`.
        row: The number for which it is named.
        summary: What it does, after its name, as "finds direct objects in 79 of 100".
        finding: What that comes to.
        examples: Lists stored inputs that show it, drawn, the clearest first, of so many characters at most where there
            are such; empty where none are stored.
        draw: Draws the head on a reader's sentence as on these inputs, of its words and the (query, key) weights
            between them; empty where lines say it.
    """

    name: str
    row: HeadRow
    summary: str
    finding: Finding
    examples: Callable[[int], list[Example]]
    draw: Callable[[Sequence[str], np.ndarray], str] = _no_drawing
