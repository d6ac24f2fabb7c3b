"""Pictures of a matrix of divergences: heads as points in a plane, and in the order of a dendrogram (section 6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bertviz_core.import_lock import IMPORTING

STARTS = {"classical_mds": 1, "random": 4}


class Embedding(NamedTuple):
    """(head, 2) points, centered, turned so that the first axis has the larger spread; and Kruskal's stress-1,
    sqrt(sum (d - delta)^2 / sum d^2) over pairs of heads, d distances in the plane, 0 where all are exact."""

    points: np.ndarray
    stress: float


def embed(divergence: np.ndarray, seed: int = 0, root: bool = False) -> Embedding:
    """Two-dimensional metric MDS on the divergences as they are, or on their square roots: the least stress of several
    starts, the classical solution and random ones (section 6, Figure 6).

    Args:
        divergence: (head, head), symmetric.
    """
    with IMPORTING:
        from sklearn.manifold import MDS

    distances = np.sqrt(divergence) if root else divergence
    scale = distances.max()
    if not scale:
        return Embedding(np.zeros((len(distances), 2)), 0.0)
    options = {"metric": "precomputed", "random_state": seed, "normalized_stress": True}
    fits = [MDS(init=start, n_init=count, **options) for start, count in STARTS.items()]
    # The scale changes nothing in the picture, but the stopping rule is not free of it.
    best = min((fit.fit(distances / scale) for fit in fits), key=lambda fit: fit.stress_)
    return Embedding(_turned(best.embedding_ * scale), float(best.stress_))


def dendrogram(divergence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average-linkage clustering: (head - 1, 4) linkage as scipy writes it, and (head,) the order of the leaves in
    which neighbors are as alike as the tree allows."""
    with IMPORTING:
        from scipy.cluster.hierarchy import leaves_list, linkage
        from scipy.spatial.distance import squareform

    if len(divergence) == 1:
        return np.zeros((0, 4)), np.zeros(1, dtype=np.int64)
    tree = linkage(squareform(divergence, checks=False), method="average", optimal_ordering=True)
    return tree, leaves_list(tree).astype(np.int64)


def _turned(points: np.ndarray) -> np.ndarray:
    """Centered, on principal axes, the first head on the positive side of both: MDS leaves all this open."""
    centered = points - points.mean(0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    turned = centered @ axes.T
    return turned * np.where(turned[0] < 0, -1.0, 1.0)
