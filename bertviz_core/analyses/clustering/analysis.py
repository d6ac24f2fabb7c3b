"""Clustering: which heads attend alike (section 6), drawn in the plane (Figure 6) and as a matrix of all pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import plotly.graph_objects as go
from typing_extensions import Doc

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.blocks import Block, Chart, Claim, Columns, Control, Numbers, Say
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.head_facts import HeadFacts
from bertviz_core.analyses.base.head_figures import HeadFigure, Rows
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.base.table_blocks import Heads, Table
from bertviz_core.analyses.base.view import Find, View
from bertviz_core.analyses.behaviors import Thresholds, behavior_metric, linguistic_heads
from bertviz_core.analyses.clustering.figure import (
    behavior_chart,
    by_distance,
    by_layer,
    layer_chart,
    matrix_chart,
    nearest_rows,
    nearest_table,
    nearest_title,
    paper_figure,
)
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
LAST_COUNTS = "A head has a behavior if its average exceeds the threshold; if several apply, the last one counts."
CROSSES = "Crosses mark heads of this model that are best at a relation or at coreference in a stored analysis."
SIMILAR = 3  # heads that are named beside one on other pages


@dataclass(frozen=True)
class ClusteringView(View[Clustering]):
    """How heads are embedded in the plane, from which average on they have a behavior, and the head to report."""

    marks_named_heads: ClassVar[bool] = True
    root: Annotated[
        bool,
        Label("Square-root distance"),
        Doc("Embed √JS, which is a metric; the paper embeds the divergence, JS."),
    ] = False
    over_next: Annotated[
        Threshold,
        Label("attention: next token"),
        Doc("Least attention to the next token of a head with that behavior."),
    ] = Thresholds.next
    over_previous: Annotated[Threshold, Label("attention: previous token"), Doc("The same for the previous token.")] = (
        Thresholds.previous
    )
    over_entropy: Annotated[
        float, Between(0.0, 7.0, step=0.05), Label("entropy, nats"), Doc("Least entropy of a broad head, in nats.")
    ] = Thresholds.entropy
    over_to_cls: Annotated[
        Threshold, Label("attention: [CLS]"), Doc("Least attention to [CLS] of a head with that behavior.")
    ] = Thresholds.to_cls
    over_to_sep: Annotated[Threshold, Label("attention: [SEP]"), Doc("The same for [SEP].")] = Thresholds.to_sep
    over_to_punct: Annotated[Threshold, Label("attention: punctuation"), Doc("The same for full stops and commas.")] = (
        Thresholds.to_punct
    )
    over_to_first: Annotated[Threshold, Label("attention: first token"), Doc("The same for the first token.")] = (
        Thresholds.to_first
    )
    head: Annotated[str | None, Doc("The head to report, as 3-1; default: none.")] = None

    @classmethod
    def parameter(cls, field: str) -> str:
        """Thresholds are written "over-next" in an address."""
        return field.replace("over_", "over-")

    def thresholds(self, present: Sequence[str]) -> Thresholds:
        """Those of the quantities that a result has; others keep their defaults."""
        chosen = {name: getattr(self, f"over_{name}") for name in asdict(Thresholds()) if name in present}
        return Thresholds(**chosen)

    def beside(self, request: Request, find: Find) -> dict[str, str]:
        """The heads that the linguistic analyses name."""
        return linguistic_heads(request, find)

    def show(self, result: Clustering, beside: Mapping[str, str] | None = None) -> Clustering:
        embedded = result.embedded(result.provenance["settings"]["seed"], self.root)
        return embedded.labeled(self.thresholds(result.present), dict(beside or {}))

    def showing(self) -> Self:
        return replace(self, head=None)

    def shape(self, shown: Clustering) -> tuple[int, int]:
        layers, heads = shown.shape
        return layers, heads

    def reported(self, shown: Clustering) -> dict[str, Any]:
        """The distance, the thresholds of what the result has, and the head."""
        lacking = {f"over_{name}" for name in asdict(Thresholds()) if name not in shown.present}
        return {name: value for name, value in super().reported(shown).items() if name not in lacking}


class ClusteringAnalysis(Analysis[Clustering, ClusteringView]):
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

    def claim(self, result: Clustering, view: ClusteringView) -> Finding:
        return self.findings(result)[0]

    def blocks(self, result: Clustering, view: ClusteringView) -> Iterator[Block]:
        yield Claim(self.claim(result, view), first=True)
        yield Control(("root",), on_line=True)
        thresholds = tuple(f"over_{name}" for name in asdict(Thresholds()) if name in result.present)
        yield Control(thresholds, on_line=True, folded="Behavior thresholds", note=LAST_COUNTS)
        yield Columns(left=(behavior_chart(result),), right=(layer_chart(result),))
        stress = ("Stress of the embedding", f"{result.stress:.2f}", "0 = distances exact")
        yield Numbers((stress, behavior_metric(result.behaviors)))
        if result.named:
            yield Say(CROSSES)
        if head := view.head_of():
            if similar := self._most_similar(result, head):
                yield Say(f"Most similar heads of {head.label()}{similar}.", chosen=True, on_screen=False)
            yield Table("nearest", nearest_title(head), nearest_table(result, head))
        yield matrix_chart(result)
        columns = ("behavior", "nearest", "x", "y", *result.present)
        yield Heads(columns=columns, titles={}, build=Clustering.to_frame, arguments=(result,))

    def _most_similar(self, result: Clustering, head: Head) -> str:
        """The heads most like one, with their divergences; empty where there are none."""
        listed = ", ".join(f"{other.label()} ({value:.3g})" for other, value in result.nearest(head, SIMILAR))
        return f" (divergence, {result.unit}): {listed}" if listed else ""

    def cost(self, checkpoint: Checkpoint) -> float:
        """The pass that computes the maps, and the divergences of all pairs of heads."""
        return 1 + (checkpoint.layers * checkpoint.heads) ** 2 / 20_000

    def accumulator(self, model: AttentionModel, request: Request) -> "DivergenceSums":
        from bertviz_core.analyses.clustering import measure

        return measure.accumulator(model, request)

    def finish(self, accumulator: "DivergenceSums", examples: Segments, provenance: Provenance) -> Clustering:
        from bertviz_core.analyses.clustering import measure

        return measure.finish(accumulator, examples, provenance)

    def tour_chart(self, result: Clustering, head: Head, named: Mapping[str, str], is_answered: bool) -> Chart:
        """The heads in the plane, by layer; with the answer, how far they are from their own layer and from others."""
        if is_answered and {*result.estimates()} == {"to_own_layer", "to_other_layers"}:
            return self.main_chart(by_distance, result)
        return self.main_chart(_with_named, result, named)

    def of_head(self, result: Clustering, head: Head) -> Iterator[Rows]:
        """The most similar heads, with their divergences."""
        nearest = " ".join(other.key() for other, _ in result.nearest(head, SIMILAR))
        yield Rows(self._alike, (result, head), column="nearest", text=nearest)

    def _alike(self, result: Clustering, head: Head) -> HeadFigure:
        """Its nearest heads, before the divergences of all others, which set no head apart."""
        similar = self._most_similar(result, head)
        facts = (HeadFacts("Most similar heads", similar),) if similar else ()
        rows = nearest_rows(result, head)
        return HeadFigure("Heads that attend most like it", rows, distinctive=(), facts=facts)


def _with_named(result: Clustering, named: Mapping[str, str]) -> go.Figure:
    return by_layer(result.labeled(Thresholds(), dict(named)))
