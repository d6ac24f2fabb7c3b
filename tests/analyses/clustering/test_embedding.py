"""Points whose distances are known come back, and the dendrogram puts heads that are alike beside each other."""

import numpy as np
import pytest

from bertviz_core.analyses.clustering.embedding import dendrogram, embed
from tests.oracles import clustering as reference


def distances(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points, axis=-1)


@pytest.mark.parametrize(("scale", "root"), [(1.0, False), (1e-6, False), (1e5, False), (1.0, True)])
def test_flat_distances_come_back(scale: float, root: bool) -> None:
    wanted = scale * distances(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [3.0, 4.0], [8.0, 1.0]]))
    points, stress = embed(wanted**2 if root else wanted, root=root)
    assert stress < 1e-2
    assert np.abs(distances(points) - wanted).max() < 0.03 * wanted.max()


@pytest.mark.parametrize("root", [False, True])
def test_stress_is_kruskals(root: bool) -> None:
    rng = np.random.default_rng(0)
    wanted = distances(rng.normal(size=(12, 6)))
    points, stress = embed(wanted, seed=3, root=root)
    assert stress == pytest.approx(reference.stress(np.sqrt(wanted) if root else wanted, points), abs=1e-6)


def test_points_are_centred_and_turned() -> None:
    found = embed(distances(np.random.default_rng(1).normal(size=(9, 4))))[0]
    assert np.allclose(found.mean(0), 0)
    spread = found.T @ found
    assert spread[0, 0] >= spread[1, 1]
    assert spread[0, 1] == pytest.approx(0, abs=1e-9)
    assert (found[0] >= 0).all()


def test_dendrogram_puts_likes_beside_each_other() -> None:
    line = np.array([5.0, 0.0, 5.1, 0.2, 9.0])
    linkage, order = dendrogram(np.abs(line[:, None] - line))
    assert linkage.shape == (4, 4)
    assert line[order].tolist() in ([0.2, 0.0, 5.0, 5.1, 9.0], [0.0, 0.2, 5.0, 5.1, 9.0], [9.0, 5.1, 5.0, 0.2, 0.0])
    assert [len(part) for part in dendrogram(np.zeros((1, 1)))] == [0, 1]
