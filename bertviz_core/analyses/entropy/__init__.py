"""Entropy: how broadly each head looks (section 3.3; Figure 4)."""

from __future__ import annotations

from bertviz_core.analyses.analysis import Analysis, averaged_columns

ANALYSIS = Analysis(
    "entropy",
    __name__,
    "Entropy",
    "Entropy",
    "Section 3.3, Figure 4",
    ":material/blur_on:",
    "Entropy of every head's attention, in nats (section 3.3; Figure 4).",
    columns=averaged_columns(
        entropy="entropy, nats", from_cls="entropy from [CLS], nats", max_weight="largest weight of a row"
    ),
    shared=True,
)
