"""Word vectors for the probes: the model's own, and those that a result keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.corpora.source import Source
from bertviz_core.corpora.vectors import read_vectors
from bertviz_core.models.model import AttentionModel


@dataclass(frozen=True, slots=True)
class Pairs:
    """What attention and words makes of a pair of words: the arrays of analyses.probes.Probes, heads in one axis."""

    names: list[str]
    vectors: np.ndarray
    weights: np.ndarray
    bias: np.ndarray


def word_vectors(
    model: AttentionModel, words: Sequence[str], source: Source | None
) -> tuple[dict[str, int], np.ndarray, str]:
    """The row of each word, the matrix and its name: from the file, else the model's input embeddings."""
    if source:
        read = read_vectors(source, set(words))
        return {word: read.row(word) for word in words}, read.matrix, source.name
    rows = {word: index for index, word in enumerate(words, start=1)}
    return rows, embeddings(model, words), "the model's input embeddings"


def embeddings(model: AttentionModel, words: Sequence[str]) -> np.ndarray:
    """(1 + word, dimension) the model's input embeddings, averaged over a word's pieces; row 0, zeros, for no word."""
    table = model.encoder.get_input_embeddings().weight.detach().float().cpu().numpy()
    pieces = [model.tokens.pieces(word) or [model.tokens.unknown] for word in words]
    return np.stack([np.zeros(table.shape[1]), *(table[ids].mean(0) for ids in pieces)])
