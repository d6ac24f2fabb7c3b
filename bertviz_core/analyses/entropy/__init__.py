"""Entropy: how broadly each head looks (section 3.3; Figure 4)."""

from __future__ import annotations

from bertviz_core.analyses.analysis import Analysis, averaged_columns

ANALYSIS = Analysis(
    name="entropy",
    package=__name__,
    title="Entropy",
    summary="Entropy of every head's attention, in nats (section 3.3; Figure 4).",
    section="Section 3.3, Figure 4",
    icon=":material/blur_on:",
    result="Entropy",
    columns=averaged_columns(
        entropy="entropy, nats", from_cls="entropy from [CLS], nats", max_weight="largest weight of a row"
    ),
    shared=True,
    prefix="",
)
