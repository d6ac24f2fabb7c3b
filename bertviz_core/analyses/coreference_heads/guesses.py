"""The items of a batch of windows as arrays, every head's guesses for them (4.3), and the groups that items are in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bertviz_core.corpora.coreference.agreement import pronoun_gender
from bertviz_core.corpora.coreference.head_words import TYPES, mention_type
from bertviz_core.errors import SettingsError
from bertviz_core.models.annotated import Window
from bertviz_core.models.words import Membership, membership

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
    """The name of the candidates, checked to be one of CANDIDATES; raises SettingsError for another."""
    if candidates not in CANDIDATES:
        raise SettingsError(f"There are no candidates {candidates!r}.", hint=f"Choose {' or '.join(CANDIDATES)}.")
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
        gender = pronoun_gender(document.words[head]) if TYPES[kind] == "pronoun" else ""
        if gender:
            members[row, GENDER + GENDERS.index(gender)] = True
    return members


def by_type(counts: np.ndarray) -> np.ndarray:
    """(..., group) to (..., type, fold) with "all" as the first type, as TYPE_ROWS names them."""
    typed = counts[..., :DISTANCE].reshape(*counts.shape[:-1], len(TYPES), FOLDS)
    return np.concatenate([typed.sum(-2, keepdims=True), typed], -2)


@dataclass(frozen=True)
class Questions:
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


def questions(windows: Sequence[Window], device: str, *, first_piece: bool) -> Questions:
    """The items of one batch's windows, in order."""
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
            others[row, column, : window.span[1] - window.span[0]] = True
            others[row, column, index[item.mention]] = False
            for chosen in (item.candidates, item.antecedents):
                mention[row, column, index[list(chosen)]] = chosen
            right[row, column, index[list(item.antecedents)]] = True
    allowed = np.stack([mention >= 0, others], 1)[:, None]
    whole = membership(windows, device, first_piece=first_piece)
    tensors = (torch.from_numpy(array).to(device) for array in (head, allowed, right, groups))
    return Questions(whole, mention, *tensors)


def answers(questions: Questions, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(batch, direction, candidates, head, item): the guessed word, its weight, and whether it heads an antecedent.

    The guess is the allowed word with the largest weight, the first of equals."""
    scores = questions.scores(weights)[:, :, None]  # (batch, direction, 1, head, item, word)
    allowed = questions.allowed[:, :, :, None]  # (batch, 1, candidates, 1, item, word)
    best, guess = scores.masked_fill(~allowed, -1.0).max(-1)
    right = questions.right[:, None, None, None].expand(*guess.shape, -1)
    return guess, best, right.gather(-1, guess[..., None])[..., 0]
