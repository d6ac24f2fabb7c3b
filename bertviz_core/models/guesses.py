"""What a model guesses for one word with all its heads, and without one of them (docs/methods.md, section 10)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bertviz_core.heads import Head
from bertviz_core.inputs.labels import token_labels
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, mask, token_shares

BEST = 3  # the likeliest tokens with all heads that are listed


class Guess(NamedTuple):
    """A token that the model may guess.

    Attributes:
        label: The token.
        whole: Its probability with all heads.
        without: Its probability without the head.
        is_right: Whether it is the token that stands there.
    """

    label: str
    whole: float
    without: float
    is_right: bool


@dataclass(frozen=True)
class WordGuesses:
    """The guesses for one token.

    Attributes:
        position: Its position, from 0.
        is_next: Whether it is guessed from what comes before it, else in the place of a mask.
        guesses: The likeliest tokens with all heads, the likeliest without the head, and the right one.
    """

    head: Head
    position: int
    label: str
    is_next: bool
    guesses: tuple[Guess, ...]


def can_guess(model: AttentionModel) -> bool:
    """Whether a model predicts words, by itself and without a head."""
    return model.language_model is not None and model.observable and (model.causal or model.tokens.mask is not None)


def positions(model: AttentionModel, single: OneInput) -> list[int]:
    """The positions of the tokens, from 0, that a model can guess: of a decoder those after another one."""
    special = single.layout.tokens.special
    return [place for place, is_special in enumerate(special) if not is_special and (place or not model.causal)]


def guesses(model: AttentionModel, single: OneInput, position: int, head: Head) -> WordGuesses:
    """The guesses for a token of an input with all heads, and with the output of one replaced by zeros.

    Args:
        position: One of `positions`.
    """
    ablated = np.zeros((model.layers, model.heads), dtype=bool)
    ablated[head] = True
    shown = single.example if model.causal else mask(single, [position], model.tokens).example
    row = position - model.causal
    whole, without = (token_shares(model, shown, [row], each)[0] for each in (None, ablated))
    right = int(single.example.ids[position])
    listed = dict.fromkeys([*np.argsort(-whole, kind="stable")[:BEST].tolist(), int(without.argmax()), right])
    rows = zip(token_labels(np.array([*listed]), model.tokens), listed, strict=True)
    return WordGuesses(
        head=head,
        position=position,
        label=single.layout.tokens.labels[position],
        is_next=model.causal,
        guesses=tuple(Guess(label, float(whole[each]), float(without[each]), each == right) for label, each in rows),
    )
