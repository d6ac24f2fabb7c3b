"""The input in which a head does most of what it is named for, and the lines of its attention there."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, Segment
from bertviz_core.analyses.base.head_figures import HeadRow, column_rows
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.corpora.source import from_bytes
from bertviz_core.heads import Head
from bertviz_core.inputs.labels import layout_of
from bertviz_core.inputs.segments import Segments
from bertviz_core.inputs.tokens import read_names
from bertviz_core.models.model import AttentionModel, with_weights
from bertviz_core.models.single_input import attention
from bertviz_core.one_head.description import OneHead
from bertviz_core.one_head.drawing import lines_svg
from bertviz_core.overview.head_columns import in_order
from bertviz_core.settings import Settings

MOST_TOKENS = 20  # that are drawn
MOST_REPEATED = 14  # of a sequence that is repeated
INPUT_KIND = "text"


@dataclass(frozen=True)
class ClearInput:
    """The input in which a number of a head is highest.

    Attributes:
        row: The number, beside those of all heads.
        settings: The settings of the result that it is from.
        is_only: Whether no other input has as much of it, as where a token is the sink of many.
        length: Of the random sequence that the input repeats, in tokens; 0 for a text.
    """

    head: Head
    row: HeadRow
    segment: Segment
    settings: Settings
    corpus: str
    is_only: bool = True
    length: int = 0

    @property
    def waiting(self) -> str:
        """Its tokens as SVG without lines, of the size that the drawing of the lines has."""
        queries, keys = self.repetition or (slice(MOST_TOKENS), slice(MOST_TOKENS))
        tokens = read_names(self.segment.tokens)
        labels, names = tokens[queries], tokens[keys]
        return lines_svg(labels, np.zeros((len(labels), len(names))), "The lines are not drawn yet", names)

    @cached_property
    def repetition(self) -> tuple[slice, slice] | None:
        """The tokens of the repetition that are drawn, and those that they repeat with the one after; None for a
        text."""
        tokens, size = self.segment.tokens, self.length
        if not size:
            return None
        first = next(place for place in range(len(tokens)) if tokens[place] == tokens[place + size])
        count = min(MOST_REPEATED, size)
        return slice(first + size, first + size + count), slice(first, first + count + 1)

    @property
    def where(self) -> str:
        """The location of the input: the corpus, and the passage, from 1; of random tokens the sequence."""
        if self.length:
            return self.segment.where
        return f"{self.corpus}, passage {self.segment.number + 1}, {self.segment.where}"


@dataclass(frozen=True)
class CaptionedSvg:
    """The lines of a head on the input in which it is clearest."""

    svg: str
    caption: str


def clear_input_of(results: Results, shown: OneHead) -> ClearInput | None:
    """The input whose lines show what the head is named for; None where stored examples do."""
    return None if shown.examples else clear_input(results, shown.head, shown.behaviors)


def clear_input(results: Results, head: Head, behaviors: Sequence[str] = ()) -> ClearInput | None:
    """The input in which a head does most of the first of its behaviors; without any, that in which its most unusual
    number of attention to a text is highest. None where no input is stored.

    Args:
        behaviors: Those of the head, the one that says most first.
    """
    for behavior in behaviors:
        for column, found in highest_inputs(results, head):
            if column.behavior == behavior:
                return found
    unusual = [found for _, found in highest_inputs(results, head) if found.is_only and not found.length]
    return max(unusual, key=lambda each: each.row.score, default=None)


def highest_inputs(results: Results, head: Head) -> Iterator[tuple[HeadColumn, ClearInput]]:
    """Of every quantity of attention the input in which the head has most of it."""
    for name, result in in_order(results):
        analysis = ANALYSES[name]
        if not isinstance(result, HeadAverages) or not analysis.reads_maps:
            continue
        for column, row in column_rows(analysis.columns, result, head):
            if top := result.highest_segments(column.quantity, head):
                found = ClearInput(
                    head=head,
                    row=row,
                    segment=top[0],
                    settings=Settings(**result.provenance["settings"]),
                    corpus=result.provenance["corpus"]["name"],
                    is_only=len(top) == 1 or top[0].value > top[1].value,
                    length=result.repeat_length,
                )
                yield column, found


def lines(model: AttentionModel, of: ClearInput) -> CaptionedSvg:
    """Run the model on the input, and draw the part of it within which the head attends most, or a repetition."""
    labels, weights = observe(model, of)
    highest = f"There {of.row.name} is {of.segment.value:.3g}; no input has more."
    if of.repetition:
        queries, keys = of.repetition
        part = f"the repetition, left, of {of.length} random tokens, right; {len(labels[queries])} are drawn"
    else:
        first = window(weights, MOST_TOKENS)
        queries = keys = slice(first, first + MOST_TOKENS)
        part = f"tokens {first + 1} to {min(first + MOST_TOKENS, len(labels))} of {len(labels)}"
    caption = f"Attention on {of.where}: {part}. {highest}"
    return CaptionedSvg(lines_svg(labels[queries], weights[queries, keys], caption, labels[keys]), caption)


def observe(model: AttentionModel, of: ClearInput) -> tuple[tuple[str, ...], np.ndarray]:
    """The labels of the input's tokens, and the head's (query, key) weights on it."""
    named = from_bytes(json.dumps([{"tokens": of.segment.tokens}]).encode(), "input.json")
    example = next(iter(Segments(named, model.tokens, of.settings)))
    weights = attention(with_weights(model, of.settings.weights), example)[of.head]
    return layout_of(example, model.tokens).tokens.labels, weights


def window(weights: np.ndarray, size: int) -> int:
    """The first of `size` tokens in a row that give each other the most attention, from 0; (query, key) weights."""
    starts = range(max(1, len(weights) - size + 1))
    return max(starts, key=lambda start: float(weights[start : start + size, start : start + size].sum()))
