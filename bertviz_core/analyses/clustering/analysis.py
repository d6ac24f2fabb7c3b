"""Clustering: which heads attend alike (section 6), drawn in the plane (Figure 6) and as a matrix of all pairs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import plotly.graph_objects as go
from typing_extensions import Doc

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.head_facts import HeadFacts
from bertviz_core.analyses.base.head_figures import HeadFigure
from bertviz_core.analyses.base.parts import Card, Part, cards_part
from bertviz_core.analyses.base.request import Request, View
from bertviz_core.analyses.base.result import Provenance, Result, choosing
from bertviz_core.analyses.behaviors import Thresholds, behavior_metric, linguistic_heads
from bertviz_core.analyses.clustering.figure import by_layer, more_figures, nearest_rows, paper_figure
from bertviz_core.analyses.clustering.nearest import nearest_table, nearest_title
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.clustering.statements import STATEMENTS
from bertviz_core.heads import Head
from bertviz_core.inputs.segments import Segments
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.clustering.measure import DivergenceSums

SIMILAR = 3  # heads that are named beside one on other pages


@dataclass(frozen=True)
class ClusteringView(View):
    """How heads are embedded in the plane, and which behaviors they have."""

    root: Annotated[bool, Doc("Embed the JS distance (square root) instead of the divergence.")] = False
    threshold: Annotated[
        list[str] | None,
        Doc("Of a behavior, as entropy=3.0; repeatable. Nothing is recomputed."),
    ] = None
    head: Annotated[str | None, Doc("The head to report, as 3-1; default: none.")] = None

    def check(self) -> None:
        Thresholds.read(self.threshold or [])

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        assert isinstance(result, Clustering)
        embedded = result.embedded(request.settings.seed, self.root)
        return embedded.labeled(Thresholds.read(self.threshold or []), linguistic_heads(request, find))

    def choose(self, result: Result) -> Result:
        """The result with the head, and with the distances and the thresholds that it has."""
        assert isinstance(result, Clustering)
        present = ((name, value) for name, value in result.thresholds.items() if name in result.present)
        thresholds = ", ".join(f"{name}={value:g}" for name, value in present)
        choices: dict[str, Any] = {"root": result.root, "thresholds": thresholds}
        if self.head is not None:
            head = Head.parse(self.head)
            head.check(*result.shape)
            choices["head"] = head.key()
        return choosing(result, **choices)


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
