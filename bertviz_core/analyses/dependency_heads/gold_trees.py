"""The gold trees of a batch, the guesses at governors, and which of these are right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bertviz_core.corpora.treebank import Sentence
from bertviz_core.models.encoding import Membership

if TYPE_CHECKING:
    from torch import Tensor


SIDES = ("earlier", "later")  # where a causal model's direction can find a governor, in the order of DIRECTIONS
COUNTED = "governor {}"
CAUSAL = (
    "A token of this model sees only what comes earlier, so a head finds an arc from its later word alone: dependent → "
    "governor counts the words whose governor comes earlier, governor → dependent those whose governor comes later; "
    "heads, fixed offsets and random words alike. Beside it stands the share of all words."
)


def view_of_side(view: str, side: str) -> str:
    """Name under which the words of a view are counted whose governor stands on one of SIDES."""
    return f"{view}, governor {side}"


def views_by_side(view: str, sentence: Sentence) -> list[str]:
    """The view under which each word of a causal model is counted; a root, which has no side, under the view itself."""
    sides = [view_of_side(view, side) for side in SIDES]
    return [sides[governor > word] if governor else view for word, governor in enumerate(sentence.governors, start=1)]


@dataclass(frozen=True)
class Rules:
    """Rules by which guesses are scored.

    Attributes:
        views: Name -> function that transforms a sentence's tree; all views are scored, as their guesses are the same.
        possessives: Words that, after a word of relation `poss`, make the guess for it, where its own guess is not the
            last word; empty to disable that rule.
        first_piece: Whether a split word's row is that of its first piece.
        causal: Whether words are counted apart by the side on which their governor stands.
    """

    views: Mapping[str, Callable[[Sentence], Sentence]]
    possessives: tuple[str, ...] = ()
    first_piece: bool = False
    causal: bool = False


@dataclass(frozen=True)
class Trees:
    """Trees of a batch under one view; axes (batch, word), words counted from 0. The root's governor is -1, a bucket is
    relation * FOLDS + fold, and `ruled` says whether the `poss` rule applies."""

    governor: Tensor
    bucket: Tensor
    ruled: Tensor


@dataclass(frozen=True)
class GoldTrees:
    """Trees of a batch under every view; `last` (batch, 1) is the index of the last word."""

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

    def visible(self, trees: Trees) -> Tensor:
        """(real word,) how many words a causal model's guess is drawn from: those on the side of the governor."""
        import torch

        index = torch.arange(trees.governor.shape[1], device=trees.governor.device)
        words = torch.where(trees.governor < index, index, self.last - index)
        return words.clamp(min=1)[self.words.mask]


def best_words(maps: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """Find the most attended other word of each word, in both directions.

    Ties go to the first word. In a sentence of one word the guess is that word, which no tree says.

    Args:
        maps: (batch, head, word, word), whose diagonals are overwritten; padding holds 0, behind every real word, so it
            never wins a tie.
        last: (batch, 1) index of the last word.

    Returns:
        (weight, guess), each (batch, direction, head, word).
    """
    import torch

    maps.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
    row, column = maps.max(-1), maps.max(-2)
    weight = torch.stack([row.values, column.values], 1)
    guess = torch.stack([row.indices, column.indices], 1)
    return weight, guess.minimum(last[:, :, None, None])
