"""The result of clustering: divergences between all pairs of heads, heads in a plane, a dendrogram (docs/methods.md,
section 9)."""

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.result import Result, head_frame, to_lists
from bertviz_core.analyses.base.statistics import Estimate, share
from bertviz_core.analyses.behaviors import QUANTITIES, Thresholds, behaviors, present
from bertviz_core.analyses.clustering.embedding import embed
from bertviz_core.heads import Head, all_heads, all_keys

NEAREST = 5  # heads that are listed beside one


@dataclass(frozen=True)
class Clustering(Result):
    """How alike heads are. Axis `head` counts all heads, layer by layer.

    Attributes:
        divergence: (head, head) mean over all tokens of the Jensen-Shannon divergence between two heads' rows for that
            token, in nats, at most log 2; in mode "as in the paper" their sum.
        averages: (quantity, layer, head) document averages of QUANTITIES, which decide behaviors.
        tokens: Number of tokens in the corpus.
        embedding: (head, 2) positions in the plane, in the unit of the divergences that are embedded.
        stress: Kruskal's stress-1 of the embedding, see `embed`.
        linkage: (head - 1, 4) the dendrogram, as scipy writes it.
        order: (head,) the leaves of the dendrogram from left to right.
        root: Whether square roots of divergences are embedded.
        thresholds: Thresholds of behaviors by quantity.
        named: Label of a head -> what the linguistic analyses name it for.
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
        """The unit of the divergences."""
        return "nats, summed over tokens" if self.summed else "nats per token"

    @property
    def read_units(self) -> tuple[int, str]:
        """How many documents the divergences are of, of a single one how many passages; and what is counted."""
        documents, segments = (int(self.provenance[each]) for each in ("documents", "segments"))
        return (min(documents, segments), "documents") if documents > 1 else (segments, "segments")

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of layers, and of heads of a layer."""
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
        """The quantities that decide behaviors and that some head has."""
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
        names = np.array(all_keys(*self.shape))
        first, second = np.triu_indices(len(names), 1)
        columns = {"head": names[first], "other": names[second], "divergence": self.divergence[first, second]}
        return {"pairs": pd.DataFrame(columns)}

    def to_frame(self) -> pd.DataFrame:
        """A row for each head: its behavior, its place in the plane, its nearest heads, and its averages."""
        near = [" ".join(other.label() for other, _ in self.nearest(head)) for head in all_heads(*self.shape)]
        x, y = self.embedding.T
        columns = {
            "behavior": self.behaviors,
            "x": x.reshape(self.shape),
            "y": y.reshape(self.shape),
            "nearest": np.array(near).reshape(self.shape),
        }
        return head_frame(columns | {name: self[name] for name in self.present})
