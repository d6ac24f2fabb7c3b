"""From scores to trees: each word's best candidate, or the maximum spanning tree."""

from __future__ import annotations

import networkx
import numpy as np
import torch

from bertviz_core.analyses.probes.probes import Probe
from bertviz_core.analyses.probes.training import Data
from bertviz_core.engine.progress import Progress


@torch.no_grad()
def guesses(probe: Probe, data: Data, decode: str, progress: Progress) -> dict[int, np.ndarray]:
    """Guess the governor of every word of each sentence.

    Args:
        decode: "greedy" or "mst".

    Returns:
        Index of a sentence -> (word,) governors, 0 being ROOT.
    """
    heads: dict[int, np.ndarray] = {}
    for group, rows, batch in data:
        scores = probe(batch).log_softmax(-1)
        if decode == "greedy":
            trees = list(scores.argmax(-1).cpu().numpy())
        else:
            trees = [spanning_tree(sentence) for sentence in scores.double().cpu().numpy()]
        heads |= dict(zip(group.indices[rows].tolist(), trees, strict=True))
        progress.advance(0)
    return heads


def spanning_tree(scores: np.ndarray) -> np.ndarray:
    """(n,) governors of the maximum spanning tree (Chu-Liu/Edmonds) under scores (n, n + 1); a word never governs
    itself. ROOT may govern several words."""
    graph = networkx.DiGraph()
    for word, row in enumerate(scores, start=1):
        for candidate, score in enumerate(row):
            if candidate != word and np.isfinite(score):
                graph.add_edge(candidate, word, weight=float(score))
    tree = networkx.maximum_spanning_arborescence(graph)
    governors = np.zeros(len(scores), dtype=np.int64)
    for governor, word in tree.edges:
        governors[word - 1] = governor
    return governors
