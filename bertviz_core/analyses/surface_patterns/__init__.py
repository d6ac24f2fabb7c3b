"""Surface patterns: which heads look at neighbors, special tokens and punctuation (sections 3.1 and 3.2; Figure 2)."""

from __future__ import annotations

from bertviz_core.analyses.analysis import Analysis, averaged_columns
from bertviz_core.analyses.surface_patterns.result import QUANTITIES

ANALYSIS = Analysis(
    name="surface_patterns",
    package=__name__,
    title="Surface patterns",
    summary="Attention to offsets, special tokens and punctuation, for every head (section 3.1, 3.2; Figure 2).",
    section="Section 3.1–3.2, Figure 2",
    icon=":material/grid_on:",
    result="SurfacePatterns",
    columns=averaged_columns(
        previous="attention to the previous token",
        next="attention to the next token",
        current="attention to the token itself",
        to_cls="attention to [CLS]",
        to_sep="attention to [SEP]",
        to_punct="attention to . or ,",
    ),
    quantities=QUANTITIES,
    shared=True,
    prefix="",
)
