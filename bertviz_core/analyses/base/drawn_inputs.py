"""Inputs on which a report draws the attention of clear heads as lines between two columns (Figures 1 and 5)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bertviz_core.analyses.base.result import Result
from bertviz_core.corpora import Skipped
from bertviz_core.heads import Head
from bertviz_core.inputs.encoding import Encoded, encode_words
from bertviz_core.inputs.tokens import Tokens

# Tokens or words of an input that is drawn
MIN_DRAWN_WORDS = 5
MAX_DRAWN_WORDS = 22


@dataclass(frozen=True)
class DrawnInput:
    """An input, and the head whose attention is drawn on it.

    Attributes:
        figure: Number of the paper's figure: 1 for what a head does everywhere, 5 for what it finds.
        head: The head.
        role: What it does, and how often.
        example: The input.
        red: Indices of the words whose lines are red, special tokens not counted.
        red_keys: Whether these words are in the right column, of the tokens attended to.
    """

    figure: int
    head: Head
    role: str
    example: Encoded
    red: Sequence[int] = ()
    red_keys: bool = False


def first_drawable(
    inputs: Iterable[tuple[Sequence[str], str, Sequence[int]]], tokens: Tokens, result: Result
) -> tuple[Encoded, Sequence[int]] | None:
    """The first of some inputs (words, location, red words) with few words, and with a position for each token.

    Returns:
        The encoded input and its red words; None where no input can be drawn.
    """
    for words, where, red in inputs:
        if MIN_DRAWN_WORDS <= len(words) <= MAX_DRAWN_WORDS:
            example = encode_words(words, tokens, 0, where, Skipped())
            if len(example) <= int(result.provenance["settings"]["max_length"]):
                return example, red
    return None
