"""What a model guesses for one word with all its heads, and without one of them (docs/methods.md, section 10)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bertviz_core.heads import Head
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.labels import token_labels
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, mask, token_shares
from bertviz_core.models.surroundings import in_standard_arithmetic

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


@in_standard_arithmetic
def losses(model: AttentionModel, single: OneInput, places: Sequence[int], head: Head | None = None) -> np.ndarray:
    """(place,) the loss of the tokens at some of `positions`, each guessed as by `guesses`, nats; without a head where
    one is given."""
    import torch

    from bertviz_core.models.ablation import AblatedAttention
    from bertviz_core.models.loss import Labels, predict_words

    at = np.array(places)
    rows = np.zeros_like(at) if model.causal else np.arange(len(at))
    inputs = [single] if model.causal else [mask(single, [place], model.tokens) for place in places]
    batch = collate([each.example for each in inputs], model.tokens, model.device)
    arrays = (rows, at - model.causal, single.example.ids[at], np.bincount(rows))
    labels = Labels(*(torch.from_numpy(array).to(model.device) for array in arrays))
    options = {}
    if head is not None:
        ablated = torch.zeros((1, model.layers, model.heads), dtype=torch.bool)
        ablated[0, *head] = True
        options["combine"] = AblatedAttention(ablated)
    with torch.inference_mode():
        predictions = predict_words(model, batch, labels, **options)[1]
    return np.asarray(predictions.word_loss.float().cpu().numpy())
