"""What an input is shown as: labels of its tokens and words, which are special, and in which segment they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise

import numpy as np

from bertviz_core.models.encoding import Encoded
from bertviz_core.models.tokens import SPACE_MARKS, Tokens

# Control characters as their pictures; what XML cannot hold, or has no shape, as U+FFFD.
PICTURES = {code: chr(0x2400 + code) for code in range(32)} | {127: "␡"}
PICTURES |= dict.fromkeys([*range(128, 160), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\ufffd")


@dataclass(frozen=True, slots=True)
class Units:
    """Tokens or words, in reading order. All (unit,).

    Attributes:
        labels: The units' texts on the screen.
        special: Special tokens, such as [CLS] and [SEP].
        side: 0 in segment A, 1 in segment B.
        start: Position of the unit's first token in the input, from 0; it identifies the unit when others are hidden.
    """

    labels: tuple[str, ...]
    special: np.ndarray
    side: np.ndarray
    start: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def keep(self, chosen: np.ndarray) -> Units:
        """The units marked in `chosen` (unit,) bool."""
        return Units(tuple(compress(self.labels, chosen)), self.special[chosen], self.side[chosen], self.start[chosen])


@dataclass(frozen=True, slots=True)
class Layout:
    """Assignment of one input's tokens to words, with the labels of both.

    Attributes:
        tokens: In reading order.
        words: In reading order.
        owner: (token,) the word of each token; a special token is its own word.
    """

    tokens: Units
    words: Units
    owner: np.ndarray

    @property
    def two_sides(self) -> bool:
        """Whether the input has a segment B."""
        return bool((self.tokens.side[~self.tokens.special] == 1).any())


def layout_of(example: Encoded, tokens: Tokens, second: int | None = None) -> Layout:
    """Labels, special tokens, sides and words of any encoded input; segment B begins at position `second`, or after
    the first SEP."""
    if second is None:
        ends = np.flatnonzero(example.ids == tokens.sep)
        second = int(ends[0]) + 1 if len(ends) else len(example)
    side = (np.arange(len(example)) >= second).astype(np.int64)
    special = _special(example.ids, tokens)
    owner = _owners(example, special, side, tokens)
    start = np.unique(owner, return_index=True)[1]
    labels, words = labels_of(example.ids, owner, tokens)
    token_units = Units(labels, special, side, np.arange(len(example)))
    return Layout(token_units, Units(words, special[start], side[start], start), owner)


def relabel(layout: Layout, tokens: tuple[str, ...], words: tuple[str, ...]) -> Layout:
    """The layout with other labels, as when tokens are masked."""
    return replace(layout, tokens=replace(layout.tokens, labels=tokens), words=replace(layout.words, labels=words))


def visible(text: str) -> str:
    """A label in which every character can be seen and written: control characters as their pictures, a lone space as
    an open box, nothing as the empty set."""
    shown = text.translate(PICTURES)
    return shown if shown.strip() else "␣" * len(shown) or "∅"


def _special(ids: np.ndarray, tokens: Tokens) -> np.ndarray:
    """(token,) bool; [MASK] and [UNK] stand for words, so they are none."""
    return np.isin(ids, tokens.special) & (ids != tokens.mask) & (ids != tokens.unk)


def _owners(example: Encoded, special: np.ndarray, side: np.ndarray, tokens: Tokens) -> np.ndarray:
    """(token,) the word of each token, from 0, special tokens being words of their own; none lies in both segments."""
    if example.words is not None:
        begins = np.diff(example.words, prepend=-2) != 0
    else:
        begins = ~_continues(tokens.names(example.ids), tokens)
    return np.asarray(np.cumsum(begins | special | np.roll(special, 1) | (np.diff(side, prepend=0) > 0)) - 1)


def _continues(names: Sequence[str], tokens: Tokens) -> np.ndarray:
    """(token,) bool: goes on with the word before it, by the tokenizer's marks; punctuation stands alone."""
    prefix = _prefix(tokens)
    if prefix:
        return np.array([name.startswith(prefix) for name in names])
    marks = tuple(SPACE_MARKS)
    joins = [False]
    for before, name in pairwise(names):
        letters = any(map(str.isalnum, before)) and any(map(str.isalnum, name))
        joins.append(not name.startswith(marks) and (before in marks or letters))
    return np.array(joins) & any(name.startswith(marks) for name in names)


def _prefix(tokens: Tokens) -> str:
    """What a WordPiece vocabulary writes before a piece that goes on, "##"; empty for other tokenizers."""
    backend = getattr(tokens.tokenizer, "backend_tokenizer", None)
    return getattr(getattr(backend, "model", None), "continuing_subword_prefix", None) or ""


def labels_of(ids: np.ndarray, owner: np.ndarray, tokens: Tokens) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels of the tokens and of the words."""
    names = tokens.names(ids)
    edges = [0, *(np.flatnonzero(np.diff(owner)) + 1), len(names)]  # the tokens of a word stand together
    words = tuple(visible(_readable(names[start:end], tokens)) for start, end in pairwise(edges))
    return token_labels(ids, tokens), words


def token_labels(ids: np.ndarray, tokens: Tokens) -> tuple[str, ...]:
    """WordPiece tokens as the vocabulary writes them, others as they are read."""
    names = tokens.names(ids)
    return tuple(visible(name if _prefix(tokens) else _readable([name], tokens)) for name in names)


def _readable(names: list[str], tokens: Tokens) -> str:
    """The text of some tokens; the vocabulary's own names where they are no whole characters."""
    if prefix := _prefix(tokens):
        return "".join(name.removeprefix(prefix) for name in names)
    text = tokens.tokenizer.convert_tokens_to_string(names).strip()
    return text if text and "\ufffd" not in text else "".join(names)
