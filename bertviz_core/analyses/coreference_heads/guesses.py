"""What heads guess: the most attended candidate of each mention (docs/methods.md, section 7)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from bertviz_core.analyses.coreference_heads.groups import GROUPS, groups_of
from bertviz_core.corpora.coreference.mentions import Item
from bertviz_core.errors import SettingsError
from bertviz_core.inputs.annotated_words import DocumentWindow
from bertviz_core.inputs.encoding import Membership, membership, word_of
from bertviz_core.inputs.tensors import Tensor

Direction = Literal["mention->antecedent", "antecedent->mention"]
Candidates = Literal["mentions", "words"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)  # the first is the paper's measure
CANDIDATES: tuple[Candidates, ...] = get_args(Candidates)


def index_of(candidates: str) -> int:
    """Where a name stands in CANDIDATES; raises SettingsError for another."""
    if candidates not in CANDIDATES:
        raise SettingsError(f"Unknown candidates {candidates!r}.", hint=f"Choose {' or '.join(CANDIDATES)}.")
    return CANDIDATES.index(candidates)


def earlier_antecedents(window: DocumentWindow) -> DocumentWindow:
    """The window as a causal model reads it: with the candidates whose head word comes before the item's."""
    items = []
    for item in window.items:
        head = window.heads[item.mention]
        candidates = tuple(each for each in item.candidates if window.heads[each] < head)
        antecedents = tuple(each for each in item.antecedents if window.heads[each] < head)
        if antecedents:
            items.append(Item(item.mention, candidates, antecedents))
    return replace(window, items=tuple(items))


@dataclass(frozen=True)
class BatchItems:
    """The items of a batch's windows, in order, padded to the largest number in a window.

    Attributes:
        membership: Assignment of tokens to words.
        mention: (batch, item, word) the preceding mention that a word heads, an antecedent first; -1 for none.
        head: (batch, item) head word of the item, counted in its window.
        allowed: (batch, 1, candidates, item, word) bool, the words that may be guessed.
        right: (batch, item, word) bool, the head words of antecedents.
        groups: (batch, item, group) 1 where the item belongs to the group, else 0.
        group_members: (batch, item, group) the same as `groups`, on the CPU.
        chance: (2, candidates, group) sums over the items of 1 / candidates, and of antecedents / candidates.
    """

    membership: Membership
    mention: np.ndarray
    head: Tensor
    allowed: Tensor
    right: Tensor
    groups: Tensor
    group_members: np.ndarray
    chance: np.ndarray

    @classmethod
    def of(cls, windows: Sequence[DocumentWindow], device: str, first_piece: bool, causal: bool) -> "BatchItems":
        """The items of one batch's windows; in a causal model other words are those before a mention."""
        import torch

        sizes = [window.span[1] - window.span[0] for window in windows]
        shape = (len(windows), max(len(window.items) for window in windows))
        head = np.zeros(shape, dtype=np.int64)
        mention = np.full((*shape, max(sizes)), -1, dtype=np.int32)
        others = np.zeros(mention.shape, bool)
        right = np.zeros(mention.shape, bool)
        groups = np.zeros((*shape, GROUPS), dtype=np.float32)
        for row, (window, size) in enumerate(zip(windows, sizes, strict=True)):
            groups[row, : len(window.items)] = groups_of(window)
            heads = np.array(window.heads) - window.span[0]
            for column, item in enumerate(window.items):
                own = heads[item.mention]
                head[row, column] = own
                others[row, column, : own if causal else size] = True
                others[row, column, own] = False
                for mentions in (item.candidates, item.antecedents):
                    mention[row, column, heads[list(mentions)]] = mentions
                right[row, column, heads[list(item.antecedents)]] = True
        allowed = np.stack([mention >= 0, others], 1)[:, None]
        return cls(
            membership=membership(list(map(word_of, windows)), device, first_piece=first_piece),
            mention=mention,
            head=torch.from_numpy(head).to(device),
            allowed=torch.from_numpy(allowed).to(device),
            right=torch.from_numpy(right).to(device),
            groups=torch.from_numpy(groups).to(device),
            group_members=groups,
            chance=chance(allowed, right, groups),
        )

    def scores(self, weights: Tensor) -> Tensor:
        """(batch, direction, head, item, word) attention from an item's head word to every word, and to it."""
        import torch

        from_word = self.membership.from_word
        to_word = self.membership.to_word
        rows = torch.take_along_dim(from_word, self.head[:, :, None], 1)  # (batch, item, token)
        columns = torch.take_along_dim(to_word, self.head[:, None], 2)  # (batch, token, item)
        ahead = (rows[:, None] @ weights) @ to_word[:, None]
        back = from_word[:, None] @ (weights @ columns[:, None])
        return torch.stack([ahead, back.mT], 1)


def chance(allowed: np.ndarray, right: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Sums over the items of a batch of 1 / candidates, and antecedents / candidates (docs/methods.md, section 7).

    Args:
        allowed: (batch, 1, candidates, item, word) bool, the words that may be guessed.
        right: (batch, item, word) bool, the head words of antecedents.
        groups: (batch, item, group) 0/1.

    Returns:
        (2, candidates, group)
    """
    candidates = allowed[:, 0].sum(-1).astype(float)  # (batch, candidates, item)
    antecedents = right.sum(-1)[:, None].astype(float)
    counts = [np.ones_like(candidates), np.broadcast_to(antecedents, candidates.shape)]
    shares = np.stack(counts) / np.maximum(candidates, 1)
    return np.einsum("sbci,big->scg", shares, groups.astype(float))


def answers(items: BatchItems, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(batch, direction, candidates, head, item): the guess (the allowed word with the largest weight, the first
    of equals), its weight, and whether it heads an antecedent (docs/methods.md, section 7)."""
    scores = items.scores(weights)[:, :, None]  # (batch, direction, 1, head, item, word)
    allowed = items.allowed[:, :, :, None]  # (batch, 1, candidates, 1, item, word)
    best, guess = scores.masked_fill(~allowed, -1.0).max(-1)
    right = items.right[:, None, None, None].expand(*guess.shape, -1)
    return guess, best, right.gather(-1, guess[..., None])[..., 0]
