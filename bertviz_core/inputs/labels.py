"""Labels of an input's tokens and words, and which words the tokens make."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, pairwise
from unicodedata import category

import numpy as np

from bertviz_core.inputs.encoding import Encoded, structural
from bertviz_core.inputs.tokens import JOINT, Tokens
from bertviz_core.text_display import visible

JOINER = "\u200d"  # It joins emoji into one.
SKIN_TONES = tuple(map(chr, range(0x1F3FB, 0x1F400)))


@dataclass(frozen=True)
class Units:
    """Tokens or words, in reading order.

    Attributes:
        labels: (unit,) labels as displayed.
        special: (unit,) bool, whether it is a special token, such as [CLS].
        side: (unit,) 0 in segment A, 1 in B.
        start: (unit,) position of its first token, from 0; it identifies a unit when others are hidden.
    """

    labels: tuple[str, ...]
    special: np.ndarray
    side: np.ndarray
    start: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def keep(self, chosen: np.ndarray) -> "Units":
        """The units marked in `chosen`, (unit,) bool."""
        return Units(tuple(compress(self.labels, chosen)), self.special[chosen], self.side[chosen], self.start[chosen])


@dataclass(frozen=True)
class Layout:
    """Assignment of one input's tokens to words, with the labels of both, in reading order.

    Attributes:
        owner: (token,) the word of each token, from 0; a special token is its own word.
    """

    tokens: Units
    words: Units
    owner: np.ndarray

    @property
    def two_sides(self) -> bool:
        """Whether the input has a segment B."""
        return bool((self.tokens.side[~self.tokens.special] == 1).any())


def layout_of(example: Encoded, tokens: Tokens, second: int | None = None) -> Layout:
    """The layout of any encoded input; segment B begins at position `second`, or after the first SEP."""
    if second is None:
        ends = np.flatnonzero(example.ids == tokens.sep)
        second = int(ends[0]) + 1 if len(ends) else len(example)
    side = (np.arange(len(example)) >= second).astype(np.int64)
    special = structural(example, tokens)
    if example.words is None:
        begins = ~_continues(tokens.names(example.ids), tokens)
    else:
        begins = np.diff(example.words, prepend=-2) != 0
    # A special token is a word of its own, and no word lies in both segments.
    owner = np.cumsum(begins | special | np.roll(special, 1) | (np.diff(side, prepend=0) > 0)) - 1
    start = np.unique(owner, return_index=True)[1]
    labels, words = labels_of(example.ids, owner, tokens)
    token_units = Units(labels, special, side, np.arange(len(example)))
    return Layout(token_units, Units(words, special[start], side[start], start), owner)


def _continues(names: Sequence[str], tokens: Tokens) -> np.ndarray:
    """(token,) bool: whether a token continues the word before it, by the tokenizer's marks; punctuation does not."""
    if tokens.prefix:
        return np.array([name.startswith(tokens.prefix) for name in names])
    if tokens.suffix:
        ends = [name.endswith(tokens.suffix) for name in names[:-1]]
        return np.array([False, *(end == (tokens.suffix == JOINT) for end in ends)])
    if not tokens.marks_spaces:
        return np.zeros(len(names), dtype=bool)
    joins = [False]
    for (before, _), (text, inside) in pairwise(_texts([tokens.bytes_of(name) for name in names])):
        letters = all(any(letter.isalnum() or _is_mark(letter) for letter in part) for part in (before, text))
        attached = _is_mark(text[:1]) or before[-1:] == JOINER
        joins.append(inside or (not text[:1].isspace() and (before.isspace() or letters or attached)))
    return np.array(joins)


def _texts(pieces: Sequence[bytes]) -> list[tuple[str, bool]]:
    """For each token its text, with all of the characters that it has bytes of, and whether it begins inside one."""
    whole = b"".join(pieces)
    texts = []
    for start, end in pairwise(accumulate(map(len, pieces), initial=0)):
        first, last = start, end
        while 0 < first < len(whole) and whole[first] & 0xC0 == 0x80:  # The byte lies inside a character.
            first -= 1
        while last < len(whole) and whole[last] & 0xC0 == 0x80:
            last += 1
        texts.append((whole[first:last].decode(errors="replace"), first < start))
    return texts


def _is_mark(character: str) -> bool:
    """Whether a character changes the one before it: an accent, a vowel sign, an emoji's joiner or skin tone."""
    return character in (JOINER, *SKIN_TONES) or category(character or " ").startswith("M")


def labels_of(ids: np.ndarray, owner: np.ndarray, tokens: Tokens) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a reader sees of an input's tokens and of its words.

    Args:
        ids: (token,) ids.
        owner: (token,) the word of each token; those of a word stand together.
        tokens: Of the model's tokenizer.

    Returns:
        A label for each token, and a label for each word.
    """
    names = tokens.names(ids)
    edges = [0, *(np.flatnonzero(np.diff(owner)) + 1), len(names)]  # the tokens of a word stand together
    words = tuple(visible(_readable(names[start:end], tokens)) for start, end in pairwise(edges))
    return token_labels(ids, tokens), words


def token_labels(ids: np.ndarray, tokens: Tokens) -> tuple[str, ...]:
    """Labels of (token,) ids: WordPiece tokens as the vocabulary writes them, others as they are read."""
    return tuple(visible(name if tokens.prefix else _readable([name], tokens)) for name in tokens.names(ids))


def spaced(labels: Sequence[str], names: Sequence[str], tokens: Tokens) -> tuple[str, ...]:
    """Labels of (token,) names with the spaces that the vocabulary marks, so that they make a text when joined."""
    if not tokens.marks_spaces:
        return tuple(labels)
    begins = (
        tokens.bytes_of(name).startswith(b" ") and label.strip("␣") for name, label in zip(names, labels, strict=True)
    )
    return tuple(f" {label}" if begin else label for label, begin in zip(labels, begins, strict=True))


def _readable(names: list[str], tokens: Tokens) -> str:
    """The text of some tokens; bytes in hexadecimal where they are no whole characters."""
    if tokens.prefix:
        return "".join(name.removeprefix(tokens.prefix) for name in names)
    if tokens.byte_level:  # transformers reads words that were added, too, as if their letters were bytes.
        text = b"".join(map(tokens.bytes_of, names)).decode(errors="replace")
    else:
        text = tokens.tokenizer.convert_tokens_to_string(names)
    is_broken = "\ufffd" in text or (tokens.bytes_as_letters and not text)
    if is_broken and tokens.marks_spaces:
        return "".join(f"<0x{byte:02X}>" for name in names for byte in tokens.bytes_of(name))
    return text.strip() or text or "".join(names).replace("▁", " ")
