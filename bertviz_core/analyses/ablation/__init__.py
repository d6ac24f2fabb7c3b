"""Ablation: how much the loss changes without a head (beyond the paper; docs/methods.md, section 12)."""

from dataclasses import dataclass
from typing import Annotated

from typing_extensions import Doc

from bertviz_core.analyses.ablation.figure import more_figures, paper_figure
from bertviz_core.analyses.ablation.findings import STATEMENTS
from bertviz_core.analyses.ablation.result import COLUMNS, Ablation
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.request import Options
from bertviz_core.analyses.sep_gradients import LabeledInputs
from bertviz_core.models.checkpoint import Checkpoint


@dataclass(frozen=True)
class Replacement(Options):
    """What replaces the output of an ablated head."""

    mean: Annotated[bool, Doc("Replace a head's output by its mean over the corpus, not by zeros.")] = False


class AblationAnalysis(Analysis):
    """Document averages of the change of the loss without each head."""

    name = "ablation"
    title = "Ablation"
    summary = "Change of the loss without each head, without groups of heads, and without attention to the sink."
    section = "Does a head matter?"
    icon = ":material/power_settings_new:"
    result_class = Ablation
    options = Replacement
    view = LabeledInputs
    columns = COLUMNS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    control = "change"
    limit = 64
    language_model = True
    has_own_pass = True
    chunked = False
    reads_maps = False

    def cost(self, checkpoint: Checkpoint) -> float:
        """Passes over the corpus: every head twice, from its own layer on; groups with their controls; the curve."""
        layers, heads = checkpoint.layers, checkpoint.heads
        return heads * (layers + 1) + 40 + layers / 2
