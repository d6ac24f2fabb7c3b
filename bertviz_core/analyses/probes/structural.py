"""The structural probe (Hewitt and Manning 2019), a linear map of each layer's states under which squared distances fit
distances in the tree. Scored by the edges of minimum spanning trees without punctuation (UUAS; Table 3's last row)."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from torch import Tensor, nn

from bertviz_core.analyses.probes.features import scratch_arrays
from bertviz_core.analyses.probes.training import Schedule, run_epochs
from bertviz_core.corpora.treebank import Sentence
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.annotated_words import EncodedSentence
from bertviz_core.inputs.encoding import buckets, collate, membership, word_of
from bertviz_core.inputs.tensors import to_host
from bertviz_core.models.model import AttentionModel, running

SENTENCES = 20  # sentences of a step
COPIED = 64  # sentences whose distances come from the device at a time
Edges = list[list[tuple[int, int]]]  # for each layer its edges (lower word, higher word), words from 0


def tree_distances(governors: Sequence[int]) -> np.ndarray:
    """(n, n) int16 edges between words in the tree that hangs from ROOT, ROOT counting as a word on the way."""
    size = len(governors)
    edges = csr_array((np.ones(size), (np.arange(1, size + 1), governors)), shape=(size + 1, size + 1))
    return shortest_path(edges, directed=False, unweighted=True)[1:, 1:].astype(np.int16)


@torch.inference_mode()
def word_states(
    model: AttentionModel, sentences: Sequence[EncodedSentence], progress: Progress, batch_tokens: int | None
) -> list[np.ndarray]:
    """The hidden states of words.

    Args:
        sentences: The sentences, numbered from 0.
        progress: Counts the sentences; raises Cancelled.
        batch_tokens: The most tokens of a batch; None for the model's default.

    Returns:
        For each sentence (layer, n, dimension) float16 states of its words, means over pieces; embeddings are layer 0.
    """
    size = model.encoder.config.hidden_size
    arrays = scratch_arrays([(model.layers + 1, len(each.sentence), size) for each in sentences], "hidden states")
    progress.start("Reading hidden states", len(sentences), "sentences")
    for group in buckets(sentences, batch_tokens or model.batch_tokens, model.length_limit):
        batch = collate(group, model.tokens, model.device)
        shares = membership([word_of(example) for example in group], model.device).from_word
        with running(model, batch.ids):
            output = model.encoder(**model.inputs(batch), output_hidden_states=True)
        states = torch.stack(output.hidden_states, 1)
        means = (shares[:, None] @ states.float()).half().cpu().numpy()  # (sentence, layer, word, dimension)
        for mean, example in zip(means, group, strict=True):
            array = arrays[example.number]
            array[:] = mean[:, : array.shape[1]]
        progress.advance(len(group))
    return arrays


class StructuralProbe(nn.Module):
    """A linear map B of each layer's states h, under which |B h_i - B h_j|^2 is to be the distance in the tree.

    Attributes:
        maps: (layer, dimension, rank) the maps.
    """

    def __init__(self, layers: int, dimension: int, rank: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.maps = nn.Parameter((torch.rand(layers, dimension, rank, generator=generator) - 0.5) * 0.1)

    def forward(self, states: Tensor) -> Tensor:
        """(layer, sentence, n, n) squared distances, from states (layer, sentence, n, dimension)."""
        record = states @ self.maps[:, None]
        square = record.square().sum(-1)
        return (square[..., :, None] + square[..., None, :] - 2 * record @ record.mT).clamp(min=0)


def loss_of(predicted: Tensor, gold: Tensor) -> Tensor:
    """(layer,) mean over sentences of the sum over pairs of |predicted - gold| / n^2."""
    return (predicted - gold).abs().mean((-1, -2)).mean(-1)


def fit(
    probe: StructuralProbe,
    states: Sequence[np.ndarray],
    trees: Sequence[np.ndarray],
    train: np.ndarray,
    validation: np.ndarray,
    schedule: Schedule,
    progress: Progress,
) -> list[float]:
    """Train by Adam over minibatches of sentences of one length. Layers do not influence each other, see `Best`.

    Args:
        probe: The probe, which is changed in place.
        states: For each sentence (layer, n, dimension) states of its words.
        trees: For each sentence (n, n) distances in its tree.
        train: Indices of the sentences that it is trained on.
        validation: Indices of the sentences whose loss ends the training.
        progress: Counts the steps; raises Cancelled.

    Returns:
        The validation loss of each epoch, its mean over layers.
    """
    parts = _minibatches(states, train)
    held_out = _minibatches(states, validation)
    total = sum(map(len, parts))
    device = probe.maps.device

    def losses(chosen: list[int]) -> Tensor:
        """(layer,) of a minibatch."""
        together = torch.from_numpy(np.stack([states[i] for i in chosen], 1)).to(device).float()
        gold = torch.from_numpy(np.stack([trees[i] for i in chosen])).to(device).float()
        return loss_of(probe(together), gold)

    def step(chosen: list[int]) -> tuple[Tensor, Tensor]:
        loss = losses(chosen)
        return loss.sum(), loss.detach().mean() * (len(chosen) / total)

    @torch.no_grad()
    def validate() -> Tensor:
        """(layer,) mean over the sentences held out; NaN of none."""
        sums = torch.zeros(len(probe.maps), device=device)
        for chosen in held_out:
            sums += len(chosen) * losses(chosen)
        return sums.cpu() / sum(map(len, held_out))

    return run_epochs(
        probe, schedule=schedule, parts=parts, step=step, validate=validate, progress=progress, name="structural"
    )


def _minibatches(states: Sequence[np.ndarray], chosen: np.ndarray) -> list[list[int]]:
    """Sentences of one length together; those of one word have no distances to learn."""
    by_length = defaultdict(list)
    for i in chosen.tolist():
        by_length[states[i].shape[1]].append(i)
    by_length.pop(1, None)
    return [group[k : k + SENTENCES] for group in by_length.values() for k in range(0, len(group), SENTENCES)]


@torch.no_grad()
def spanning_trees(
    probe: StructuralProbe, states: Sequence[np.ndarray], chosen: np.ndarray, counted: Sequence[np.ndarray]
) -> dict[int, Edges]:
    """Minimum spanning trees under the distances of the probe.

    Args:
        states: For each sentence (layer, n, dimension) states of its words.
        chosen: Indices of the sentences whose trees are computed.
        counted: For each sentence (n,) bool, which words the tree has.

    Returns:
        From the index of a sentence to the edges of its tree in each layer.
    """

    def tree(apart: np.ndarray, words: np.ndarray) -> list[tuple[int, int]]:
        if len(words) < 2:
            return []
        # The small number is there because a distance of 0 would be no edge.
        ends = minimum_spanning_tree(apart[np.ix_(words, words)] + 1e-6).nonzero()
        return [(int(min(pair)), int(max(pair))) for pair in zip(*(words[end] for end in ends), strict=True)]

    trees: dict[int, Edges] = {}
    for start in range(0, len(chosen), COPIED):
        together = chosen[start : start + COPIED].tolist()
        devices = [torch.from_numpy(states[i])[:, None].to(probe.maps.device).float() for i in together]
        for i, predicted in zip(together, to_host([probe(each)[:, 0] for each in devices]), strict=True):
            words = np.flatnonzero(counted[i])
            trees[i] = [tree(layer, words) for layer in predicted.astype(np.float64)]
    return trees


def right_edges(trees_of: dict[int, Edges], sentences: Sequence[Sentence]) -> np.ndarray:
    """(layer, word) 1 where the edge from a word to its governor is in the tree, over the sentences of `trees_of`."""
    rows = []
    for i, trees in trees_of.items():
        pairs = [tuple(sorted((word, governor - 1))) for word, governor in enumerate(sentences[i].governors)]
        rows.append([[pair in edges for pair in pairs] for edges in map(set, trees)])
    return np.concatenate(rows, 1).astype(float)
