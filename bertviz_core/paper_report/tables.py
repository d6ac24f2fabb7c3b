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


def heads_table(analysis: Analysis, result: Result) -> str:
    """Table of the columns: the highest head with its interval, the highest layer, the paper's highest layer."""
    rows = []
    for column in analysis.columns:
        values = column.read(result)
        if values is None or np.isnan(values).all():
            continue
        head, means = highest(values), np.nanmean(values, axis=1)
        baseline = column.baseline(result) if column.baseline else None
        reference = f"{baseline[1]}: {column.text(baseline[0])}" if baseline else ABSENT
        layer = f"layer {int(np.nanargmax(means)) + 1}: {column.text(float(np.nanmax(means)))}"
        bert = paper.LAYER_MEANS.get(column.quantity) if analysis.name in WITH_LAYER_MEANS else None
        papers = f"layer {int(np.argmax(bert)) + 1}: {max(bert)}" if bert else ABSENT
        rows.append((column.label, head.label(), column.with_interval(result, head), layer, papers, reference))
    header = ("quantity", "highest head", "its value ± 95%", "highest layer mean", BERT, "baseline")
    title = "The highest head and layer of each quantity"
    return table(
        f"{title}; intervals over {result.units_text}" if isinstance(result, HeadAverages) else title, header, rows
    )


def layers_table(analysis: Analysis, result: Result) -> str:
    """Layer means of the quantities that the paper's figures show, beside the paper's; empty where it shows none."""
    header, columns = ["layer"], []
    for column in analysis.columns:
        values, papers = column.read(result), paper.LAYER_MEANS.get(column.quantity)
        if analysis.name in WITH_LAYER_MEANS and papers and values is not None:
            header += [column.short, "paper"]
            columns += [[f"{mean:.2f}" for mean in np.nanmean(values, axis=1)], [f"{mean:g}" for mean in papers]]
    if not columns:
        return ""
    rows = [[str(layer), *cells] for layer, cells in enumerate(zip_longest(*columns, fillvalue=""), start=1)]
    return table(f"Means of each layer's heads; {BERT} has {len(columns[1])} layers ({paper.READ_OFF})", header, rows)


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


def tables(analysis: Analysis, result: Result) -> list[str]:
    """The paper's table where it has one; for any other analysis its columns of heads."""
    if analysis.name in PAPER_TABLES:
        return [PAPER_TABLES[analysis.name](result)]
    shown = [heads_table(analysis, result)] if analysis.columns else []
    layers = layers_table(analysis, result)
    return [*shown, layers] if layers else shown


def _share(value: float, low: float, high: float) -> str:
    return _percent(value) + ("" if np.isnan(low) else f" ({100 * low:.1f} to {100 * high:.1f})")


def _percent(value: float) -> str:
    return ABSENT if np.isnan(value) else f"{100 * value:.1f}"
