"""Ablation: how much the loss changes without a head (beyond the paper; docs/methods.md, section 12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis, Options
from bertviz_core.analyses.head_column import averaged_column
from bertviz_core.analyses.sep_gradients import LabeledInputs
from bertviz_core.plotting.palette import BROAD, SEP

if TYPE_CHECKING:
    from bertviz_core.models.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Replacement(Options):
    """What stands in for the output of a head."""

    mean: Annotated[bool, Doc("Replace a head's output by its mean over the corpus, not by zeros.")] = False


def forwards(checkpoint: Checkpoint) -> float:
    """Passes over the corpus: every head twice, from its own layer on; groups with their controls; the curve."""
    layers, heads = checkpoint.layers, checkpoint.heads
    return heads * (layers + 1) + 40 + layers / 2


ANALYSIS = Analysis(
    name="ablation",
    package=__name__,
    title="Ablation",
    summary="Change of the loss when heads are switched off, one by one and in groups, or only their "
    "attention to [SEP].",
    section="Does a head matter?",
    icon=":material/power_settings_new:",
    result="Ablation",
    options=Replacement,
    view=LabeledInputs,
    columns=(
        averaged_column("loss_change", "change of the loss without the head, nats", name="loss, no head"),
        averaged_column(
            "right_change",
            "change of right guesses without the head",
            name="right guesses, no head",
            percent=True,
            overview=False,
        ),
        averaged_column(
            "to_sep_loss_change",
            "change of the loss without attention to [SEP], nats",
            name="loss, no attention to [SEP]",
            marker=SEP,
        ),
        averaged_column(
            "to_sep_right_change",
            "change of right guesses without attention to [SEP]",
            name="right guesses, no [SEP]",
            percent=True,
            overview=False,
        ),
        averaged_column(
            "gradient_estimate", "gradient estimate of the change, nats", name="gradient estimate", marker=BROAD
        ),
    ),
    control="change",
    forwards=forwards,
    limit=64,
    language_model=True,
    chunked=False,
    reads_maps=False,
)
