"""Word-level maps of all heads, computed once: what the attention probes read (docs/methods.md, sections 5 and 8).

Sentences of exactly the same number of words share an array, so nothing is padded. Maps are float16, in a
`ScratchArray` that is removed at the end of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from bertviz_core.analyses.probes.scratch_array import ScratchArray
from bertviz_core.analyses.probes.word_maps import ROOT_ROWS, WordMaps
from bertviz_core.models.annotated import EncodedSentence


@dataclass(frozen=True, slots=True)
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


class Features(AbstractContextManager["Features"]):
    """The groups of all sentences, shortest first; a context that removes its file when left.

    The sentences' numbers are their places in the list: 0, 1, 2.
    """

    def __init__(self, sentences: Sequence[EncodedSentence], rows: Sequence[np.ndarray], heads: int) -> None:
        lengths = np.array([len(sentence.sentence) for sentence in sentences])
        sizes = [(int(n), np.flatnonzero(lengths == n)) for n in np.unique(lengths)]
        total = sum(len(members) * n * (n + ROOT_ROWS) * heads for n, members in sizes)
        self._scratch = ScratchArray(total, "maps")
        flat = self._scratch.flat
        self.groups: list[Group] = []
        self.row: dict[int, tuple[int, int]] = {}
        start = 0
        for n, members in sizes:
            cut = start + len(members) * n * n * heads
            end = cut + len(members) * n * ROOT_ROWS * heads
            maps, root = (
                flat[start:cut].reshape(-1, n, n, heads),
                flat[cut:end].reshape(-1, ROOT_ROWS, n, heads),
            )
            governors = np.array([sentences[i].sentence.governors for i in members.tolist()])
            self.row |= {i: (len(self.groups), row) for row, i in enumerate(members.tolist())}
            self.groups.append(Group(members, maps, root, governors, np.stack([rows[i] for i in members.tolist()])))
            start = end

    def __exit__(self, *error: object) -> None:
        self.groups = []
        self._scratch.__exit__(*error)

    def take(self, part: WordMaps) -> None:
        """Write maps to their places; those of another network replace them."""
        for number, maps in part.maps.items():
            group, index = self.row[number]
            self.groups[group].maps[index] = maps
            self.groups[group].root[index] = part.root[number]
