"""A report as one HTML page that needs no network and prints on A4, this run's numbers beside the paper's."""

from collections.abc import Iterator, Sequence
from typing import Any

import plotly.graph_objects as go

from bertviz_core import paper
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.block_contents import flat
from bertviz_core.analyses.base.blocks import Chart
from bertviz_core.analyses.base.findings import DECIDED, MARKS
from bertviz_core.analyses.base.reading_warnings import reading_warnings
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result, Results, corpus_size
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.corpora import describe_skipped
from bertviz_core.exports import cells_html, described_origin
from bertviz_core.heads import counting_from
from bertviz_core.overview.statement_tables import clearest_table, statements_table
from bertviz_core.overview.summary import count_states, every_finding
from bertviz_core.paper_report.report import Report
from bertviz_core.plotting.drawing import WIDTH, figure_html, html_page
from bertviz_core.plotting.html import bullets, element
from bertviz_core.viewer.figure import lines_figure

FIRST = 3  # figures with which the report begins
CAPTIONS = {  # captions of the paper's figures with lines between two columns
    1: "the stronger a line, the more the token on the left attends to the one on the right. Sentences from",
    5: "attention between words, those of the relation or mention in red. Sentences from",
}
BIBTEX = """@inproceedings{clark-etal-2019-bert,
  title = {What Does {BERT} Look At? {A}n Analysis of {BERT}'s Attention},
  author = {Clark, Kevin and Khandelwal, Urvashi and Levy, Omer and Manning, Christopher D.},
  booktitle = {Proceedings of the 2019 ACL Workshop BlackboxNLP},
  year = {2019},
  url = {https://arxiv.org/abs/1906.04341}
}"""


def to_html(report: Report) -> bytes:
    """The report as one self-contained page. Heads count from 1, also where pages show them to a reader who counts from
    0."""
    title = title_of(report)
    with counting_from(1):
        return html_page(title, element("h1", title), *contents(report)).encode("utf-8", "replace")


def title_of(report: Report) -> str:
    """The title of a report."""
    return f"What does {report.checkpoint.label} look at?"


def contents(report: Report) -> Iterator[str]:
    """The parts of the page below its title, as HTML: findings, a section for each result, and their origin."""
    results = report.results
    yield element("p", _summary(report))
    opening = _opening(results)
    yield from (_chart_html(chart, results[name]) for name, chart in opening)
    for warning in dict.fromkeys(line for result in results.values() for line in reading_warnings(result)):
        yield element("p class=strong", warning)
    yield from _findings(report)
    for analysis in ANALYSES.values():
        if analysis.name in results:
            first = [chart.name for name, chart in opening if name == analysis.name]
            yield from _section(analysis, results[analysis.name], first)
    yield from _clearest(report)
    yield element("h2", "What was skipped or modified")
    yield bullets(_skipped(report) or ["Nothing."])
    yield element("h2", "Where these numbers come from")
    for name, result in results.items():
        provenance = result.provenance
        lines = [line for line in described_origin(provenance) if not line.startswith("citation")]
        versions = ", ".join(f"{part} {version}" for part, version in provenance["versions"].items())
        yield element("h3", ANALYSES[name].title)
        yield element("p", f"{'; '.join(lines)}; device: {provenance['device']}; versions: {versions}.")
    yield element("h2", "How to cite")
    yield element("p", paper.CITATION)
    yield element("pre", BIBTEX)


def _summary(report: Report) -> str:
    """What the model is, what it was read on, and what it comes to, in a paragraph."""
    checkpoint, findings = report.checkpoint, every_finding(report.results)
    corpora = dict.fromkeys(result.provenance["corpus"]["name"] for result in report.results.values())
    mode = "as in the paper" if report.settings.paper else "corrected"
    behaviors = f"{findings[0].sentence} " if findings[0].state in DECIDED else ""
    return (
        f"{checkpoint.layers} layers of {checkpoint.heads} heads, {checkpoint.parameters():,} parameters; on "
        f"{', '.join(corpora) or 'no corpus'}; mode: {mode}. {behaviors}{count_states(findings)}. Heads are named "
        f"layer-head, counted from 1. The paper: {paper.TITLE}, with BERT-base (12 layers of 12 heads)."
    )


def _opening(results: Results) -> list[tuple[str, Chart]]:
    """The figures with which the report begins, each after the name of its analysis: the first ones, those of heads
    that find something before others."""
    in_order = sorted((name for name in ANALYSES if name in results), key=lambda name: not ANALYSES[name].names_heads)
    charts = ((name, next(iter(_charts(ANALYSES[name], results[name])), None)) for name in in_order)
    return [(name, chart) for name, chart in charts if chart][:FIRST]


def _charts(analysis: Analysis[Any, Any], result: Result) -> list[Chart]:
    """The figures of a result that follow no choice."""
    return [block for block in flat(analysis.shown(result)) if isinstance(block, Chart) and not block.follows]


def _chart_html(chart: Chart, result: Result) -> str:
    corpus = f"{result.provenance['corpus']['name']}: {corpus_size(result.provenance)}."
    return _figure(chart.figure.update_layout(width=WIDTH), f"{_captioned(chart.title, chart.note)} {corpus}")


def _findings(report: Report) -> Iterator[str]:
    block = statements_table(report.results, report.checkpoint.label)
    yield element("h2", block.title)
    yield element("p class=strong", block.note)
    yield cells_html(block)


def _section(analysis: Analysis[Any, Any], result: Result, first: Sequence[str]) -> Iterator[str]:
    """The findings, figures and tables of a result, without the figures that are the `first` of the report."""
    title = analysis.title
    if analysis.section:
        title += f" ({analysis.section})"
    yield element("h2", title)
    lines = [f"{MARKS[finding.state]} {finding.text}" for finding in analysis.findings(result)]
    yield bullets(lines or [analysis.summary])
    shown = [*flat(analysis.shown(result))]
    if first:
        yield element("p class=caption", "Its first figure stands at the beginning of this report.")
    yield from (_chart_html(chart, result) for chart in _charts(analysis, result) if chart.name not in first)
    for each in (block for block in shown if isinstance(block, Table) and block.in_report):
        yield cells_html(each, _captioned(each.title, each.note))


def _clearest(report: Report) -> Iterator[str]:
    """Figures 1 and 5 of the paper for this model, and a table of their heads."""
    block = clearest_table(report.results)
    yield element("h2", block.title)
    yield cells_html(block)
    for figure, explained in CAPTIONS.items():
        if lines := [each for each in report.lines if each.figure == figure]:
            where = "; ".join(f"{each.title.partition(':')[0]}, {each.where}" for each in lines)
            caption = f"Figure {figure} of the paper, for this model: {explained} {where}."
            yield _figure(lines_figure([each.panel for each in lines], across=3), caption)


def _captioned(title: str, note: str) -> str:
    return f"{title}{'' if title.endswith(('.', '?')) else '.'} {note}".strip()


def _figure(figure: go.Figure, caption: str) -> str:
    return f"<figure>{figure_html(figure)}{element('figcaption', caption)}</figure>"


def _skipped(report: Report) -> list[str]:
    """What each analysis skipped, once where several skipped the same of one corpus."""
    missing = [f"{ANALYSES[name].title}: not computed. {reason}" for name, reason in report.missing.items()]
    notices = dict.fromkeys(line for each in report.results.values() for line in each.provenance.get("notices", ()))
    skipped: dict[tuple[str, str], str] = {}
    for name, result in report.results.items():
        corpus = result.provenance["corpus"]
        for line in describe_skipped(result.provenance["skipped"]):
            skipped.setdefault((corpus["digest"], line), f"{ANALYSES[name].title}, {corpus['name']}: {line}")
    return [*missing, *notices, *skipped.values()]
