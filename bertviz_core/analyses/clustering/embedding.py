"""Heads in the plane by multidimensional scaling of their divergences, and the dendrogram of them (docs/methods.md,
section 9)."""

import numpy as np

STARTS = {"classical_mds": 1, "random": 4}  # how often MDS is fitted from each
MANY_HEADS = 1024  # beyond, more starts and the best order of leaves would take minutes


def embed(divergence: np.ndarray, seed: int = 0, root: bool = False) -> tuple[np.ndarray, float]:
    """Two-dimensional metric MDS: the fit with the least stress.

    It starts from the classical solution and, for up to MANY_HEADS heads, from random ones too.

    Args:
        divergence: (head, head) divergences delta, nats.
        seed: The seed of the random starts.
        root: Whether the square roots of the divergences take their place.

    Returns:
        (head, 2) points, centered, on their principal axes, the first head on the positive side of both; and Kruskal's
        stress-1, sqrt(sum (d - delta)^2 / sum d^2) over pairs of heads, with d their distances in the plane.
    """
    from sklearn.manifold import MDS

    distances = np.sqrt(divergence) if root else divergence
    scale = distances.max()
    if not scale:
        return np.zeros((len(distances), 2)), 0.0
    starts = STARTS if len(distances) <= MANY_HEADS else ["classical_mds"]
    fits = [
        MDS(metric="precomputed", init=start, n_init=STARTS[start], random_state=seed, normalized_stress=True)
        for start in starts
    ]
    # The scale changes nothing in the picture, but the rule that stops the fit depends on it.
    best = min((fit.fit(distances / scale) for fit in fits), key=lambda fit: fit.stress_)
    points = best.embedding_ * scale
    points = points - points.mean(0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    points = points @ axes.T
    return points * np.where(points[0] < 0, -1.0, 1.0), float(best.stress_)


def dendrogram(divergence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average linkage of divergences.

    Args:
        divergence: (head, head) divergences, symmetric.

    Returns:
        The linkage (head - 1, 4) as in scipy, and the order of the leaves (head,), optimal for up to MANY_HEADS heads.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(divergence) == 1:
        return np.zeros((0, 4)), np.zeros(1, dtype=np.int64)
    distances = squareform(divergence, checks=False)
    tree = linkage(distances, method="average", optimal_ordering=len(divergence) <= MANY_HEADS)
    return tree, leaves_list(tree).astype(np.int64)
