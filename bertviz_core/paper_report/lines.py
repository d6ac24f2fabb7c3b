"""Figures 1 and 5 of a report: the attention of the clearest heads, each on a short input of its own."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bertviz_core.analyses.base.averages import Segment
from bertviz_core.analyses.base.found_heads import FoundHead
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result, Results
from bertviz_core.corpora import Skipped
from bertviz_core.heads import Head
from bertviz_core.inputs.encoding import Encoded, encode_words
from bertviz_core.inputs.labels import Units, layout_of
from bertviz_core.inputs.tokens import SPACE_MARKS, Tokens
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import attention
from bertviz_core.overview.clearest_heads import clearest
from bertviz_core.viewer.figure import Panel
from bertviz_core.viewer.input_attention import InputView, apply_view

# Tokens or words of an input that is drawn
MIN_DRAWN_WORDS = 5
MAX_DRAWN_WORDS = 22
SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", "؟", "।")  # what sentences end with


@dataclass(frozen=True)
class DrawnInput:
    """An input, and the head whose attention is drawn on it.

    Attributes:
        figure: Number of the paper's figure: 1 for what a head does everywhere, 5 for what it finds.
        role: What it does, and how often.
        red: Indices of the words whose lines are red, special tokens not counted.
        red_keys: Whether these words are in the right column, of the tokens attended to.
    """

    figure: int
    head: Head
    role: str
    example: Encoded
    red: Sequence[int] = ()
    red_keys: bool = False


@dataclass(frozen=True)
class AttentionExample:
    """The attention of one head on one input. It is stored, so that a report on stored results runs no model.

    Attributes:
        figure: The number of the paper's figure.
        title: The head and its role.
        labels: Labels of the tokens or words.
        special: Whether each is a special token.
        red: Rows whose lines are red.
        red_keys: Whether these are rows of the right column.
        weights: (query, key) attention.
    """

    figure: int
    title: str
    where: str
    labels: list[str]
    special: list[bool]
    red: list[int]
    red_keys: bool
    weights: np.ndarray

    @property
    def panel(self) -> Panel:
        """The panel that draws it."""
        zeros = np.zeros(len(self.labels), dtype=np.int64)
        units = Units(tuple(self.labels), np.array(self.special), zeros, zeros)
        red = ((), self.red) if self.red_keys else (self.red, ())
        return Panel(self.title, units, units, self.weights, *red)


def lines_of(results: Results, model: AttentionModel, paper: bool) -> Iterator[AttentionExample]:
    """Run the model on an input for each of the clearest heads; `paper` reads split words as the release does."""
    tokens = model.tokens
    drawn = list(_behaviors(results, tokens))
    for name, analysis in ANALYSES.items():
        if name in results:
            drawn += _found(analysis.found_heads(results[name]), results[name], tokens)
    for each in drawn:
        example = each.example
        words = example.words
        view = InputView(words=words is not None, first_piece=paper)
        shown = apply_view(layout_of(example, tokens), attention(model, example), view)
        units = shown.queries
        title = f"{each.head.key()}: {each.role}"
        rows = [] if words is None else np.flatnonzero(np.isin(words[units.start], each.red)).tolist()
        labels = list(units.labels)
        special = units.special.tolist()
        weights = shown.weights[each.head].copy()
        yield AttentionExample(
            figure=each.figure,
            title=title,
            where=example.where,
            labels=labels,
            special=special,
            red=rows,
            red_keys=each.red_keys,
            weights=weights,
        )


def _behaviors(results: Results, tokens: Tokens) -> Iterator[DrawnInput]:
    """Figure 1: each behavior's head on a sentence of the segments in which it is clearest."""
    before, after = tokens.single
    for example in clearest(results):
        where, ids = _sentence(example.segments, tokens)
        if ids:
            framed = np.array([*before, *ids, *after], dtype=np.int64)
            encoded = Encoded(0, where, framed, np.zeros_like(framed))
            yield DrawnInput(1, example.head, f"{example.name}, {example.text}", encoded)


def _found(heads: Iterable[FoundHead], result: Result, tokens: Tokens) -> Iterator[DrawnInput]:
    """Figure 5: what each head finds, on the first input with few words and a position for each token."""
    for each in heads:
        for where, words, marked in each.inputs():
            if MIN_DRAWN_WORDS <= len(words) <= MAX_DRAWN_WORDS:
                example = encode_words(words, tokens, 0, where, Skipped())
                if len(example) <= int(result.provenance["settings"]["max_length"]):
                    role = f"{each.name}, {each.text}"
                    yield DrawnInput(5, each.head, role, example, marked, red_keys=each.is_of_keys)
                    break


def _sentence(segments: Sequence[Segment], tokens: Tokens) -> tuple[str, list[int]]:
    """(location, ids) of the first short sentence; without one, of the longest part of the first segment, cut."""
    beginning: tuple[str, list[int]] = ("", [])
    for segment in segments:
        ids, _ = tokens.ids(segment.tokens)
        special = np.isin(ids, tokens.special)
        stops = np.array([name.strip(SPACE_MARKS) in SENTENCE_ENDS for name in segment.tokens])
        edges = [0, *(np.flatnonzero(special | stops) + 1).tolist(), len(ids)]
        parts = [[i for i, s in zip(ids[a:b], special[a:b], strict=True) if not s] for a, b in pairwise(edges)]
        short = next((part for part in parts if MIN_DRAWN_WORDS <= len(part) <= MAX_DRAWN_WORDS), None)
        if short:
            return segment.where, short
        beginning = beginning if beginning[1] else (segment.where, max(parts, key=len)[:MAX_DRAWN_WORDS])
    return beginning
