"""Surface patterns: which heads look at neighbors, special tokens and punctuation (sections 3.1 and 3.2; Figure 2)."""

from __future__ import annotations

from bertviz_core.analyses.analysis import Analysis, averaged_columns

ANALYSIS = Analysis(
    "surface_patterns",
    __name__,
    "SurfacePatterns",
    "Surface patterns",
    "Section 3.1–3.2, Figure 2",
    ":material/grid_on:",
    "Attention to offsets, special tokens and punctuation, for every head (section 3.1, 3.2; Figure 2).",
    columns=averaged_columns(
        previous="attention to the previous token",
        next="attention to the next token",
        current="attention to the token itself",
        to_cls="attention to [CLS]",
        to_sep="attention to [SEP]",
        to_punct="attention to . or ,",
    ),
    shared=True,
)
