"""Word-level maps of all heads, computed once: what the attention probes read (docs/methods.md, sections 5 and 8).

Sentences of exactly the same number of words share an array, so nothing is padded. Maps are float16, in memory
or in a temporary file.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from bertviz_core.engine.packing import pack, unpack
from bertviz_core.errors import SettingsError
from bertviz_core.models.annotated import EncodedSentence
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import Batch, Encoded, membership, word_of
from bertviz_core.models.model import AttentionModel

IN_MEMORY = 1 << 29  # bytes; more than this goes to disk
MAX_ON_DISK = 1 << 35  # bytes that may go there
ROOT_ROWS = 4  # A[j,CLS], A[CLS,j], A[j,SEP], A[SEP,j]
ARRAYS = ("maps", "root")  # of WordMaps


def scratch_arrays(shapes: Sequence[tuple[int, ...]], what: str) -> list[np.ndarray]:
    """Room for what is computed once and read many times: float16 zeros of each of the shapes, in memory where they are
    small, else in a memory-mapped file that goes with them. Raises SettingsError where there is no room for `what`."""
    ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
    size, folder = 2 * ends[-1], tempfile.gettempdir()
    if size <= IN_MEMORY:
        flat = np.zeros(ends[-1], dtype=np.float16)
    elif size > min(MAX_ON_DISK, shutil.disk_usage(folder).free * 0.8):
        raise SettingsError(
            f"The {what} of this treebank needs {size / 1e9:,.0f} GB, more than is free.",
            where=folder,
            hint="Use --limit, or free space in the temporary folder.",
        )
    else:
        flat = np.memmap(tempfile.TemporaryFile(), np.float16, "w+", shape=(ends[-1],))  # noqa: SIM115
    return [flat[end - math.prod(shape) : end].reshape(shape) for shape, end in zip(shapes, ends, strict=True)]


@dataclass(frozen=True)
class Group:
    """Sentences of n words. Axes (sentence, query, key, head), heads of all layers in one axis of features.

    Attributes:
        indices: (sentence,) their places among all sentences, in order.
        maps: (sentence, n, n, head) float16.
        root: (sentence, 4, n, head) float16, see ROOT_ROWS.
        governors: (sentence, n) int64, 0 is ROOT.
        words: (sentence, n) int64 rows of the word vectors.
    """

    indices: np.ndarray
    maps: np.ndarray
    root: np.ndarray
    governors: np.ndarray
    words: np.ndarray

    @property
    def length(self) -> int:
        return self.governors.shape[1]


class Features:
    """The groups of all sentences, shortest first; sentences are numbered 0, 1, 2 in the list."""

    def __init__(self, sentences: Sequence[EncodedSentence], rows: Sequence[np.ndarray], heads: int) -> None:
        lengths = np.array([len(sentence.sentence) for sentence in sentences])
        sizes = [(int(n), np.flatnonzero(lengths == n)) for n in np.unique(lengths)]
        arrays = scratch_arrays([(len(each), k, n, heads) for n, each in sizes for k in (n, ROOT_ROWS)], "maps")
        self.groups: list[Group] = []
        self.row: dict[int, tuple[int, int]] = {}
        for (_, members), maps, root in zip(sizes, arrays[::2], arrays[1::2], strict=True):
            governors = np.array([sentences[i].sentence.governors for i in members.tolist()])
            self.row |= {i: (len(self.groups), row) for row, i in enumerate(members.tolist())}
            self.groups.append(Group(members, maps, root, governors, np.stack([rows[i] for i in members.tolist()])))

    def take(self, part: WordMaps) -> None:
        """Write maps to their places; those of another network replace them."""
        for number, maps in part.maps.items():
            group, index = self.row[number]
            self.groups[group].maps[index] = maps
            self.groups[group].root[index] = part.root[number]


@dataclass
class WordMaps:
    """An accumulator of maps; `merge` joins them, nothing is summed.

    Attributes:
        first_piece: Whether a split word is its first piece, as in mode paper.
        maps: By the number of the sentence, (n, n, head) float16, heads of all layers in one axis.
        root: Likewise, (ROOT_ROWS, n, head) float16.
    """

    model: AttentionModel
    first_piece: bool
    maps: dict[int, np.ndarray] = field(default_factory=dict)
    root: dict[int, np.ndarray] = field(default_factory=dict)
    _open: Batch | None = None

    def new_empty(self) -> Self:
        return type(self)(self.model, self.first_piece)

    def merge(self, other: Self) -> None:
        self.maps |= other.maps
        self.root |= other.root

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        if self._open is not batch:
            self._begin(batch)
        maps = self._words.maps(attention.weights).half().permute(0, 2, 3, 1).cpu().numpy()
        first = attention.layer * self.model.heads
        heads = slice(first, first + self.model.heads)
        for row, (example, (words, cls, sep)) in enumerate(zip(batch.examples, self._owners, strict=True)):
            self.maps[example.number][:, :, heads] = maps[row][np.ix_(words, words)]
            for at, special in ((0, cls), (2, sep)):
                if special is not None:  # a model without it has no such feature: zeros
                    self.root[example.number][at, :, heads] = maps[row, words, special]
                    self.root[example.number][at + 1, :, heads] = maps[row, special, words]

    def to_bytes(self) -> bytes:
        return pack({f"{name}/{number}": each for name in ARRAYS for number, each in getattr(self, name).items()})

    def from_bytes(self, data: bytes) -> Self:
        full = self.new_empty()
        for path, array in unpack(data).items():
            name, _, number = path.partition("/")
            getattr(full, name)[int(number)] = array
        return full

    def _begin(self, batch: Batch) -> None:
        self._open = batch
        self._words = membership(batch.examples, self.model.device, first_piece=self.first_piece, special=True)
        self._owners = [_owners(example, self.model) for example in batch.examples]
        heads = self.model.layers * self.model.heads
        for example, (words, _, _) in zip(batch.examples, self._owners, strict=True):
            self.maps[example.number] = np.zeros((len(words), len(words), heads), dtype=np.float16)
            self.root[example.number] = np.zeros((ROOT_ROWS, len(words), heads), dtype=np.float16)


def _owners(example: Encoded, model: AttentionModel) -> tuple[np.ndarray, int | None, int | None]:
    """Places of the words, of CLS and of SEP on the axis where special tokens stand as words of their own."""
    owner, words = word_of(example, special=True), np.asarray(example.words)
    cls, sep = (
        next((int(index) for index in owner[(example.ids == token) & (words < 0)]), None)
        for token in (model.tokens.cls, model.tokens.sep)
    )
    return np.unique(owner[words >= 0]), cls, sep
