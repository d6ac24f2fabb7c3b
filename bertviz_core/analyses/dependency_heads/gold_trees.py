"""The gold trees of a batch, and which guesses at governors are right by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bertviz_core.corpora.treebank.trees import Sentence
from bertviz_core.models.words import Membership

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Rules:
    """What the guesses are scored against, and how.

    views: by name, what each makes of a sentence's tree; all are scored, for the guesses are the same.
    possessives: the words that, following a word of relation `poss`, make the guess for it, where its own guess is
    not the last word; none switches that rule off.
    first_piece: a split word's row is that of its first piece.
    """

    views: Mapping[str, Callable[[Sentence], Sentence]]
    possessives: tuple[str, ...] = ()
    first_piece: bool = False


@dataclass(frozen=True, slots=True)
class Trees:
    """A batch's trees under one view; axes (batch, word), words counted from 0.

    governor: -1 for the root.   bucket: relation * FOLDS + fold.   ruled: the `poss` rule applies.
    """

    governor: Tensor
    bucket: Tensor
    ruled: Tensor


@dataclass(frozen=True, slots=True)
class GoldTrees:
    """A batch's trees under every view.   last: (batch, 1) the last word."""

    words: Membership
    last: Tensor
    trees: tuple[Trees, ...]

    def scored(self, trees: Trees, guess: Tensor) -> Tensor:
        """(real word, ...) whether guesses (batch, ..., word) are right, for the real words of the batch alone."""
        import torch

        between = [1] * (guess.dim() - 2)
        following = torch.cat([guess[..., 1:], guess[..., -1:]], -1)
        ruled = trees.ruled.view(len(guess), *between, -1) & (guess != self.last.view(-1, *between, 1))
        right = torch.where(ruled, following, guess) == trees.governor.view(len(guess), *between, -1)
        return right.movedim(-1, 1)[self.words.mask]
