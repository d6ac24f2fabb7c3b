"""Clustering: which heads attend alike (section 6), drawn in the plane (Figure 6) and as a matrix of all pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import plotly.graph_objects as go
from typing_extensions import Doc

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.head_facts import HeadFacts
from bertviz_core.analyses.base.head_figures import HeadFigure
from bertviz_core.analyses.base.parts import Card, Part, cards_part
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance, Result
from bertviz_core.analyses.base.view import Find, View
from bertviz_core.analyses.behaviors import Thresholds, behavior_metric, linguistic_heads
from bertviz_core.analyses.clustering.figure import by_layer, more_figures, nearest_rows, paper_figure
from bertviz_core.analyses.clustering.nearest import nearest_table, nearest_title
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.clustering.statements import STATEMENTS
from bertviz_core.choices import Between, Label
from bertviz_core.heads import Head
from bertviz_core.inputs.segments import Segments
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.clustering.measure import DivergenceSums

Threshold = Annotated[float, Between(0.0, 1.0, step=0.05)]
SIMILAR = 3  # heads that are named beside one on other pages


@dataclass(frozen=True)
class ClusteringView(View[Clustering]):
    """How heads are embedded in the plane, from which average on they have a behavior, and the head to report."""

    root: Annotated[
        bool, Label("Square-root distance"), Doc("Embed the JS distance (square root) instead of the divergence.")
    ] = False
    over_next: Annotated[Threshold, Doc("Least attention to the next token of a head with that behavior.")] = (
        Thresholds.next
    )
    over_previous: Annotated[Threshold, Doc("The same for the previous token.")] = Thresholds.previous
    over_entropy: Annotated[float, Between(0.0, 7.0, step=0.05), Doc("Least entropy of a broad head, in nats.")] = (
        Thresholds.entropy
    )
    over_to_cls: Annotated[Threshold, Doc("Least attention to [CLS] of a head with that behavior.")] = Thresholds.to_cls
    over_to_sep: Annotated[Threshold, Doc("The same for [SEP].")] = Thresholds.to_sep
    over_to_punct: Annotated[Threshold, Doc("The same for full stops and commas.")] = Thresholds.to_punct
    over_to_first: Annotated[Threshold, Doc("The same for the first token.")] = Thresholds.to_first
    head: Annotated[str | None, Doc("The head to report, as 3-1; default: none.")] = None

    @classmethod
    def parameter(cls, field: str) -> str:
        """Thresholds are written "over-next" in an address."""
        return field.replace("over_", "over-")

    def thresholds(self, present: Sequence[str]) -> Thresholds:
        """Those of the quantities that a result has; others keep their defaults."""
        chosen = {name: getattr(self, f"over_{name}") for name in asdict(Thresholds()) if name in present}
        return Thresholds(**chosen)

    def show(self, result: Clustering, request: Request, find: Find) -> Clustering:
        embedded = result.embedded(request.settings.seed, self.root)
        return embedded.labeled(self.thresholds(result.present), linguistic_heads(request, find))

    def shape(self, shown: Clustering) -> tuple[int, int]:
        layers, heads = shown.shape
        return layers, heads

    def reported(self, shown: Clustering) -> dict[str, Any]:
        """The distance, the thresholds of what the result has, and the head."""
        lacking = {f"over_{name}" for name in asdict(Thresholds()) if name not in shown.present}
        return {name: value for name, value in super().reported(shown).items() if name not in lacking}


class ClusteringAnalysis(Analysis):
    """Divergences of all pairs of heads, with an embedding and a dendrogram."""

    name = "clustering"
    title = "Clustering"
    summary = "How alike heads are: Jensen-Shannon divergences of all pairs, and an embedding (section 6; Figure 6)."
    section = "Section 6, Figure 6"
    icon = ":material/scatter_plot:"
    result_class = Clustering
    view = ClusteringView
    labels: Mapping[str, str] = {
        "to_own_layer": "mean divergence from the heads of its layer, nats",
        "to_other_layers": "mean divergence from the heads of other layers, nats",
    }
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    marks_named_heads = True

    def chosen_finding(self, result: Result) -> Finding | None:
        """The first finding, of the chosen distances and thresholds."""
        return self.findings(result)[0] if result.choices else None

    def cards(self, result: Result) -> list[Card]:
        """The stress of the embedding, and how many heads have a behavior."""
        assert isinstance(result, Clustering)
        stress = ("Stress of the embedding", f"{result.stress:.2f}", "0 = distances exact")
        return [stress, behavior_metric(result.behaviors)]

    def parts(self, result: Result) -> list[Part]:
        """The key numbers, and the chosen head with the heads that are most like it."""
        assert isinstance(result, Clustering)
        if (label := result.choices.get("head")) is None:
            return []
        head = Head.parse(label)
        return [cards_part(self.cards(result)), Part("nearest", nearest_title(head), nearest_table(result, head))]

    def chosen_notes(self, result: Result) -> list[str]:
        """The heads that are most like the chosen one."""
        if (label := result.choices.get("head")) is None:
            return []
        head = Head.parse(label)
        return [f"{each.title} of {head.label()}{each.detail}." for each in self.head_facts(result, head)]

    def cost(self, checkpoint: Checkpoint) -> float:
        """The pass that computes the maps, and the divergences of all pairs of heads."""
        return 1 + (checkpoint.layers * checkpoint.heads) ** 2 / 20_000

    def accumulator(self, model: AttentionModel, request: Request) -> "DivergenceSums":
        from bertviz_core.analyses.clustering import measure

        return measure.accumulator(model, request)

    def finish(self, accumulator: "DivergenceSums", examples: Segments, provenance: Provenance) -> Clustering:
        from bertviz_core.analyses.clustering import measure

        return measure.finish(accumulator, examples, provenance)

    def tour_figure(
        self, result: Result, head: Head | None, named: Mapping[str, str], is_answered: bool = True
    ) -> go.Figure:
        """The heads in the plane, by layer."""
        assert isinstance(result, Clustering)
        return by_layer(result.labeled(Thresholds(), dict(named)))

    def head_facts(self, result: Result, head: Head) -> list[HeadFacts]:
        """The most similar heads, with their divergences."""
        assert isinstance(result, Clustering)
        listed = ", ".join(f"{other.label()} ({value:.3g})" for other, value in result.nearest(head, SIMILAR))
        return [HeadFacts("Most similar heads", f" (divergence, {result.unit}): {listed}")] if listed else []

    def head_figures(self, result: Result, head: Head) -> list[HeadFigure]:
        """Its nearest heads, before the divergences of all others."""
        assert isinstance(result, Clustering)
        rows = nearest_rows(result, head)
        return [HeadFigure("Heads that attend most like it", rows)] if rows else []

    def head_texts(self, result: Result, heads: Sequence[Head]) -> dict[str, list[str]]:
        """The most similar heads."""
        assert isinstance(result, Clustering)
        nearest = (result.nearest(head, SIMILAR) for head in heads)
        return {"nearest": [" ".join(other.key() for other, _ in similar) for similar in nearest]}
