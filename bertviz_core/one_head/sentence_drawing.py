"""A head on a reader's sentence, drawn as the stored inputs are that show what it is named for."""

from dataclasses import replace

import numpy as np

from bertviz_core.inputs.encoding import maps_of_one
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.single_input import OneInput
from bertviz_core.one_head.clear_input import MOST_TOKENS, CaptionedSvg
from bertviz_core.one_head.description import OneHead
from bertviz_core.one_head.drawing import lines_svg

MOST_WORDS = 24  # that are drawn with arcs


def on_sentence(shown: OneHead, single: OneInput, maps: np.ndarray, tokens: Tokens) -> CaptionedSvg:
    """The head on an input.

    Args:
        shown: What is known of the head, which decides how it is drawn.
        single: The sentence as the model reads it.
        maps: (layer, head, query, key) its weights.
        tokens: Of the model's tokenizer.
    """
    drawn = _guesses(shown, single, maps) or _lines(shown, single, maps)
    return replace(drawn, caption=f"{drawn.caption} {single.unknown(tokens)}".strip())


def _guesses(shown: OneHead, single: OneInput, maps: np.ndarray) -> CaptionedSvg | None:
    """The sentence as the first role that draws it does; None where none does, or where there is a single word."""
    units = single.layout.words
    every = np.flatnonzero(~units.special)
    words = every[:MOST_WORDS]
    if len(words) < 2:
        return None
    weights = maps_of_one(maps[shown.head][None, None], single.layout.owner)[0, 0][np.ix_(words, words)]
    labels = [units.labels[word] for word in words]
    svg = next(filter(None, (role.draw(labels, weights) for _, role in shown.roles)), "")
    about = f"The word that head {shown.label} guesses as the governor of each word, with its attention."
    return CaptionedSvg(svg, about + _part(len(words), len(every), "words")) if svg else None


def _lines(shown: OneHead, single: OneInput, maps: np.ndarray) -> CaptionedSvg:
    """Lines between the first tokens of the sentence."""
    labels = single.layout.tokens.labels[:MOST_TOKENS]
    drawn = slice(len(labels))
    about = f"The attention of head {shown.label}." + _part(len(labels), len(single.example) + single.cut, "tokens")
    return CaptionedSvg(lines_svg(labels, maps[shown.head][drawn, drawn], about), about)


def _part(drawn: int, total: int, units: str) -> str:
    """How many are drawn of how many, where those are not all."""
    return f" The first {drawn} of {total:,} {units} are drawn." if drawn < total else ""
