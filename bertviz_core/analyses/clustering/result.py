"""The result of clustering: divergences between all pairs of heads, heads in a plane, a dendrogram (section 6)."""

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.findings import Answer, Interval, decide
from bertviz_core.analyses.base.result import Result, head_frame, to_lists
from bertviz_core.analyses.base.statistics import Estimate, share
from bertviz_core.analyses.behaviors import OTHER, QUANTITIES, Thresholds, behaviors, present
from bertviz_core.heads import Head, all_heads, all_labels

STARTS = {"classical_mds": 1, "random": 4}
NEAREST = 5
PERMUTATIONS = 199
MANY_HEADS = 1024  # beyond, more starts and the best order of leaves would take minutes


def embed(divergence: np.ndarray, seed: int = 0, root: bool = False) -> tuple[np.ndarray, float]:
    """Two-dimensional metric MDS on the divergences (head, head), or on their square roots: the fit with the least
    stress, from the classical solution and, for up to MANY_HEADS heads, random starts.

    Returns (head, 2) points, centered, on their principal axes, the first head on the positive side of both; and
    Kruskal's stress-1, sqrt(sum (d - delta)^2 / sum d^2) over pairs of heads, with d their distances in the plane.
    """
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
    """Average linkage: (head - 1, 4) as in scipy, and (head,) the leaves' order, optimal for up to MANY_HEADS heads."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(divergence) == 1:
        return np.zeros((0, 4)), np.zeros(1, dtype=np.int64)
    distances = squareform(divergence, checks=False)
    tree = linkage(distances, method="average", optimal_ordering=len(divergence) <= MANY_HEADS)
    return tree, leaves_list(tree).astype(np.int64)


def within_and_between(divergence: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Mean divergence of two heads with the same label, and with different ones; NaN where there are none."""
    members = (labels[:, None] == np.unique(labels)).astype(float)  # (head, label)
    within = (members * (divergence @ members)).sum()  # over pairs in both orders, as the others
    count = len(labels)
    same = (members.sum(0) ** 2).sum() - count
    different = count * (count - 1) - same
    return float(share(within, same)), float(share(divergence.sum() - within, different))


@dataclass(frozen=True)
class Clustering(Result):
    """How alike heads are. Axis `head` counts all heads, layer by layer."""

    analysis: ClassVar[str] = "clustering"
    # (head, head) mean over all tokens of JS between two heads' rows for that token, in nats (at most log 2);
    # their sum in mode "as in the paper"
    divergence: np.ndarray
    averages: np.ndarray  # (quantity, layer, head) document averages of QUANTITIES, which decide behaviors
    tokens: int  # of the corpus
    embedding: np.ndarray  # (head, 2) positions in the plane
    stress: float  # of the embedding
    linkage: np.ndarray  # (head - 1, 4) the dendrogram
    order: np.ndarray  # (head,) its leaves from left to right
    mds_seed: int  # of the embedding
    root: bool  # whether square roots of divergences are embedded
    thresholds: dict[str, float]  # of behaviors
    named: dict[str, str]  # label of a head -> what the linguistic analyses name it for

    def embedded(self, seed: int, root: bool) -> "Clustering":
        """The result with an MDS from this seed, of the divergences or of their square roots."""
        if (seed, root) == (self.mds_seed, self.root):
            return self
        points, stress = embed(self.divergence, seed, root)
        return replace(self, embedding=points, stress=stress, mds_seed=seed, root=root)

    def labeled(self, thresholds: Thresholds, named: dict[str, str]) -> "Clustering":
        """The result with other thresholds of behaviors, and with the heads that the linguistic analyses name."""
        return replace(self, thresholds=asdict(thresholds), named=named)

    @property
    def summed(self) -> bool:
        """Whether divergences are sums over tokens, as the release keeps them, not means."""
        return bool(self.provenance["settings"]["mode"] == "paper")

    @property
    def unit(self) -> str:
        return "nats, summed over tokens" if self.summed else "nats per token"

    @property
    def shape(self) -> tuple[int, int]:
        return self.averages.shape[1], self.averages.shape[2]

    def __getitem__(self, quantity: str) -> np.ndarray:
        """(layer, head) document averages; raises KeyError for a quantity that is not in QUANTITIES."""
        if quantity not in QUANTITIES:
            raise KeyError(quantity)
        index = QUANTITIES.index(quantity)
        if index < len(self.averages):
            return self.averages[index]
        # Results stored before the last quantity was added lack it.
        return np.full(self.shape, np.nan)

    @property
    def present(self) -> list[str]:
        return present({name: self[name] for name in QUANTITIES})

    @property
    def behaviors(self) -> np.ndarray:
        """(layer, head) names of behaviors under the thresholds."""
        averages = {name: self[name] for name in QUANTITIES}
        return behaviors(averages, Thresholds(**self.thresholds), map(Head.parse, self.named))

    @property
    def layers(self) -> np.ndarray:
        """(head,) the layer of each head."""
        layers, _ = np.indices(self.shape)
        return layers.reshape(-1)

    def estimates(self) -> dict[str, Estimate]:
        """Mean divergence of each head from the others of its layer, and from those of other layers, nats a token."""
        layers = self.layers
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
        heads = all_heads(*self.shape)
        row = self.divergence[head.layer * self.shape[1] + head.head]
        nearest = [(heads[i], float(row[i])) for i in np.argsort(row, kind="stable")[: count + 1]]
        return [pair for pair in nearest if pair[0] != head][:count]

    def arrays(self) -> dict[str, Any]:
        return {"divergence": to_lists(self.divergence), "embedding": to_lists(self.embedding)}

    def tables(self) -> dict[str, pd.DataFrame]:
        """The divergence of each pair, once."""
        names = np.array(all_labels(*self.shape))
        first, second = np.triu_indices(len(names), 1)
        columns = {"head": names[first], "other": names[second], "divergence": self.divergence[first, second]}
        return {"pairs": pd.DataFrame(columns)}

    def to_frame(self, base: int = 1) -> pd.DataFrame:
        near = [" ".join(other.label(base) for other, _ in self.nearest(head)) for head in all_heads(*self.shape)]
        x, y = self.embedding.T
        columns = {
            "behavior": self.behaviors,
            "x": x.reshape(self.shape),
            "y": y.reshape(self.shape),
            "nearest": np.array(near).reshape(self.shape),
        }
        return head_frame(columns | {name: self[name] for name in self.present})


def alike(result: Clustering, labels: np.ndarray, same: str, different: str) -> Answer:
    """Compare the divergence of two heads with the same label and with different ones, OTHER left out: decided by how
    much smaller the first is than in 95% of the permutations of the labels."""
    labels = labels.reshape(-1)
    chosen = labels != OTHER
    divergence = result.divergence[np.ix_(chosen, chosen)]
    labels = labels[chosen]
    within, between = within_and_between(divergence, labels)
    if np.isnan([within, between]).any():
        raise KeyError(same)
    rng = np.random.default_rng(0)
    permuted = [within_and_between(divergence, rng.permutation(labels)) for _ in range(PERMUTATIONS)]
    low, high = np.quantile([b - w for w, b in permuted], (0.025, 0.975))
    gain = between - within
    return Answer(
        decide(Interval(gain - high, gain - low)),
        f"Two heads {same} differ by {within:.3g} nats{' in all' if result.summed else ''} on average, two heads "
        f"{different} by {between:.3g}.",
    )
