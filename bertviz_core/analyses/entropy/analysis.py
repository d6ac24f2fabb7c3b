"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typing_extensions import Doc

from bertviz_core import paper
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.blocks import Block, Card, Control, Numbers, Say
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.entropy.figure import paper_figure
from bertviz_core.analyses.entropy.result import COLUMNS, LABELS, Entropy
from bertviz_core.analyses.entropy.statements import STATEMENTS, narrow_heads
from bertviz_core.choices import Between, Label
from bertviz_core.heads import highest
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.base.accumulators import SegmentSums
    from bertviz_core.models.attention import LayerAttention


@dataclass(frozen=True)
class EntropyView(ColumnView[Entropy]):
    """The quantity, the head, and below which share of uniform entropy heads are named."""

    share: Annotated[
        float,
        Between(0.1, 1.0, step=0.05),
        Label("List heads below"),
        Doc("Name the heads with at most this share of the entropy of uniform attention."),
    ] = 0.5


class EntropyAnalysis(Analysis[Entropy, EntropyView]):
    """Entropy of every head's attention."""

    name = "entropy"
    key_version = 2
    title = "Entropy"
    summary = "Entropy of every head's attention, in nats (section 3.3; Figure 4)."
    section = "Section 3.3, Figure 4"
    icon = ":material/blur_on:"
    result_class = Entropy
    columns = COLUMNS
    view = EntropyView
    labels = LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    control = "of"
    shared = True
    prefix = ""

    def accumulator(self, model: AttentionModel, request: Request) -> "SegmentSums[LayerAttention]":
        from bertviz_core.analyses.entropy import measure

        return measure.accumulator(model, request)

    def blocks(self, result: Entropy, view: EntropyView) -> Iterator[Block]:
        yield from self.opening(result, view)
        if self.is_empty(result):
            return
        yield Numbers(tuple(cards(result)))
        yield Control(("share",))
        yield Say(narrow_heads(result, view.share), chosen=True)
        yield from self.ending(result, view)


def cards(result: Entropy) -> list[Card]:
    """The mean entropies of the first and the last layer, and the head that attends most broadly."""
    entropy = result["entropy"]
    means = entropy.mean(1)
    first, *_, last = paper.LAYER_MEANS["entropy"]
    entries = [
        ("Mean entropy, first layer", f"{means[0]:.2f} nats", f"paper: {first:.1f}"),
        ("Mean entropy, last layer", f"{means[-1]:.2f} nats", f"paper: {last:.1f}"),
    ]
    if "from_cls" in result.present:
        from_cls = result["from_cls"].mean(1)[-1]
        entries.append(("From [CLS], last layer", f"{from_cls:.2f} nats", f"paper: {paper.FROM_CLS_LAST_LAYER:.2f}"))
    broadest = highest(entropy)
    label = f"Highest entropy, {broadest.label()}: largest weight per token"
    entries.append((label, f"{result['max_weight'][broadest]:.1%}", "paper: about 10%"))
    return entries if result.counts_as_paper else [(name, value, "") for name, value, _ in entries]
