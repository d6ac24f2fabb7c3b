"""Clustering of heads by the Jensen-Shannon divergence of their attention (6; Figure 6). In nats."""

from dataclasses import asdict
from functools import partial
from typing import Any, Self

import torch
from torch import Tensor

from bertviz_core.analyses.averages import SegmentAverages
from bertviz_core.analyses.behaviors import QUANTITIES, Thresholds
from bertviz_core.analyses.clustering.divergence import LANES, divergences
from bertviz_core.analyses.clustering.result import Clustering, dendrogram, embed
from bertviz_core.analyses.entropy import QUANTITIES as ENTROPY_QUANTITIES
from bertviz_core.analyses.entropy import measure as entropy
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.surface_patterns import measure as surface_patterns
from bertviz_core.analyses.surface_patterns.figure import QUANTITIES as SURFACE_QUANTITIES
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import Batch
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.segments import Segments

SMOOTHING = 0.001  # of the release: 0.001 / N + 0.999 A in place of A


class DivergenceSums:
    """The sum over real tokens of JS between all pairs of heads, float64 on the device, and the averages behind
    behaviors. The maps of one batch are kept from its first layer to its last, and no longer."""

    def __init__(self, averages: SegmentAverages, smoothed: bool) -> None:
        self.averages, self.smoothed = averages, smoothed
        layers, heads, _ = averages.count.shape
        self.sum = torch.zeros(layers * heads, layers * heads, dtype=torch.float64, device=averages.device)
        self.tokens = 0
        self.maps: Tensor | None = None  # (head, position) of the batch in progress

    def new_empty(self) -> Self:
        return type(self)(self.averages.new_empty(), self.smoothed)

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        self.averages.update(batch, attention)
        layers, heads, _ = self.averages.count.shape
        weights = attention.weights
        if self.smoothed:
            weights = SMOOTHING * batch.row_weights[:, None, None] + (1 - SMOOTHING) * weights
        weights = (weights * batch.mask[:, None, :, None]).transpose(0, 1).flatten(1)  # nothing in rows of padding
        if self.maps is None:
            positions = LANES * -(-weights.shape[1] // LANES)  # whole vectors
            self.maps = weights.new_zeros(layers * heads, positions)
        self.maps[attention.layer * heads : (attention.layer + 1) * heads, : weights.shape[1]] = weights
        if attention.layer == layers - 1:
            self.sum += divergences(self.maps, batch.tokens())
            self.tokens += batch.tokens()
            self.maps = None

    def merge(self, other: Self) -> None:
        self.averages.merge(other.averages)
        self.sum += other.sum
        self.tokens += other.tokens

    def to_bytes(self) -> bytes:
        return pack({"averages": self.averages.to_bytes(), "sum": self.sum, "tokens": self.tokens})

    def from_bytes(self, data: bytes) -> Self:
        state, empty = unpack(data), self.new_empty()
        empty.averages = self.averages.from_bytes(state["averages"])
        empty.sum, empty.tokens = torch.from_numpy(state["sum"]).to(self.sum.device), state["tokens"]
        return empty


def measure(batch: Batch, attention: LayerAttention, smoothed: bool = False) -> Tensor:
    """(batch, head, quantity) for surface_patterns.QUANTITIES and entropy.QUANTITIES."""
    return torch.cat([surface_patterns.measure(batch, attention), entropy.measure(batch, attention, smoothed)], -1)


def accumulator(model: AttentionModel, request: Request) -> DivergenceSums:
    """The accumulator for one pass. Mode "as in the paper" compares 0.001 / N + 0.999 A, as the release does."""
    smoothed, known = request.settings.paper, SURFACE_QUANTITIES + ENTROPY_QUANTITIES
    averages = SegmentAverages(known, partial(measure, smoothed=smoothed), model.layers, model.heads, model.device)
    return DivergenceSums(averages, smoothed)


def finish(accumulator: DivergenceSums, segments: Segments, provenance: dict[str, Any]) -> Clustering:
    """The mean per token (mode "as in the paper": the sum), its embedding by the run's seed, and its dendrogram."""
    divergence = accumulator.sum.cpu().numpy() / (1 if accumulator.smoothed else accumulator.tokens)
    seed = provenance["settings"]["seed"]
    (embedding, stress), (linkage, order) = embed(divergence, seed), dendrogram(divergence)
    averages = accumulator.averages
    rows = [averages.quantities.index(name) for name in QUANTITIES]
    return Clustering(
        provenance=provenance,
        divergence=divergence,
        averages=averages.result()["mean"][rows],
        tokens=accumulator.tokens,
        embedding=embedding,
        stress=stress,
        linkage=linkage,
        order=order,
        mds_seed=seed,
        root=False,
        thresholds=asdict(Thresholds()),
        named={},
    )
