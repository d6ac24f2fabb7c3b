"""[SEP] gradients: does attention to [SEP] matter to the predictions? (section 3.2; Figure 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis, View, averaged_columns


@dataclass(frozen=True, slots=True)
class MaskedInputs(View):
    """The command can also write the masked inputs, so that anyone can recompute a gradient."""

    examples: Annotated[Path | None, Doc("Also write the masked inputs to a .json file.")] = None

    def extra_files(self, request: Any) -> dict[Path, Callable[[], Iterable[Any]]]:
        from bertviz_core.analyses.sep_gradients.measure import masked_inputs

        return {self.examples: lambda: masked_inputs(request)} if self.examples else {}


ANALYSIS = Analysis(
    name="sep_gradients",
    package=__name__,
    title="[SEP] gradients",
    summary="Gradients of the masked-word loss in attention to [SEP] and other classes of tokens (section 3.2; "
    "Figure 3).",
    section="Section 3.2, Figure 3",
    icon=":material/trending_down:",
    result="SepGradients",
    view=MaskedInputs,
    columns=averaged_columns(
        to_sep="gradient to [SEP], nats",
        to_other="gradient to other tokens, nats",
        to_sep_times_attention="attention × gradient to [SEP]",
    ),
    prefix="gradient_",
    forwards=3,
    masked_lm=True,
)
