"""The input in which a head is clearest, and the lines of its attention there."""

import json
from dataclasses import dataclass

import numpy as np

from bertviz_core.analyses.base.averages import HeadAverages, Segment
from bertviz_core.analyses.base.head_figures import HeadRow, column_rows
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.corpora.source import from_bytes
from bertviz_core.heads import Head
from bertviz_core.inputs.labels import layout_of
from bertviz_core.inputs.segments import Segments
from bertviz_core.models.model import AttentionModel, with_weights
from bertviz_core.models.single_input import attention
from bertviz_core.one_head.drawing import lines_svg
from bertviz_core.overview.head_columns import in_order
from bertviz_core.settings import Settings

MOST_TOKENS = 20  # that are drawn
INPUT_KIND = "text"


@dataclass(frozen=True)
class ClearInput:
    """The input in which a number of a head is highest.

    Attributes:
        row: The number, which is the furthest above the median of all heads.
        settings: The settings of the result that it is from.
    """

    head: Head
    row: HeadRow
    segment: Segment
    settings: Settings
    corpus: str

    @property
    def waiting(self) -> str:
        """Its first tokens as SVG without lines, of the size that the drawing of the lines has."""
        shown = self.segment.tokens[:MOST_TOKENS]
        return lines_svg(shown, np.zeros((len(shown), len(shown))), "The lines are not drawn yet")

    @property
    def where(self) -> str:
        """The location of the input: the corpus, and the passage, from 1."""
        return f"{self.corpus}, passage {self.segment.number + 1}, {self.segment.where}"


@dataclass(frozen=True)
class CaptionedSvg:
    """The lines of a head on the input in which it is clearest."""

    svg: str
    caption: str


def clear_input(results: Results, head: Head) -> ClearInput | None:
    """The input of the text in which the most unusual number of a head's attention is highest; None without any."""
    found: list[ClearInput] = []
    for name, result in in_order(results):
        analysis = ANALYSES[name]
        if not isinstance(result, HeadAverages) or analysis.corpus != INPUT_KIND or not analysis.reads_maps:
            continue
        for column, row in column_rows(analysis.columns, result, head):
            top = result.highest_segments(column.quantity, head)
            if top and (len(top) == 1 or top[0].value > top[1].value):  # else many are the clearest, as with sinks
                settings = Settings(**result.provenance["settings"])
                found.append(
                    ClearInput(
                        head=head,
                        row=row,
                        segment=top[0],
                        settings=settings,
                        corpus=result.provenance["corpus"]["name"],
                    )
                )
    return max(found, key=lambda each: each.row.score, default=None)


def lines(model: AttentionModel, of: ClearInput) -> CaptionedSvg:
    """Run the model on the input, and draw the part of it within which the head attends most."""
    named = from_bytes(json.dumps([{"tokens": of.segment.tokens}]).encode(), "input.json")
    example = next(iter(Segments(named, model.tokens, of.settings)))
    weights = attention(with_weights(model, of.settings.weights), example)[of.head]
    labels = layout_of(example, model.tokens).tokens.labels
    first = window(weights, MOST_TOKENS)
    shown = slice(first, first + MOST_TOKENS)
    part = f"tokens {first + 1} to {min(first + MOST_TOKENS, len(labels))} of {len(labels)}"
    highest = f"There {of.row.name} is {of.segment.value:.3g}, the highest of all inputs."
    caption = f"Attention on {of.where}: {part}. {highest}"
    return CaptionedSvg(lines_svg(labels[shown], weights[shown, shown], caption), caption)


def window(weights: np.ndarray, size: int) -> int:
    """The first of `size` tokens in a row that give each other the most attention, from 0; (query, key) weights."""
    starts = range(max(1, len(weights) - size + 1))
    return max(starts, key=lambda start: float(weights[start : start + size, start : start + size].sum()))
