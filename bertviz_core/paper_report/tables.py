"""This run beside the paper's numbers, with intervals: a table for each analysis."""

from collections.abc import Callable
from itertools import zip_longest

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.coreference_heads.guesses import TYPE_ROWS
from bertviz_core.analyses.coreference_heads.result import AntecedentCounts
from bertviz_core.analyses.dependency_heads.figure import relation_table
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.probes.figure import papers_scores, titles
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.results import Result
from bertviz_core.heads import highest
from bertviz_core.plotting.drawing import table

ABSENT = "–"
BERT = "BERT-base in the paper"
WITH_LAYER_MEANS = ("surface_patterns", "entropy")  # Figures 2 and 4, of attention itself


def tables(analysis: Analysis, result: Result) -> list[str]:
    """The paper's table where it has one; for any other analysis its columns: of each the highest head with its
    interval, the highest layer, and the paper's; then the layer means that the paper's figures show, beside them."""
    if analysis.name in PAPER_TABLES:
        return [PAPER_TABLES[analysis.name](result)]
    rows, header, by_layer = [], ["layer"], list[list[str]]()
    for column in analysis.columns:
        values = column.read(result)
        if values is None or np.isnan(values).all():
            continue
        head, means = highest(values), np.nanmean(values, axis=1)
        layer, baseline = f"layer {int(np.nanargmax(means)) + 1}: {column.text(float(np.nanmax(means)))}", ABSENT
        if column.baseline:
            value, name = column.baseline(result)
            baseline = f"{name}: {column.text(value)}"
        bert, papers = paper.LAYER_MEANS.get(column.quantity), ABSENT
        if bert and analysis.name in WITH_LAYER_MEANS:
            papers = f"layer {int(np.argmax(bert)) + 1}: {max(bert)}"
            header += [column.short, "paper"]
            by_layer += [[f"{mean:.2f}" for mean in means], [f"{mean:g}" for mean in bert]]
        rows.append((column.label, head.label(), column.with_interval(result, head), layer, papers, baseline))
    if not analysis.columns:
        return []
    over = f"; intervals over {result.units_text}" if isinstance(result, HeadAverages) else ""
    columns = ("quantity", "highest head", "its value ± 95%", "highest layer mean", BERT, "baseline")
    shown = [table(f"The highest head and layer of each quantity{over}", columns, rows)]
    if by_layer:
        lines = [[str(layer), *cells] for layer, cells in enumerate(zip_longest(*by_layer, fillvalue=""), start=1)]
        caption = f"Means of each layer's heads; {BERT} has {len(by_layer[1])} layers ({paper.READ_OFF})"
        shown.append(table(caption, header, lines))
    return shown


def dependency_table(result: RelationCounts) -> str:
    """Table 1 for this run, beside the paper's."""
    frame = relation_table(result)
    cells = frame.astype(object).where(frame.notna(), ABSENT)
    rows = [[f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in row] for row in cells.to_numpy()]
    note = f"The paper's columns: {paper.TITLE}, Table 1 (WSJ, Stanford Dependencies)"
    return table(f"Table 1: the best head of each relation, percent. {note}", list(frame.columns), rows)


def coreference_table(result: AntecedentCounts) -> str:
    """Table 2: systems and the best head by type of mention, with intervals, and the paper's rows."""
    frame = result.to_frame()
    rows = []
    for system, part in frame.groupby("system", sort=False):
        cells = {row.type: _share(row.accuracy, row.low, row.high) for row in part.itertuples()}
        rows.append([str(system), *(cells.get(kind, ABSENT) for kind in TYPE_ROWS)])
    for name, numbers in paper.TABLE_2.items():
        rows.append([f"{name} (paper)", *(str(n) for n in numbers), *[ABSENT] * (len(TYPE_ROWS) - len(numbers))])
    header = ["system", *(f"{kind}, n = {n:,}" for kind, n in zip(TYPE_ROWS, result.n, strict=True))]
    title = f"Table 2: antecedents found, percent with the 95% interval over {result.units_text}"
    return table(f"{title}; the paper's rows on CoNLL-2012", header, rows)


def probe_table(result: Probes) -> str:
    """Table 3 for this run, beside the paper's."""
    without, including = papers_scores(result)
    frame = result.to_frame()
    rows = [
        [
            title,
            row.metric,
            _share(row.score, row.low, row.high),
            _percent(row.with_punctuation),
            next((f"{score:g}" for score in (a, b) if score), ABSENT),
            f"{row.parameters:,}",
        ]
        for title, row, a, b in zip(titles(result), frame.itertuples(), without, including, strict=True)
    ]
    header = ["probe", "metric", "score", "with punctuation", "paper (WSJ)", "parameters"]
    return table("Table 3: percent with the 95% interval", header, rows)


PAPER_TABLES: dict[str, Callable[..., str]] = {
    "dependency_heads": dependency_table,
    "coreference_heads": coreference_table,
    "probes": probe_table,
}


def _share(value: float, low: float, high: float) -> str:
    return _percent(value) + ("" if np.isnan(low) else f" ({100 * low:.1f} to {100 * high:.1f})")


def _percent(value: float) -> str:
    return ABSENT if np.isnan(value) else f"{100 * value:.1f}"
