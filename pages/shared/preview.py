"""The attention of all heads on a short sentence, for maps of heads: stored, or measured in the background."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

import numpy as np
import streamlit as st

from bertviz_core.analyses.base.result import Provenance
from bertviz_core.errors import BertvizError, StoreError
from bertviz_core.models.guesses import WordGuesses, can_guess, positions
from bertviz_core.models.single_input import OneInput, from_text
from bertviz_core.plotting.head_map import HeadMap
from bertviz_core.plotting.head_preview import MAX_TOKENS
from bertviz_core.viewer.input_attention import InputAttention, InputView
from bertviz_core.viewer.preview import (
    SENTENCE,
    compute_preview,
    of_stored,
    preview_key,
    values_of_stored,
    words_of_stored,
)
from pages.shared import services
from pages.shared.costly import of_input
from pages.shared.state.selection import Selection

K = TypeVar("K")
T = TypeVar("T")


def of(selection: Selection) -> bytes:
    """The preview of the chosen model as JSON; empty until it is measured, or if the model cannot run the sentence."""
    key = _key(selection)
    shown = _stored(key)
    if not shown:
        _measured(key, selection)
    return shown


def of_sentence(sentence: str, selection: Selection, *, at_once: bool = False) -> bytes:
    """The lines of every head on a reader's sentence as JSON, computed now.

    Args:
        at_once: Whether those on the example are computed now too, where they are not stored; else they are as `of` has
            them.

    Raises:
        BertvizError: The sentence has no tokens, or the model cannot run it.
    """
    if sentence == SENTENCE and ((lines := of(selection)) or not at_once):
        return lines
    read = single(sentence, selection)
    return of_input(_attention(read, selection), len(read.example) + read.cut)


def values_of(sentence: str, selection: Selection) -> dict[str, np.ndarray]:
    """The (layer, head) numbers that decide behaviors, of a reader's sentence, computed now; those of the example as
    they are stored, empty where they are not, or are of another mode. Raises BertvizError as `of_sentence` does."""
    if sentence != SENTENCE:
        model = services.model(selection.checkpoint, selection.settings.dtype)
        return services.sentence_values(model, single(sentence, selection).example, selection.settings)
    return {} if selection.settings.paper else _of_example(values_of_stored, selection)


def words_to_guess(sentence: str, selection: Selection) -> dict[int, str]:
    """The tokens of a reader's sentence that the model can guess, by position, from 0; those of the example as they are
    stored, none where they are not. Raises BertvizError as `of_sentence` does."""
    if sentence == SENTENCE:
        return _of_example(words_of_stored, selection)
    model = services.model(selection.checkpoint, selection.settings.dtype)
    read = single(sentence, selection)
    labels = read.layout.tokens.labels
    return {position: labels[position] for position in positions(model, read)} if can_guess(model) else {}


def unknown(sentence: str, selection: Selection) -> str:
    """What [UNK] means, where it stands in a reader's sentence; raises BertvizError as `of_sentence` does."""
    if sentence == SENTENCE:
        return ""
    return single(sentence, selection).unknown(services.model(selection.checkpoint, selection.settings.dtype).tokens)


def word_of_head(sentence: str, words: Mapping[int, str], selection: Selection) -> tuple[int | None, str]:
    """The position of the word of a sentence, of `words_to_guess`, that is guessed where a reader has chosen none, and
    why: the one whose probability changes most without the chosen head. A masked model runs once for each word, so of
    a long sentence it is the last. None without a word."""
    places = [place for place, label in words.items() if label.isalnum()]
    model = services.model(selection.checkpoint, selection.settings.dtype)
    read = single(sentence, selection)
    if not places or (len(read.example) > MAX_TOKENS and not model.causal):
        return max(places, default=None), "the last word"
    whole, without = (np.exp(-services.losses(model, read, places, head)) for head in (None, selection.head))
    return places[int(np.abs(without - whole).argmax())], "the word whose probability changes most without the head"


def guesses_of(sentence: str, position: int, selection: Selection) -> WordGuesses:
    """What the model guesses for one of `words_to_guess`, with and without the chosen head."""
    model = services.model(selection.checkpoint, selection.settings.dtype)
    return services.guesses(model, single(sentence, selection), position, selection.head)


def maps_of(sentence: str, selection: Selection) -> tuple[OneInput, np.ndarray]:
    """A sentence as the chosen model reads it, and its (layer, head, query, key) weights; raises BertvizError as
    `of_sentence` does."""
    model = services.model(selection.checkpoint, selection.settings.dtype)
    read = single(sentence, selection)
    return read, services.attention(model, read.example, selection.settings.weights)


def pictures(sentence: str, selection: Selection) -> HeadMap:
    """The map of small pictures of all heads on a sentence, computed now; raises BertvizError as `of_sentence` does."""
    return _attention(single(sentence, selection), selection).pictures()


def of_run(origin: Provenance, selection: Selection) -> bytes:
    """The preview, as JSON, of the model that computed a stored result; empty if it is neither chosen nor stored."""
    fingerprint = origin["model"]["fingerprint"]
    settings = origin["settings"]
    weights = settings.get("weights", "attention")
    if fingerprint == selection.checkpoint.fingerprint():
        return of(selection.of_weights(weights))
    return _stored(preview_key(fingerprint, weights, settings.get("dtype", "float32")))


def wait_for(selection: Selection) -> None:
    """Run the page again when the preview is measured, if it is not yet."""
    key = _key(selection)
    if not services.store().has(key) and not (measured := _measured(key, selection)).done():
        services.rerun_after(measured)


def single(sentence: str, selection: Selection) -> OneInput:
    """A sentence as the chosen model reads it; raises BertvizError where it has no tokens."""
    model = services.model(selection.checkpoint, selection.settings.dtype)
    return from_text(sentence, "", model.tokens, selection.settings)


def _attention(single: OneInput, selection: Selection) -> InputAttention:
    model = services.model(selection.checkpoint, selection.settings.dtype)
    return services.viewed(model, single, selection.settings.weights, InputView())


def _key(selection: Selection) -> str:
    return preview_key(selection.checkpoint.fingerprint(), selection.settings.weights, selection.settings.dtype)


def _of_example(read: Callable[[bytes], dict[K, T]], selection: Selection) -> dict[K, T]:
    """What is read of the stored preview; empty where there is none, and where it is damaged."""
    with suppress(ValueError, KeyError, StoreError):
        if data := services.store().get(_key(selection)):
            return read(data)
    return {}


def _stored(key: str) -> bytes:
    """A stored preview as JSON; empty where there is none, and where it is damaged, so that it is measured again."""
    with suppress(ValueError, KeyError, StoreError):
        if data := services.store().get(key):
            return of_stored(data)
    return b""


@st.cache_resource(max_entries=16, show_spinner=False)
def _measured(key: str, _selection: Selection) -> Future[None]:
    """Measure and store it in the background, once for all readers."""
    store = services.store()

    def work() -> None:
        # The map does without previews.
        with suppress(BertvizError, OSError):
            model = services.model_in_background(_selection.checkpoint, _selection.settings.dtype)
            store.put(key, compute_preview(model, _selection.settings))

    return services.in_background(work)
