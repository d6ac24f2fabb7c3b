"""What the probes read: word-level maps of all heads, and word vectors (docs/methods.md, sections 5 and 8)."""

import math
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

from bertviz_core.corpora.readers import read_vectors
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.treebank import Sentence
from bertviz_core.engine.forward_pass import Accumulator
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.errors import SettingsError
from bertviz_core.inputs.encoding import Batch, Encoded, membership, word_of
from bertviz_core.inputs.tensors import to_host
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.dispatched import check_copies, read_weight
from bertviz_core.models.loading import prepare
from bertviz_core.models.model import AttentionModel, with_weights

IN_MEMORY = 1 << 29  # bytes of features in memory; more go to disk
MAX_ON_DISK = 1 << 35  # bytes of features that may go to disk
# The name of a parameter that belongs to one of several layers
NUMBERED = re.compile(r"(^|\.)\d+\.")
ROOT_ROWS = 4  # A[j,CLS], A[CLS,j], A[j,SEP], A[SEP,j]


def scratch_arrays(shapes: Sequence[tuple[int, ...]], what: str) -> list[np.ndarray]:
    """Float16 zeros of each of the shapes, in memory if small, else in a memory-mapped file that goes with them.

    Raises:
        SettingsError: There is no room for `what`.
    """
    ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
    size = 2 * ends[-1]
    folder = tempfile.gettempdir()
    if size <= IN_MEMORY:
        flat = np.zeros(ends[-1], dtype=np.float16)
    elif size > min(MAX_ON_DISK, shutil.disk_usage(folder).free * 0.8):
        message = f"The {what} of this treebank needs {size / 1e9:,.0f} GB, more than is free."
        raise SettingsError(message, where=folder, hint="Use --limit, or free space in the temporary folder.")
    else:
        flat = np.memmap(tempfile.TemporaryFile(), np.float16, "w+", shape=(ends[-1],))  # noqa: SIM115
    return [flat[end - math.prod(shape) : end].reshape(shape) for shape, end in zip(shapes, ends, strict=True)]


@dataclass(frozen=True)
class Group:
    """Sentences of n words, without padding.

    Attributes:
        indices: (sentence,) indices among all sentences, in order.
        maps: (sentence, query, key, head) float16 word-level attention, heads of all layers.
        root: (sentence, 4, n, head) float16 attention from and to special tokens, see ROOT_ROWS.
        governors: (sentence, n) int64 governors, from 1; 0 is ROOT.
        words: (sentence, n) int64 rows of the word vectors.
    """

    indices: np.ndarray
    maps: np.ndarray
    root: np.ndarray
    governors: np.ndarray
    words: np.ndarray


class ProbeInputs:
    """The groups of all sentences.

    Attributes:
        groups: Sentences of equal length together, the shortest first.
        places: From the index of a sentence to its group, and to its row there.
    """

    def __init__(self, sentences: Sequence[Sentence], rows: Sequence[np.ndarray], heads: int) -> None:
        lengths = np.array(list(map(len, sentences)))
        members = {int(n): np.flatnonzero(lengths == n) for n in np.unique(lengths)}
        arrays = scratch_arrays([(len(each), n + ROOT_ROWS, n, heads) for n, each in members.items()], "maps")
        self.groups: list[Group] = []
        self.places: dict[int, tuple[Group, int]] = {}
        for (n, indices), array in zip(members.items(), arrays, strict=True):
            governors = np.array([sentences[i].governors for i in indices.tolist()])
            words = np.stack([rows[i] for i in indices.tolist()])
            group = Group(indices=indices, maps=array[:, :n], root=array[:, n:], governors=governors, words=words)
            self.groups.append(group)
            self.places |= {i: (group, row) for row, i in enumerate(indices.tolist())}

    def take(self, part: "WordMaps") -> None:
        """Copy maps into the groups, in place of another network's."""
        for number, features in part.features.items():
            group, row = self.places[number]
            group.maps[row], group.root[row] = np.split(features, [-ROOT_ROWS])


@dataclass
class WordMaps(Accumulator):
    """Collects the features of each sentence by its number, (n + ROOT_ROWS, n, head) float16, as in Group.

    Attributes:
        first_piece: Whether a split word is its first piece, as in mode paper.
    """

    model: AttentionModel
    first_piece: bool
    _features: dict[int, np.ndarray] = field(init=False, default_factory=dict)
    # Batches whose maps wait on the device: examples, the words of each one's tokens, maps (batch, query, key, head)
    _waiting: list[tuple[tuple[Encoded, ...], list[np.ndarray], Tensor]] = field(init=False, default_factory=list)

    def new_empty(self) -> Self:
        return replace(self)

    def merge(self, other: Self) -> None:
        self._features |= other._features
        self._waiting += other._waiting

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        """Add a layer of the one batch that the accumulator sees."""
        if attention.layer == 0:
            self._owners = [word_of(example, special=True) for example in batch.examples]
            self._membership = membership(self._owners, self.model.device, first_piece=self.first_piece)
            self._maps: list[Tensor] = []
        self._maps.append(self._membership.maps(attention.weights).half().permute(0, 2, 3, 1))
        if attention.layer == self.model.layers - 1:
            self._waiting.append((batch.examples, self._owners, torch.cat(self._maps, -1)))
            self._maps = []

    @property
    def features(self) -> dict[int, np.ndarray]:
        """The features (n + ROOT_ROWS, n, head) of all sentences so far, by the number of the sentence."""
        waiting, self._waiting = self._waiting, []
        for (examples, owners, _), maps in zip(waiting, to_host([each for *_, each in waiting]), strict=True):
            for sentence, example, owner in zip(maps, examples, owners, strict=True):
                self._features[example.number] = self._of_sentence(sentence, example, owner)
        return self._features

    def _of_sentence(self, maps: np.ndarray, example: Encoded, owner: np.ndarray) -> np.ndarray:
        """The features of one sentence from its maps (query, key, head), special tokens and padding included."""
        is_word = np.asarray(example.words) >= 0
        words = np.unique(owner[is_word])
        n = len(words)
        features = np.zeros((n + ROOT_ROWS, n, maps.shape[-1]), dtype=np.float16)
        features[:n] = maps[np.ix_(words, words)]
        for row, token in ((n, self.model.tokens.cls), (n + 2, self.model.tokens.sep)):
            for special in owner[~is_word & (example.ids == token)][:1]:  # A model without the token has zeros.
                features[row] = maps[words, special]
                features[row + 1] = maps[special, words]
        return features

    def to_bytes(self) -> bytes:
        return pack({str(number): each for number, each in self.features.items()})

    def from_bytes(self, data: bytes) -> Self:
        full = self.new_empty()
        full._features = {int(number): each for number, each in unpack(data).items()}
        return full


def reinitialized(model: AttentionModel, seed: int) -> AttentionModel:
    """The model with its layers' weights drawn at random by its own initializer; the embeddings stay trained. Raises
    ModelError for a model in several places."""
    check_copies(model.encoder, model.checkpoint.name)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = type(model.encoder)(model.encoder.config)
    selected = {name: value for name, value in model.encoder.state_dict().items() if not NUMBERED.search(name)}
    encoder.load_state_dict(selected, strict=False)
    parameter = next(model.encoder.parameters())
    encoder = encoder.to(parameter.dtype)
    drawn = prepare(encoder, model.tokens, model.checkpoint, model.device)
    return with_weights(drawn, "attention" if model.factors is None else "norms")


def word_vectors(
    model: AttentionModel, words: Sequence[str], source: Source | None, scaled: bool
) -> tuple[dict[str, int], np.ndarray, str]:
    """The vectors of words, from a file, else the model's input embeddings, means over pieces.

    Args:
        words: The different words.
        source: A file of vectors in GloVe format; None for the model's.
        scaled: Whether vectors are scaled to a mean square of 1.

    Returns:
        The row of each word that has a vector, the vectors (row, dimension) float32, row 0 being zeros, and their name.
    """
    if source:
        rows, matrix = read_vectors(source, set(words))
        name = source.name
    else:
        table = read_weight(model.encoder.get_input_embeddings(), "weight").float().cpu().numpy()
        pieces = [model.tokens.pieces(word) or [model.tokens.unknown] for word in words]
        rows = {word: index for index, word in enumerate(words, start=1)}
        matrix = np.stack([np.zeros(table.shape[1]), *(table[ids].mean(0) for ids in pieces)])
        name = "the model's input embeddings"
    scale = np.sqrt(np.square(matrix[1:], dtype=np.float64).mean()) if scaled and len(matrix) > 1 else 1.0
    return rows, (matrix / (scale or 1.0)).astype(np.float32), name  # All embeddings may be zero.
