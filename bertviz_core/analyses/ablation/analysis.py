"""Ablation: how much the loss changes without a head (beyond the paper; docs/methods.md, section 12)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from typing_extensions import Doc

from bertviz_core.analyses.ablation.figure import curve_chart, estimate_chart, groups_chart, paper_figure
from bertviz_core.analyses.ablation.result import COLUMNS, Ablation
from bertviz_core.analyses.ablation.statements import STATEMENTS
from bertviz_core.analyses.ablation.words import word_inputs
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.blocks import Block, Card, Claim, Columns, Numbers
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.request import Options, Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.base.view import Find
from bertviz_core.choices import FormerSwitch, Label
from bertviz_core.inputs.segments import Segments
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel
from bertviz_core.numbers import number
from bertviz_core.plotting import TOKENS

if TYPE_CHECKING:
    from bertviz_core.analyses.ablation.measure import AblationRun


@dataclass(frozen=True)
class AblationOptions(Options):
    """What stands in for a head's output."""

    replace: Annotated[
        Literal["zero", "mean", "uniform"],
        Label("Replace a head by"),
        Doc("What stands in for a head: zeros, its mean output, or uniform attention over what each token sees."),
        FormerSwitch("mean"),
        FormerSwitch("uniform"),
    ] = "zero"


class AblationAnalysis(Analysis[Ablation, ColumnView[Ablation]]):
    """Changes of the loss without heads."""

    name = "ablation"
    key_version = 2
    title = "Ablation"
    summary = "Change of the loss without each head, without groups of heads, and without attention to the sink."
    section = "Does a head matter?"
    icon = ":material/power_settings_new:"
    result_class = Ablation
    options = AblationOptions
    columns = COLUMNS
    statements = STATEMENTS
    one_causal = "its loss is of next words, the other's of masked words"
    main_figure = staticmethod(paper_figure)
    control = "change"
    limit = 64
    language_model = True
    has_own_pass = True
    chunked = False
    reads_maps = False

    def blocks(self, result: Ablation, view: ColumnView[Ablation]) -> Iterator[Block]:
        yield from self.opening(result, view)
        if self.is_empty(result):
            return
        yield Numbers(tuple(cards(result)))
        needed = [Claim(each) for each in self.findings(result) if each.id == f"{self.name}.together"]
        charts: tuple[Block, ...] = (estimate_chart(result), curve_chart(result), *needed)
        yield Columns(left=charts, right=(word_inputs(result, view.chosen_head()),))
        yield groups_chart(result)
        yield from self.ending(result, view)

    def cost(self, checkpoint: Checkpoint) -> float:
        """Passes over the corpus: each head twice, from its layer on; groups with their controls; the curve."""
        return checkpoint.heads * (checkpoint.layers + 1) + 40 + checkpoint.layers / 2

    def corpus_run(self, model: AttentionModel, request: Request, find: Find) -> "AblationRun":
        from bertviz_core.analyses.ablation.measure import AblationRun

        return AblationRun(model, request)

    def finish(self, accumulator: "AblationRun", examples: Segments, provenance: Provenance) -> Ablation:
        from bertviz_core.analyses.ablation.measure import finish

        return finish(accumulator, examples, provenance)


def cards(result: Ablation) -> list[Card]:
    """The loss, the largest change without attention to the sink, and how well gradients predict changes."""
    entries = [
        ("Loss of the full model", f"{result.loss:.2f} nats", f"in {int(result.segments.max()):,} passages"),
    ]
    if "to_sink_loss_change" in result.present:
        head = result.largest("to_sink_loss_change")
        change = number(result["to_sink_loss_change"][head], "+")
        title = f"Largest loss change without attention to {TOKENS[result.sink][0]}, nats"
        entries.append((title, change, f"head {head.label()}; no-op: 0"))
    return [*entries, ("Gradient estimate", f"{result.correlation():.2f}", "Spearman's correlation")]
