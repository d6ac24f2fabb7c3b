"""Results of clustering from divergences that a test chooses."""

import numpy as np

from bertviz_core.analyses.clustering.embedding import dendrogram, embed
from bertviz_core.analyses.clustering.result import Clustering


def clustering_of(divergence: np.ndarray, averages: np.ndarray) -> Clustering:
    """A result with these divergences (head, head) and averages (quantity, layer, head)."""
    embedding, stress = embed(divergence)
    linkage, order = dendrogram(divergence)
    return Clustering(
        provenance={"settings": {"mode": "corrected"}, "documents": 64, "segments": 64},
        divergence=divergence,
        averages=averages,
        tokens=10,
        embedding=embedding,
        stress=stress,
        linkage=linkage,
        order=order,
        mds_seed=0,
        root=False,
        thresholds={},
        named={},
    )


def on_a_line(points: np.ndarray, shape: tuple[int, int]) -> Clustering:
    """A result whose divergences are the distances of points (head,) on a line; `shape` is (layer, head)."""
    return clustering_of(np.abs(points[:, None] - points), np.zeros((6, *shape)))
