"""The result of clustering: divergences between all pairs of heads, heads in a plane, a dendrogram (section 6)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from bertviz_core.analyses.behaviors import QUANTITIES, Thresholds, behaviors, present
from bertviz_core.analyses.proportions import Estimate, share
from bertviz_core.analyses.results import Result, head_frame, to_lists
from bertviz_core.heads import Head, all_heads, all_labels
from bertviz_core.models import IMPORTING

STARTS = {"classical_mds": 1, "random": 4}
NEAREST = 5
MANY_HEADS = 1024  # beyond, more starts and the best order of leaves would take minutes


def embed(divergence: np.ndarray, seed: int = 0, root: bool = False) -> tuple[np.ndarray, float]:
    """Two-dimensional metric MDS on the divergences (head, head) as they are, or on their square roots: the least
    stress of several starts, the classical solution and random ones, which more than MANY_HEADS heads go without
    (section 6, Figure 6).

    Returns:
        (head, 2) points, centered, on their principal axes, the first head on the positive side of both, since MDS
        fixes none of this; and Kruskal's stress-1, sqrt(sum (d - delta)^2 / sum d^2) over pairs of heads, d distances
        in the plane, 0 where all are exact.
    """
    with IMPORTING:
        from sklearn.manifold import MDS

    distances = np.sqrt(divergence) if root else divergence
    scale = distances.max()
    if not scale:
        return np.zeros((len(distances), 2)), 0.0
    options = {"metric": "precomputed", "random_state": seed, "normalized_stress": True}
    starts = STARTS if len(distances) <= MANY_HEADS else ["classical_mds"]
    fits = [MDS(init=start, n_init=STARTS[start], **options) for start in starts]
    # The scale changes nothing in the picture, but the stopping rule is not free of it.
    best = min((fit.fit(distances / scale) for fit in fits), key=lambda fit: fit.stress_)
    points = best.embedding_ * scale
    points = points - points.mean(0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    points = points @ axes.T
    return points * np.where(points[0] < 0, -1.0, 1.0), float(best.stress_)


def dendrogram(divergence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average-linkage clustering: (head - 1, 4) scipy's linkage, and (head,) the order of the leaves in which neighbors
    are as alike as the tree allows; of more than MANY_HEADS heads, the order of scipy's tree."""
    with IMPORTING:
        from scipy.cluster.hierarchy import leaves_list, linkage
        from scipy.spatial.distance import squareform

    if len(divergence) == 1:
        return np.zeros((0, 4)), np.zeros(1, dtype=np.int64)
    distances, is_ordered = squareform(divergence, checks=False), len(divergence) <= MANY_HEADS
    tree = linkage(distances, method="average", optimal_ordering=is_ordered)
    return tree, leaves_list(tree).astype(np.int64)


class LayerDivergence(NamedTuple):
    """Mean divergence of two heads of one layer, and of two heads of different layers; NaN where there are none."""

    within: float
    between: float

    @property
    def ratio(self) -> float:
        """Under 1 heads of one layer are closer than others; NaN also where heads of different layers do not differ."""
        return self.within / self.between if self.between else float("nan")

    def text(self, unit: str) -> str:
        """Both means in a sentence, or what the model lacks."""
        one, others = "two heads of one layer", "two heads of different layers"
        if not np.isnan(self).any():
            return f"{one.capitalize()} differ by {self.within:.3g} {unit} on average, {others} by {self.between:.3g}"
        return "This model has " + ", ".join(
            f"no {name}" if np.isnan(mean) else f"{name} that differ by {mean:.3g} {unit} on average"
            for name, mean in ((one, self.within), (others, self.between))
        )


def layers_of_heads(shape: tuple[int, int]) -> np.ndarray:
    """(head,) the layer of each head of a model of (layers, heads)."""
    return np.repeat(np.arange(shape[0]), shape[1])


def within_and_between(divergence: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Mean divergence of two heads with the same label, and with different ones; NaN where there are none."""
    first, second = np.triu_indices(len(labels), 1)
    pairs, same = divergence[first, second], labels[first] == labels[second]
    within, between = (float(part.mean()) if part.size else float("nan") for part in (pairs[same], pairs[~same]))
    return within, between


def nats(summed: bool) -> str:
    """Unit of a divergence in a sentence: of the mean per token, or of the sum over tokens."""
    return "nats in all" if summed else "nats"


@dataclass(frozen=True)
class Clustering(Result):
    """How alike heads are. Axis `head` counts all heads, layer by layer.

    Attributes:
        divergence: (head, head) mean over all tokens of the corpus of JS between two heads' rows for that token, in
            nats (at most log 2); the sum over tokens in mode "as in the paper".
        tokens: How many tokens the corpus has.
        averages: (quantity, layer, head) document averages of QUANTITIES, which decide behaviors.
        embedding: (head, 2) positions in the plane, whose stress, seed and use of square roots follow.
        linkage: (head - 1, 4) the dendrogram, and `order` (head,) its leaves from left to right.
        thresholds: Thresholds of the behaviors.
        named: Label of a head -> what the linguistic analyses found it best at.
    """

    analysis: ClassVar[str] = "clustering"

    divergence: np.ndarray
    averages: np.ndarray
    tokens: int
    embedding: np.ndarray
    stress: float
    linkage: np.ndarray
    order: np.ndarray
    mds_seed: int
    root: bool
    thresholds: dict[str, float]
    named: dict[str, str]

    def embedded(self, seed: int, root: bool) -> Clustering:
        """The result with an MDS from this seed, of the divergences or of their square roots."""
        if (seed, root) == (self.mds_seed, self.root):
            return self
        points, stress = embed(self.divergence, seed, root)
        return replace(self, embedding=points, stress=stress, mds_seed=seed, root=root)

    def labeled(self, thresholds: Thresholds, named: dict[str, str]) -> Clustering:
        """The result with other thresholds of behaviors, and with the heads that the linguistic analyses name."""
        return replace(self, thresholds=asdict(thresholds), named=named)

    @property
    def summed(self) -> bool:
        """Whether divergences are sums over tokens, as the release keeps them, not means."""
        return bool(self.provenance["settings"]["mode"] == "paper")

    @property
    def unit(self) -> str:
        """On axes and in tables."""
        return "nats, summed over tokens" if self.summed else "nats per token"

    @property
    def shape(self) -> tuple[int, int]:
        return self.averages.shape[1], self.averages.shape[2]

    def __getitem__(self, quantity: str) -> np.ndarray:
        """(layer, head) document averages of one of QUANTITIES; raises KeyError for another."""
        if quantity not in QUANTITIES:
            raise KeyError(quantity)
        index = QUANTITIES.index(quantity)  # results stored before the last quantity was added lack it
        return self.averages[index] if index < len(self.averages) else np.full(self.shape, np.nan)

    @property
    def present(self) -> list[str]:
        return present({name: self[name] for name in QUANTITIES})

    @property
    def behaviors(self) -> np.ndarray:
        """(layer, head) names of behaviors under the thresholds."""
        known = {name: self[name] for name in self.present}
        return behaviors(known, Thresholds(**self.thresholds), map(Head.parse, self.named))

    @property
    def layer_divergence(self) -> LayerDivergence:
        return LayerDivergence(*within_and_between(self.divergence, layers_of_heads(self.shape)))

    def estimates(self) -> dict[str, Estimate]:
        """Mean divergence of each head to the other heads of its layer, and to the heads of other layers, in nats a
        token; without standard errors."""
        layers = layers_of_heads(self.shape)
        same = layers[:, None] == layers
        means = self.divergence / (self.tokens if self.summed else 1)
        chosen = {"to_own_layer": same & ~np.eye(len(same), dtype=bool), "to_other_layers": ~same}
        return {
            name: Estimate(share((means * others).sum(1), others.sum(1)).reshape(self.shape))
            for name, others in chosen.items()
            if others.any()
        }

    def nearest(self, head: Head, count: int = NEAREST) -> list[tuple[Head, float]]:
        """The heads most like this one, the nearest first, with their divergences; equal ones in order."""
        heads_of_layer = self.shape[1]
        own = head.layer * heads_of_layer + head.head
        row = self.divergence[own]
        others = [i for i in np.argsort(row, kind="stable")[: count + 1].tolist() if i != own]
        return [(Head(*divmod(i, heads_of_layer)), float(row[i])) for i in others[:count]]

    def closest_pair(self) -> tuple[Head, Head, float] | None:
        """The two heads most alike, with their divergence; None for a model of one head."""
        first, second = np.triu_indices(len(self.divergence), 1)
        if not len(first):
            return None
        pair = self.divergence[first, second].argmin()
        one, other = (Head(*divmod(int(heads[pair]), self.shape[1])) for heads in (first, second))
        return one, other, float(self.divergence[first[pair], second[pair]])

    def arrays(self) -> dict[str, Any]:
        return {"divergence": to_lists(self.divergence), "embedding": to_lists(self.embedding)}

    def tables(self) -> dict[str, pd.DataFrame]:
        """The divergence of every two heads, each pair once."""
        names = np.array(all_labels(*self.shape))
        first, second = np.triu_indices(len(names), 1)
        columns = {"head": names[first], "other": names[second], "divergence": self.divergence[first, second]}
        return {"pairs": pd.DataFrame(columns)}

    def to_frame(self, base: int = 1) -> pd.DataFrame:
        """A row for each head; the labels of the nearest ones count from `base`."""
        near = [" ".join(other.label(base) for other, _ in self.nearest(head)) for head in all_heads(*self.shape)]
        columns = {
            "behavior": self.behaviors,
            "x": self.embedding[:, 0].reshape(self.shape),
            "y": self.embedding[:, 1].reshape(self.shape),
            "nearest": np.array(near).reshape(self.shape),
        }
        return head_frame(columns | {name: self[name] for name in self.present})
