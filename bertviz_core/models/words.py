"""Word-level attention: to a split word the sum over its pieces, from it the mean (section 4.1).

With C the (piece, word) membership and R its transpose, each row divided by the word's number of pieces, the
word-level map of A is R A C: two products for all heads and sentences of a batch. Rows still sum to 1.

Definitions: docs/methods.md, section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bertviz_core.models.encoding import Encoded

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Membership:
    """Assignment of tokens to words, for one batch.

    Attributes:
        to_word: (batch, token, word) 1 where the token is a piece of the word: weights TO a word are summed.
        from_word: (batch, word, token) the weight of each token in the mean over a word's pieces, or 1 for its first
            piece.
        mask: (batch, word) bool, which words are real.
    """

    to_word: Tensor
    from_word: Tensor
    mask: Tensor

    def maps(self, weights: Tensor) -> Tensor:
        """(batch, head, query, key) over tokens to (batch, head, word, word), rows and columns of padding 0."""
        batch, heads, tokens, words = (*weights.shape[:3], self.to_word.shape[2])
        # Heads share the membership: two products of whole sentences, not of single maps.
        to = (weights.reshape(batch, heads * tokens, -1) @ self.to_word).view(batch, heads, tokens, words)
        of = self.from_word @ to.transpose(1, 2).reshape(batch, tokens, heads * words)
        return of.view(batch, words, heads, words).transpose(1, 2)


def membership(
    examples: Sequence[Encoded], device: str, *, first_piece: bool = False, special: bool = False
) -> Membership:
    """The membership of a padded batch of examples whose words are known.

    Args:
        first_piece: From a split word take its first piece alone, as the release does.
        special: Let each special token be a word; otherwise axis `word` has the words of the sentence, from 0.
    """
    return _membership([word_of(example, special) for example in examples], device, first_piece)


def maps_of_one(maps: np.ndarray, owner: np.ndarray, *, first_piece: bool = False) -> np.ndarray:
    """One input's maps between tokens (layer, head, query, key), float32, as maps between words, from `owner` (token,):
    word numbers from 0, none left out."""
    import torch

    return _membership([owner], "cpu", first_piece).maps(torch.from_numpy(maps)).numpy()  # layers share the words


def _membership(owners: Sequence[np.ndarray], device: str, first_piece: bool) -> Membership:
    """The membership of a padded batch: for each example (token,) the word of each token, -1 for none."""
    import torch

    tokens, words = max(map(len, owners)), max(int(owner.max(initial=-1)) + 1 for owner in owners)
    padded = np.full((len(owners), tokens), -1, dtype=np.int64)
    for row, owner in enumerate(owners):
        padded[row, : len(owner)] = owner
    owned = torch.from_numpy(padded).to(device)
    to_word = (owned[:, :, None] == torch.arange(words, device=device)).float()
    pieces = to_word.sum(1)  # (batch, word)
    if first_piece:
        rank = (to_word * to_word.cumsum(1)).transpose(1, 2)  # 1 for a word's first piece
        from_word = (rank == 1).float()
    else:
        from_word = to_word.transpose(1, 2) / pieces.clamp(min=1)[:, :, None]
    return Membership(to_word, from_word, pieces > 0)


def word_of(example: Encoded, special: bool) -> np.ndarray:
    """(token,) the word of each token, -1 for none; with `special`, the special tokens count as words, in order."""
    if example.words is None:
        raise ValueError(f"{example.where}: the words of this example are not known")
    if not special:
        return example.words
    starts = (np.diff(example.words, prepend=-2) != 0) | (example.words < 0)
    return np.asarray(np.cumsum(starts) - 1)
