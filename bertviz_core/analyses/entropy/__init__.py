"""Entropy: how broadly each head looks (section 3.3; Figure 4)."""

from __future__ import annotations

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_column import averaged_column
from bertviz_core.plotting import palette

ANALYSIS = Analysis(
    name="entropy",
    package=__name__,
    title="Entropy",
    summary="Entropy of every head's attention, in nats (section 3.3; Figure 4).",
    section="Section 3.3, Figure 4",
    icon=":material/blur_on:",
    result="Entropy",
    columns=(
        averaged_column("entropy", "entropy, nats", name="all tokens", marker=palette.BROAD),
        averaged_column("from_cls", "entropy from [CLS], nats", name="[CLS] alone", marker=palette.CLS),
        averaged_column("max_weight", "largest weight of a row"),
    ),
    control="of",
    formula=r"H = -\frac{1}{N}\sum_{i=1}^{N}\sum_{j=1}^{N} A_{ij}\log A_{ij}",
    shared=True,
    prefix="",
)
