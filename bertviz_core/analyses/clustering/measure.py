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
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import Batch
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.segments import Segments

SMOOTHING = 0.001  # of the release: 0.001 / N + 0.999 A in place of A


class DivergenceSums(SegmentAverages):
    """The averages behind behaviors, and the sum over real tokens of JS between all pairs of heads, float64 on the
    device. The maps of one batch are kept from its first layer to its last, and no longer."""

    summed = ("sums", "divergence", "tokens")

    def __init__(self, smoothed: bool, *args: Any) -> None:
        super().__init__(*args)
        self.smoothed, self.tokens = smoothed, 0
        layers, heads = self.top.shape[:2]
        self.divergence = torch.zeros(layers * heads, layers * heads, dtype=torch.float64, device=self.device)
        self.maps: Tensor | None = None  # (head, position) of the batch in progress

    def new_empty(self) -> Self:
        return type(self)(self.smoothed, self.quantities, self.measure, *self.top.shape[:2], self.device)

    def update(self, batch: Batch, layer: LayerAttention) -> None:
        super().update(batch, layer)
        layers, heads = self.top.shape[:2]
        weights = layer.weights
        if self.smoothed:
            weights = SMOOTHING * batch.row_weights[:, None, None] + (1 - SMOOTHING) * weights
        weights = (weights * batch.mask[:, None, :, None]).transpose(0, 1).flatten(1)  # nothing in rows of padding
        if self.maps is None:
            positions = LANES * -(-weights.shape[1] // LANES)  # whole vectors
            self.maps = weights.new_zeros(layers * heads, positions)
        self.maps[layer.layer * heads : (layer.layer + 1) * heads, : weights.shape[1]] = weights
        if layer.layer == layers - 1:
            self.divergence += divergences(self.maps, batch.tokens())
            self.tokens += batch.tokens()
            self.maps = None


def measure(batch: Batch, attention: LayerAttention, smoothed: bool = False) -> Tensor:
    """(batch, head, quantity) for surface_patterns.QUANTITIES and entropy.QUANTITIES."""
    return torch.cat([surface_patterns.measure(batch, attention), entropy.measure(batch, attention, smoothed)], -1)


def accumulator(model: AttentionModel, request: Request) -> DivergenceSums:
    """The accumulator for one pass. Mode "as in the paper" compares 0.001 / N + 0.999 A, as the release does."""
    smoothed, known = request.settings.paper, SURFACE_QUANTITIES + ENTROPY_QUANTITIES
    values = partial(measure, smoothed=smoothed)
    return DivergenceSums(smoothed, known, values, model.layers, model.heads, model.device)


def finish(sums: DivergenceSums, segments: Segments, provenance: dict[str, Any]) -> Clustering:
    """The mean per token (mode "as in the paper": the sum), its embedding by the run's seed, and its dendrogram."""
    divergence = sums.divergence.cpu().numpy() / (1 if sums.smoothed else sums.tokens)
    seed = provenance["settings"]["seed"]
    (embedding, stress), (linkage, order) = embed(divergence, seed), dendrogram(divergence)
    return Clustering(
        provenance=provenance,
        divergence=divergence,
        averages=sums.result()["mean"][[sums.quantities.index(name) for name in QUANTITIES]],
        tokens=sums.tokens,
        embedding=embedding,
        stress=stress,
        linkage=linkage,
        order=order,
        mds_seed=seed,
        root=False,
        thresholds=asdict(Thresholds()),
        named={},
    )
