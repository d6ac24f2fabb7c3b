"""The items of a batch of windows as arrays, every head's guesses for them (4.3), and the groups that items are in; and
items with the documents that they stand in: what a page draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bertviz_core.corpora.coreference import CoreferenceDocument
from bertviz_core.corpora.coreference.mentions import PRONOUNS, TYPES, Item, mention_type
from bertviz_core.errors import SettingsError
from bertviz_core.models.annotated import Window
from bertviz_core.models.encoding import Membership, membership

if TYPE_CHECKING:
    from torch import Tensor


DIRECTIONS = ("mention->antecedent", "antecedent->mention")  # the first is the paper's measure
CANDIDATES = ("mentions", "words")

# The groups that items are counted in, on one axis (group,), so that no count ever grows with the corpus. An item is in
# one of 3 types x 2 folds (the parity of its document's number), in one bin of distance, and, if it is a pronoun that
# tells a gender, in that gender's group.
FOLDS = 2
BINS = (5, 10, 20, 40, 80)  # last distance, in words, of each bin but the last
BIN_NAMES = ("1-5", "6-10", "11-20", "21-40", "41-80", "81+")
GENDERS = ("masculine", "feminine", "neuter")
DISTANCE = len(TYPES) * FOLDS  # where the bins begin
GENDER = DISTANCE + len(BIN_NAMES)
GROUPS = GENDER + len(GENDERS)
TYPE_ROWS = ("all", *TYPES)
BREAKDOWNS = {"distance": (slice(DISTANCE, GENDER), BIN_NAMES), "gender": (slice(GENDER, GROUPS), GENDERS)}


def check_candidates(candidates: str) -> str:
    """Return `candidates` if it is one of CANDIDATES; raises SettingsError otherwise."""
    if candidates not in CANDIDATES:
        raise SettingsError(f"Unknown candidates {candidates!r}.", hint=f"Choose {' or '.join(CANDIDATES)}.")
    return candidates


def groups_of(window: Window) -> np.ndarray:
    """(item, group) bool."""
    document, heads = window.document, window.heads
    members = np.zeros((len(window.items), GROUPS), dtype=bool)
    for row, item in enumerate(window.items):
        head = heads[item.mention]
        kind = mention_type(document, head)
        distance = min(abs(head - heads[antecedent]) for antecedent in item.antecedents)
        members[row, kind * FOLDS + document.number % FOLDS] = True
        members[row, DISTANCE + int(np.searchsorted(BINS, distance))] = True
        pronoun = PRONOUNS.get(document.words[head].lower()) if TYPES[kind] == "pronoun" else None
        if pronoun and pronoun.gender:
            members[row, GENDER + GENDERS.index(pronoun.gender)] = True
    return members


def by_type(counts: np.ndarray) -> np.ndarray:
    """(..., group) to (..., type, fold) with "all" as the first type, as TYPE_ROWS names them."""
    typed = counts[..., :DISTANCE].reshape(*counts.shape[:-1], len(TYPES), FOLDS)
    return np.concatenate([typed.sum(-2, keepdims=True), typed], -2)


def earlier_antecedents(window: Window) -> Window:
    """A window as a causal model reads it: what may be guessed for a mention stands before its head word, and mentions
    that then have no antecedent are no items."""
    heads, items = window.heads, []
    for item in window.items:
        candidates, antecedents = (
            tuple(other for other in chosen if heads[other] < heads[item.mention])
            for chosen in (item.candidates, item.antecedents)
        )
        if antecedents:
            items.append(Item(item.mention, candidates, antecedents))
    return replace(window, items=tuple(items))


@dataclass(frozen=True)
class ItemBatch:
    """The items of a batch, padded to the most that a window has.

    mention: (batch, item, word) the preceding mention that a candidate word heads (an antecedent first), else -1.
    head: (batch, item) head word, in its window.
    allowed: (batch, 1, candidates, item, word) bool, the words that may be guessed, one layer for each of CANDIDATES.
    right: (batch, item, word) bool, heads of antecedents.   groups: (batch, item, group) 0 or 1.
    """

    membership: Membership
    mention: np.ndarray
    head: Tensor
    allowed: Tensor
    right: Tensor
    groups: Tensor

    def scores(self, weights: Tensor) -> Tensor:
        """(batch, head, query, key) over tokens to (batch, direction, head, item, word): word-level attention from an
        item's head word to every word, and from every word to it."""
        import torch

        rows = torch.take_along_dim(self.membership.from_word, self.head[:, :, None], 1)  # (batch, item, token)
        columns = torch.take_along_dim(self.membership.to_word, self.head[:, None], 2)  # (batch, token, item)
        ahead = (rows[:, None] @ weights) @ self.membership.to_word[:, None]
        back = self.membership.from_word[:, None] @ (weights @ columns[:, None])
        return torch.stack([ahead, back.transpose(-1, -2)], 1)

    def chance(self) -> np.ndarray:
        """(2, candidates, group), sums over the items: 1 / candidates, and heads of antecedents / candidates, where
        the candidates are the words that may be guessed."""
        candidates = self.allowed[:, 0].sum(-1).cpu().double().numpy()  # (batch, candidates, item)
        right = self.right.sum(-1)[:, None].cpu().double().numpy()
        shares = np.stack([np.ones_like(candidates), right + 0 * candidates]) / np.maximum(candidates, 1)
        return np.einsum("sbci,big->scg", shares, self.groups.cpu().double().numpy())


def questions(windows: Sequence[Window], device: str, *, first_piece: bool, causal: bool = False) -> ItemBatch:
    """The items of one batch's windows, in order; in a causal model other words are those before a mention."""
    import torch

    count, words = max(len(w.items) for w in windows), max(w.span[1] - w.span[0] for w in windows)
    shape = (len(windows), count)
    head = np.zeros(shape, dtype=np.int64)
    mention = np.full((*shape, words), -1, dtype=np.int32)
    others, right = np.zeros((*shape, words), dtype=bool), np.zeros((*shape, words), dtype=bool)
    groups = np.zeros((*shape, GROUPS), dtype=np.float32)
    for row, window in enumerate(windows):
        groups[row, : len(window.items)] = groups_of(window)
        for column, item in enumerate(window.items):
            index = np.array(window.heads) - window.span[0]
            head[row, column] = index[item.mention]
            others[row, column, : index[item.mention] if causal else window.span[1] - window.span[0]] = True
            others[row, column, index[item.mention]] = False
            for chosen in (item.candidates, item.antecedents):
                mention[row, column, index[list(chosen)]] = chosen
            right[row, column, index[list(item.antecedents)]] = True
    allowed = np.stack([mention >= 0, others], 1)[:, None]
    whole = membership(windows, device, first_piece=first_piece)
    tensors = (torch.from_numpy(array).to(device) for array in (head, allowed, right, groups))
    return ItemBatch(whole, mention, *tensors)


def answers(questions: ItemBatch, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(batch, direction, candidates, head, item): the guessed word, its weight, and whether it heads an antecedent.

    The guess is the allowed word with the largest weight, the first of equals."""
    scores = questions.scores(weights)[:, :, None]  # (batch, direction, 1, head, item, word)
    allowed = questions.allowed[:, :, :, None]  # (batch, 1, candidates, 1, item, word)
    best, guess = scores.masked_fill(~allowed, -1.0).max(-1)
    right = questions.right[:, None, None, None].expand(*guess.shape, -1)
    return guess, best, right.gather(-1, guess[..., None])[..., 0]


MAX_ITEMS = 1000  # whose guesses are in the result; those for all are on disk beside it
COLUMNS = 5


@dataclass(frozen=True)
class Guess:
    """A mention, the mention guessed for it (places in the document's list), the attention, and whether it is right."""

    mention: int
    guessed: int
    weight: float
    right: bool


@dataclass(frozen=True)
class Items:
    """Consecutive items of a corpus with guesses among the preceding mentions.

    Attributes:
        table: (item, COLUMNS) the number of the document; the mention; the first word of its passage; the first word of
            the window in which it is scored, and one past that window's last.
        guess: (..., item) the mention guessed; its first axes are (direction, layer, head), or missing for one head.
        weight: (..., item) the attention that it has.
        right: (..., item) bool.
    """

    table: np.ndarray
    guess: np.ndarray
    weight: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.table)

    @classmethod
    def empty(cls, *shape: int) -> Self:
        """Items of a corpus without any."""
        guess = np.zeros((*shape, 0), dtype=np.uint16)
        return cls(np.zeros((0, COLUMNS), dtype=np.uint32), guess, guess.astype(np.float16), guess.astype(bool))

    def joined(self, others: Iterable[Items]) -> Self:
        """These items and then those of the others."""
        every: list[Items] = [self, *others]
        table = np.concatenate([items.table for items in every])
        rows = zip(*map(_rows, every), strict=True)
        return type(self)(table, *(np.concatenate(each, -1) for each in rows))

    def take(self, index: np.ndarray | slice) -> Self:
        """The items with these indices."""
        return type(self)(self.table[index], *(array[..., index] for array in _rows(self)))

    def by_passage(self) -> Self:
        """The items in the order of passages; within one passage in their own order."""
        return self.take(np.argsort(self.passages(), kind="stable"))

    def passages(self) -> np.ndarray:
        """(item,) int64 a number for each passage, which grows with its document and place in it."""
        return self.table[:, 0].astype(np.int64) << 32 | self.table[:, 2]

    def values(self) -> dict[str, np.ndarray]:
        """The arrays and lists of the items by name, for `packing.pack`."""
        return {"items": self.table, "guess": self.guess, "weight": self.weight, "right": self.right}

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """Create items from what `values` returned."""
        return cls(*(values[name] for name in ("items", "guess", "weight", "right")))


def _rows(items: Items) -> Sequence[np.ndarray]:
    return items.guess, items.weight, items.right


def document_record(document: CoreferenceDocument, heads: Sequence[int]) -> dict[str, Any]:
    """`{"number", "name", "words", "sentences", "mentions"}`, a mention being [start, end, cluster, head, type]."""
    mentions = [
        [mention.start, mention.end, mention.cluster, head, TYPES[mention_type(document, head)]]
        for mention, head in zip(document.mentions, heads, strict=True)
    ]
    return {
        "number": document.number,
        "name": document.name,
        "words": list(document.words),
        "sentences": list(document.sentences),
        "mentions": mentions,
    }
