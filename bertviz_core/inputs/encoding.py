"""From text to model inputs: encoded examples, batches of similar length, and the assignment of tokens to words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice
from typing import Any

import numpy as np

from bertviz_core.corpora import ESCAPED, SPELLED, Skipped
from bertviz_core.inputs.tensors import Tensor
from bertviz_core.inputs.tokens import Tokens

WINDOW = 4096  # examples sorted by length at a time: bounded memory, whatever the corpus
# Brackets, and full stops and question marks of OntoNotes.
PENN_MARKS = frozenset(["-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-", "/.", "/?"])


@dataclass(frozen=True)
class Encoded:
    """One input of the model, special tokens included, padding not.

    Attributes:
        number: Its index in the corpus.
        where: Its location for people, as "line 12".
        ids: (token,) int64 tokens.
        types: (token,) int64 token types, 0 or 1.
        words: (token,) int64 the word of each token, from 0, -1 for special tokens; None where it is not known.
        other: The user's own fields of a JSON example.
        document_number: The number of the document that it is part of, from 0; its own where a sentence is the unit.
    """

    number: int
    where: str
    ids: np.ndarray
    types: np.ndarray
    words: np.ndarray | None = None
    other: Mapping[str, Any] = field(default_factory=dict)
    document_number: int = 0

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Batch:
    """Examples padded to the longest, on one device.

    Attributes:
        examples: The examples, one a row.
        ids: (batch, token) int64 tokens.
        types: (batch, token) int64 token types.
        mask: (batch, token) bool, whether it is a token, not padding.
        cls: (batch, token) bool, whether it is CLS.
        sep: (batch, token) bool, whether it is SEP.
        punctuation: (batch, token) bool, whether it is a full stop or a comma.
        special: (batch, token) bool, whether it stands for no word: it is CLS, SEP, BOS or the like.
    """

    examples: tuple[Encoded, ...]
    ids: Tensor
    types: Tensor
    mask: Tensor
    cls: Tensor
    sep: Tensor
    punctuation: Tensor
    special: Tensor

    @cached_property
    def numbers(self) -> Tensor:
        """(batch,) int64: the examples' places in the corpus."""
        return self.ids.new_tensor([example.number for example in self.examples])

    @cached_property
    def row_weights(self) -> Tensor:
        """(batch, token): 1/N for each real token, 0 for padding; a sum over rows becomes a mean."""
        return mean_over(self.mask)

    @cached_property
    def ordinary(self) -> Tensor:
        """(batch, token) bool: tokens that are neither special nor the first of their input."""
        ordinary = self.mask & ~self.special
        ordinary[:, 0] = False
        return ordinary

    @cached_property
    def pairs(self) -> Tensor:
        """(batch, query, key): 1 where these are two different ordinary tokens, else 0."""
        pairs = self.ordinary[:, :, None] & self.ordinary[:, None]
        pairs.diagonal(0, -2, -1).fill_(False)
        return pairs.float()

    def tokens(self) -> int:
        """The number of tokens, padding not counted."""
        return sum(map(len, self.examples))


def mean_over(mask: Tensor) -> Tensor:
    """(batch, token) weights that average over the marked tokens: 1/n for each of n; NaN where an input has none."""
    return mask / mask.sum(1, keepdim=True)


def structural(example: Encoded, tokens: Tokens) -> np.ndarray:
    """(token,) bool: whether a token is special and stands for no word."""
    special = np.isin(example.ids, tokens.structural)
    return special if example.words is None else special & (example.words < 0)


def collate(examples: Iterable[Encoded], tokens: Tokens, device: str) -> Batch:
    """Pad examples to the longest and mark the classes of their tokens."""
    import torch

    rows = tuple(examples)
    ids = padded([example.ids for example in rows], tokens.pad)
    types = padded([example.types for example in rows], 0)
    mask = padded([np.ones_like(example.ids) for example in rows], 0).astype(bool)
    classes = (mask & (ids == tokens.cls), mask & (ids == tokens.sep), mask & np.isin(ids, tokens.punctuation))
    special = padded([structural(example, tokens).astype(np.int64) for example in rows], 0).astype(bool)
    return Batch(rows, *(torch.from_numpy(array).to(device) for array in (ids, types, mask, *classes, special)))


def padded(rows: Sequence[np.ndarray], padding: int) -> np.ndarray:
    """(row, position) int64."""
    padded = np.full((len(rows), max(map(len, rows))), padding, dtype=np.int64)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return padded


def buckets(examples: Iterable[Encoded], batch_tokens: int, length_limit: int | None = None) -> Iterator[list[Encoded]]:
    """Group examples of similar length, the longest of a WINDOW first.

    Args:
        batch_tokens: The most tokens of a group, padding included, unless it is a single example.
        length_limit: Examples of more tokens are grouped with those of their own length only; None for no limit.
    """
    stream = iter(examples)
    while window := sorted(islice(stream, WINDOW), key=len, reverse=True):
        while window:
            longest = len(window[0])
            size = max(1, batch_tokens // longest)
            if length_limit is not None and longest > length_limit:
                size = min(size, sum(len(example) == longest for example in window[:size]))
            yield window[:size]
            window = window[size:]


def encode_words(words: Sequence[str], tokens: Tokens, number: int, where: str, skipped: Skipped) -> Encoded:
    """`[CLS] words [SEP]`: each word cut into pieces on its own; one that cleans to nothing becomes one [UNK]."""
    return Encoded(number, where, *framed([pieces_of(words, tokens, where, skipped)], tokens.single))


def pieces_of(words: Sequence[str], tokens: Tokens, where: str, skipped: Skipped) -> list[list[int]]:
    """The pieces of every word, [UNK] for one that cleans to nothing; marks in the Penn Treebank's spelling, and
    special tokens that words spell, are counted in `skipped`."""
    pieces = list(map(tokens.pieces, words))
    skipped.add("a word the tokenizer cleans to nothing (read as unknown)", where, pieces.count([]))
    skipped.add(SPELLED, where, sum(map(tokens.spelled, words)))
    skipped.add(ESCAPED, where, sum(word in PENN_MARKS for word in words))
    return [piece or [tokens.unknown] for piece in pieces]


def encode_text(text: str, tokens: Tokens, where: str, skipped: Skipped) -> list[int]:
    """The ids of a text; special tokens that it spells are counted in `skipped`."""
    ids = tokens.encode(text)
    skipped.add(SPELLED, where, tokens.spelled(text))
    return ids


def framed(
    sides: Sequence[Iterable[Sequence[int]]], frame: Sequence[Sequence[int]], second: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put one or two sides into the frame of special tokens.

    Args:
        sides: For each side the pieces of its words.
        frame: The special ids before A, after A and after B.
        second: The type of B's tokens.

    Returns:
        (ids, types, words) as in Encoded.
    """
    ids = list(frame[0])
    types = [0] * len(ids)
    words = [-1] * len(ids)
    numbers = count()
    for kind, side, after in zip((0, second), sides, frame[1:], strict=False):
        for pieces in side:
            ids += pieces
            words += [next(numbers)] * len(pieces)
        ids += after
        words += [-1] * len(after)
        types += [kind] * (len(ids) - len(types))
    return np.array(ids, dtype=np.int64), np.array(types, dtype=np.int64), np.array(words, dtype=np.int64)


@dataclass(frozen=True)
class Membership:
    """Assignment of tokens to words, for one batch. Attention to a split word is the sum over its pieces, attention
    from it their mean: the map between words is R A C, whose rows still sum to 1 (docs/methods.md, section 5).

    Attributes:
        to_word: C, (batch, token, word): 1 where the token is a piece of the word.
        from_word: R, (batch, word, token): a token's weight in a word's mean, or 1 for its first piece.
        mask: (batch, word) bool, whether it is a word, not padding.
    """

    to_word: Tensor
    from_word: Tensor
    mask: Tensor

    def maps(self, weights: Tensor) -> Tensor:
        """(batch, head, query, key) over tokens to (batch, head, word, word), rows and columns of padding 0."""
        batch, heads, tokens, _ = weights.shape
        words = self.to_word.shape[2]
        # Heads share the membership: two products of whole sentences, not of single maps.
        to_words = weights.reshape(batch, heads * tokens, -1) @ self.to_word
        by_query = to_words.view(batch, heads, tokens, words).transpose(1, 2)
        maps = self.from_word @ by_query.reshape(batch, tokens, heads * words)
        return maps.view(batch, words, heads, words).transpose(1, 2)


def membership(owners: Sequence[np.ndarray], device: str, *, first_piece: bool = False) -> Membership:
    """The membership of a batch (docs/methods.md, section 5).

    Args:
        owners: For each input (token,) the word of each token, -1 for none.
        device: Where its tensors are.
        first_piece: Whether attention from a split word is that from its first piece, as in the release; else it is the
            mean over its pieces.
    """
    import torch

    owned = torch.from_numpy(padded(owners, -1)).to(device)
    words = max(int(owner.max(initial=-1)) + 1 for owner in owners)
    to_word = (owned[:, :, None] == torch.arange(words, device=device)).float()
    pieces = to_word.sum(1)  # (batch, word)
    if first_piece:
        from_word = (to_word * to_word.cumsum(1) == 1).float().transpose(1, 2)
    else:
        from_word = to_word.transpose(1, 2) / pieces.clamp(min=1)[:, :, None]
    return Membership(to_word, from_word, pieces > 0)


def maps_of_one(maps: np.ndarray, owner: np.ndarray, *, first_piece: bool = False) -> np.ndarray:
    """One input's float32 maps between tokens (layer, head, query, key), as maps between words."""
    import torch

    return membership([owner], "cpu", first_piece=first_piece).maps(torch.from_numpy(maps)).numpy()


def word_of(example: Encoded, *, special: bool = False) -> np.ndarray:
    """(token,) the word of each token, from 0, -1 for none; with `special`, special tokens are words too."""
    if example.words is None:
        raise ValueError(f"{example.where}: the words of this example are not known")
    if not special:
        return example.words
    starts = (np.diff(example.words, prepend=-2) != 0) | (example.words < 0)
    return np.asarray(np.cumsum(starts) - 1)
