"""Table 3 as LaTeX."""

from __future__ import annotations

from bertviz_core.analyses.probes.figure import papers_scores, titles
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.plotting.latex import escaped, tabular


def latex(result: Probes) -> str:
    """A row for each probe: its score with the 95% interval, that with punctuation, the paper's; percent (booktabs)."""
    without, including = papers_scores(result)
    rows = [
        (
            escaped(title),
            row.metric,
            f"{100 * row.score:.1f}",
            f"{100 * row.low:.1f}--{100 * row.high:.1f}",
            "--" if row.with_punctuation != row.with_punctuation else f"{100 * row.with_punctuation:.1f}",
            next((f"{score:g}" for score in (a, b) if score), "--"),
        )
        for title, row, a, b in zip(titles(result), result.to_frame().itertuples(), without, including, strict=True)
    ]
    return tabular("llrrrr", ("Probe", "Metric", "Score", r"95\% interval", "With punctuation", "Paper"), rows)
