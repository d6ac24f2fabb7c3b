"""From text to model inputs: encoded examples, and batches of examples of like length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.corpora.skipped import UNKNOWN, Skipped
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.tokens import Tokens

if TYPE_CHECKING:
    from torch import Tensor


WINDOW = 4096  # examples sorted by length at a time: bounded memory, whatever the corpus


@dataclass(frozen=True)
class Encoded:
    """One input of the model, special tokens included, padding not.

    Attributes:
        number: Its place in the corpus, from 0.
        where: "line 12", for people.
        ids: (token,) int64.
        types: (token,) int64.
        words: (token,) int64, the word a token belongs to, -1 for special tokens; None where words are not known.
        other: The user's own fields of a JSON example.
        document_number: The document that it is a part of, from 0; of a treebank the sentence.
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
    """Examples padded to the longest, on one device. All masks are (batch, token) bool."""

    examples: tuple[Encoded, ...]
    ids: Tensor  # (batch, token) int64
    types: Tensor  # (batch, token) int64
    mask: Tensor
    cls: Tensor
    sep: Tensor
    punctuation: Tensor

    @cached_property
    def numbers(self) -> Tensor:
        """(batch,) int64: the examples' places in the corpus."""
        import torch

        return torch.tensor([example.number for example in self.examples], device=self.ids.device)

    @cached_property
    def row_weights(self) -> Tensor:
        """(batch, token): 1/N for each real token, 0 for padding; a sum over rows becomes a mean."""
        return self.mask / self.mask.sum(1, keepdim=True)

    @cached_property
    def key_classes(self) -> Tensor:
        """(batch, token, class) float32: CLS, SEP, and "." or ","."""
        import torch

        return torch.stack([self.cls, self.sep, self.punctuation], -1).float()

    def inputs(self, model: AttentionModel) -> dict[str, Any]:
        """Keyword arguments for the encoder."""
        inputs = {"input_ids": self.ids, "attention_mask": self.mask.long()}
        return inputs | ({"token_type_ids": self.types} if model.has_types else {})

    def tokens(self) -> int:
        return sum(map(len, self.examples))


def collate(examples: Iterable[Encoded], tokens: Tokens, device: str) -> Batch:
    """Pad examples to one rectangle and mark the classes of their tokens."""
    import torch

    rows = tuple(examples)
    width = max(map(len, rows))
    ids = np.full((len(rows), width), tokens.pad, dtype=np.int64)
    types = np.zeros((len(rows), width), dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=bool)
    for row, example in enumerate(rows):
        ids[row, : len(example)] = example.ids
        types[row, : len(example)] = example.types
        mask[row, : len(example)] = True
    masks = (
        mask,
        mask & (ids == tokens.cls),
        mask & (ids == tokens.sep),
        mask & np.isin(ids, tokens.punctuation),
    )
    return Batch(rows, *(torch.from_numpy(array).to(device) for array in (ids, types, *masks)))


def buckets(examples: Iterable[Encoded], batch_tokens: int) -> Iterator[list[Encoded]]:
    """Groups of like length whose padded size stays within `batch_tokens` (one example at least).

    Sorting within a window makes the short sentences share batches; longest first, so that a device without room
    says so at once.
    """
    stream = iter(examples)
    while window := sorted(islice(stream, WINDOW), key=len, reverse=True):
        while window:
            size = max(1, batch_tokens // len(window[0]))
            yield window[:size]
            window = window[size:]


def encode_words(words: Sequence[str], tokens: Tokens, number: int, where: str, skipped: Skipped) -> Encoded:
    """`[CLS] words [SEP]`: each word cut into pieces on its own; one that cleans to nothing becomes one [UNK]."""
    return Encoded(number, where, *framed([pieces_of(words, tokens, where, skipped)], tokens.single))


def pieces_of(words: Sequence[str], tokens: Tokens, where: str, skipped: Skipped) -> list[list[int]]:
    """The pieces of every word, [UNK] for one that cleans to nothing; what is unknown is counted."""
    pieces = [tokens.pieces(word) for word in words]
    if empty := sum(not piece for piece in pieces):
        skipped.add("a word the tokenizer cleans to nothing (read as unknown)", where, empty)
    count_unknown(list(chain.from_iterable(pieces)), tokens, where, skipped)
    return [piece or [tokens.unknown] for piece in pieces]


def framed(
    sides: Sequence[Iterable[Sequence[int]]], frame: Sequence[Sequence[int]], second: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(ids, types, words), each (token,) int64, of one or two sides, the pieces of each word, in a frame of special
    ids before A, after A and after B, as in `Encoded`; `second` is the type of B's tokens."""
    ids, types, words = list(frame[0]), [0] * len(frame[0]), [-1] * len(frame[0])
    word = 0
    for kind, side, after in zip((0, second), sides, frame[1:], strict=False):
        for pieces in side:
            ids += pieces
            words += [word] * len(pieces)
            word += 1
        ids += after
        words += [-1] * len(after)
        types += [kind] * (len(ids) - len(types))
    return np.array(ids, dtype=np.int64), np.array(types, dtype=np.int64), np.array(words, dtype=np.int64)


def count_unknown(ids: list[int], tokens: Tokens, where: str, skipped: Skipped) -> None:
    """Count what the tokenizer has no piece for, such as an emoji."""
    if tokens.unk is not None and (unknown := ids.count(tokens.unk)):
        skipped.add(UNKNOWN, where, unknown)
