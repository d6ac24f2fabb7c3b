"""[SEP] gradients: does attention to [SEP] matter to the predictions? (section 3.2; Figure 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis, View
from bertviz_core.analyses.head_column import averaged_column
from bertviz_core.analyses.request import Request
from bertviz_core.plotting.palette import TOKENS

FORMS = (
    ("to_{}", "gradient to {}", ", nats"),
    ("to_{}_times_attention", "attention × gradient to {}", ""),
    ("attention_to_{}", "attention to {}", ""),
)
OVERVIEW = ("to_sep", "to_other", "to_sep_times_attention")


@dataclass(frozen=True, slots=True)
class LabeledInputs(View):
    """Option of the command that writes the inputs, from which a gradient can be recomputed."""

    examples: Annotated[Path | None, Doc("Also write the inputs and what is asked for to a .json file.")] = None

    def extra_files(self, request: Request) -> dict[Path, Callable[[], Iterable[Any]]]:
        from bertviz_core.analyses.sep_gradients.measure import labeled_inputs

        return {self.examples: lambda: labeled_inputs(request)} if self.examples else {}


ANALYSIS = Analysis(
    name="sep_gradients",
    package=__name__,
    title="[SEP] gradients",
    summary="Gradients of the loss in attention to [SEP] and other classes of tokens (section 3.2; Figure 3).",
    section="Section 3.2, Figure 3",
    icon=":material/trending_down:",
    result="SepGradients",
    view=LabeledInputs,
    columns=tuple(
        averaged_column(
            quantity := form.format(token),
            f"{title.format(name)}{unit}",
            name=title.format(name),
            marker=marker,
            overview=quantity in OVERVIEW,
            maximum=1.0 if quantity.startswith("attention") else None,
        )
        for form, title, unit in FORMS
        for token, (name, marker) in TOKENS.items()
    ),
    control="gradient",
    formula=r"G_{ij} = \left|\frac{\partial L}{\partial A_{ij}}\right| \qquad"
    r"\frac{1}{N\,|c|}\sum_{i=1}^{N}\sum_{j \in c} G_{ij} \qquad"
    r"\frac{1}{N}\sum_{i=1}^{N}\sum_{j \in c} A_{ij}\,G_{ij}",
    prefix="gradient_",
    forwards=2.2,
    language_model=True,
    reads_maps=False,
)
