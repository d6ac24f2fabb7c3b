"""The probes: scores (sentence, dependent, candidate) of governors, candidate 0 being ROOT, from maps and word vectors;
their softmax over candidates is p(i|j), that word i governs word j (docs/methods.md, section 8)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

HIDDEN = 256
DISTANCES = 8  # (j-i)/n ahead, the same behind, offsets 0, -1, +1, -2, +2, ROOT


@dataclass(frozen=True)
class ProbeBatch:
    """Sentences of n words on the device.

    Attributes:
        maps: (sentence, n, n, head) float32 word-level attention; the first index attends to the second.
        root: (sentence, 4, n, head) float32 attention from and to special tokens, see ROOT_ROWS of the features.
        words: (sentence, n) rows of the word vectors.
        governors: (sentence, n) governors, from 1; 0 is ROOT.
    """

    maps: Tensor
    root: Tensor
    words: Tensor
    governors: Tensor


class Probe(nn.Module):
    """A probe with two choices of the release (docs/methods.md, section 8).

    Attributes:
        paper: Whether ROOT has the words' weights, on maps with CLS times one learned scale plus maps with SEP times
            another, and a word may govern itself; else ROOT has its own weights.
        misaligned_root: Whether candidate i has the vector of word i+1, a slip of the release; for the last candidate
            both its vector and the dependent's are then 0.
        scales: (2,) the scales for CLS and SEP; None unless `paper`.
    """

    def __init__(self, paper: bool = False, misaligned_root: bool = False) -> None:
        super().__init__()
        self.paper = paper
        self.misaligned_root = misaligned_root
        self.scales = nn.Parameter(torch.ones(2)) if paper else None

    def joined(self, words: Tensor, root: Tensor) -> Tensor:
        """(sentence, n, n + 1) from scores (sentence, dependent, candidate word) and ROOT's (sentence, n)."""
        if not self.paper:
            own = torch.eye(words.shape[1], dtype=torch.bool, device=words.device)
            words = words.masked_fill(own, -torch.inf)
        return torch.cat([root[:, :, None], words], -1)


class AttentionOnly(Probe):
    """The score sum_k w_k A_k[i,j] + u_k A_k[j,i] over heads k (docs/methods.md, section 8).

    This probe and the next are linear in their parameters, so that their losses are convex.

    Attributes:
        weights: (2, head) w (governor -> dependent), then u (dependent -> governor).
        root: (4, head) weights for ROOT, in the order of ROOT_ROWS; None where `paper`.
    """

    def __init__(self, heads: int, vectors: Tensor | None = None, **release: bool) -> None:
        super().__init__(**release)
        self.weights = nn.Parameter(torch.zeros(2, heads))
        self.root = None if self.paper else nn.Parameter(torch.zeros(4, heads))

    def forward(self, batch: ProbeBatch) -> Tensor:
        """(sentence, word, candidate) scores: every candidate for the governor of every word (docs/methods.md, section
        8)."""
        ahead, back = (batch.maps @ self.weights.T).unbind(-1)  # (sentence, n, n)
        if self.root is not None:
            return self.joined(ahead.mT + back, torch.einsum("brjk,rk->bj", batch.root, self.root))
        of_root = batch.root[:, 0::2] @ self.weights[1] + batch.root[:, 1::2] @ self.weights[0]
        return self.joined(ahead.mT + back, torch.einsum("bsj,s->bj", of_root, self.scales))


class AttentionAndWords(Probe):
    """Weights from word vectors: w_k = W_k.(v_i + v_j) and u_k = U_k.(v_i + v_j), "+" being concatenation.

    Factorized, sum_k A_k[i,j] (a_k(v_i) + c_k(v_j)), so that nothing of size n x n x 2D is built.

    Attributes:
        vectors: (row, dimension) the vectors of words.
        governor: From v_i to its share of each head's w, then of each head's u.
        dependent: From v_j to the same.
        root: From v_j to each head's weights for ROOT, in the order of ROOT_ROWS; None where `paper`.
    """

    def __init__(self, heads: int, vectors: Tensor, **release: bool) -> None:
        super().__init__(**release)
        self.vectors = nn.Buffer(vectors)
        dimension = vectors.shape[1]
        self.governor = nn.Linear(dimension, 2 * heads)
        self.dependent = nn.Linear(dimension, 2 * heads, bias=False)
        self.root = None if self.paper else nn.Linear(dimension, 4 * heads)
        for layer in self.children():
            for parameter in layer.parameters():
                nn.init.zeros_(parameter)

    def forward(self, batch: ProbeBatch) -> Tensor:
        """(sentence, word, candidate) scores: every candidate for the governor of every word (docs/methods.md, section
        8)."""
        vectors = self.vectors[batch.words]  # (sentence, n, dimension)
        root_vector, candidates = aligned(vectors, self.misaligned_root)
        of_governor = self.governor(candidates).unflatten(-1, (2, -1))  # (sentence, i, 2, head)
        of_dependent = self.dependent(vectors).unflatten(-1, (2, -1))  # (sentence, j, 2, head)
        # This is multiplied along the first index of the maps.
        first = torch.stack([of_governor[:, :, 0], of_dependent[:, :, 1]], -1)
        # This is multiplied along the second index.
        second = torch.stack([of_dependent[:, :, 0], of_governor[:, :, 1]], -1)
        by_second = (batch.maps.transpose(1, 2) @ second).transpose(1, 2)
        ahead, back = (batch.maps @ first + by_second).unbind(-1)
        scores = ahead.mT + back
        if self.misaligned_root:
            last = batch.maps[:, -1] * of_dependent[:, :, 0] + batch.maps[:, :, -1] * of_dependent[:, :, 1]
            scores[:, :, -1] -= last.sum(-1)
        return self.joined(scores, self._root(batch, vectors, root_vector, of_dependent))

    def _root(self, batch: ProbeBatch, vectors: Tensor, root_vector: Tensor, of_dependent: Tensor) -> Tensor:
        if self.root is not None:
            weights = self.root(vectors).unflatten(-1, (4, -1))
            return torch.einsum("brjk,bjrk->bj", batch.root, weights)
        weights = self.governor(root_vector).unflatten(-1, (2, -1))[:, None] + of_dependent  # (sentence, j, 2, head)
        ahead = torch.einsum("bsjk,bjk->bsj", batch.root[:, 1::2], weights[:, :, 0])
        back = torch.einsum("bsjk,bjk->bsj", batch.root[:, 0::2], weights[:, :, 1])
        return torch.einsum("bsj,s->bj", ahead + back, self.scales)


class DistancesAndWords(Probe):
    """One hidden layer of HIDDEN tanh units over [v_i, v_j, 8 distance features]; v_ROOT = 0 unless misaligned.

    Attributes:
        vectors: (row, dimension) the vectors of words.
        governor: From v_i to the hidden layer.
        dependent: From v_j to the hidden layer.
        distance: From the features of `distances` to the hidden layer.
        output: From the hidden layer to the score.
    """

    def __init__(self, heads: int, vectors: Tensor, **release: bool) -> None:
        super().__init__(**release)
        self.scales = None
        self.vectors = nn.Buffer(vectors)
        self.governor = nn.Linear(vectors.shape[1], HIDDEN)
        self.dependent = nn.Linear(vectors.shape[1], HIDDEN, bias=False)
        self.distance = nn.Linear(DISTANCES, HIDDEN, bias=False)
        self.output = nn.Linear(HIDDEN, 1, bias=False)

    def forward(self, batch: ProbeBatch) -> Tensor:
        """(sentence, word, candidate) scores: every candidate for the governor of every word (docs/methods.md, section
        8)."""
        vectors = self.vectors[batch.words]
        root_vector, words = aligned(vectors, self.misaligned_root)
        candidates = torch.cat([root_vector[:, None], words], 1)
        distance = self.distance(distances(vectors.shape[1], vectors.device))  # (n, n + 1, hidden)
        of_dependent = self.dependent(vectors)[:, :, None]
        if self.misaligned_root:
            of_dependent = of_dependent.repeat(1, 1, candidates.shape[1], 1)
            of_dependent[:, :, -1] = 0
        hidden = self.governor(candidates)[:, None] + of_dependent + distance
        scores = self.output(hidden.tanh())[..., 0]
        return self.joined(scores[:, :, 1:], scores[:, :, 0])


def aligned(vectors: Tensor, misaligned: bool) -> tuple[Tensor, Tensor]:
    """ROOT's vector (sentence, dimension), 0, and the words' own; or those of the words after them, the last one 0."""
    first = vectors[:, 0]
    if not misaligned:
        return torch.zeros_like(first), vectors
    return first, nn.functional.pad(vectors[:, 1:], (0, 0, 0, 1))


def distances(size: int, device: torch.device | str = "cpu") -> Tensor:
    """(dependent, candidate, 8) features of the distance j - i; of ROOT the indicator alone."""
    words = torch.arange(size, device=device)
    apart = (words[:, None] - words).float()
    near = [(apart == offset).float() for offset in (0, -1, 1, -2, 2)]
    features = [(apart / size).clamp(min=0), (-apart / size).clamp(min=0), *near]
    full = torch.zeros(size, size + 1, DISTANCES, device=device)
    full[:, 1:, :-1] = torch.stack(features, -1)
    full[:, 0, -1] = 1
    return full
