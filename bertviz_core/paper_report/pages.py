"""A report: its contents (findings, a section for each analysis, clearest heads, what was skipped, origin, citation),
as one HTML page that needs no network and prints on A4."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bertviz_core import paper
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.findings import DECIDED, MARKS
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Result, corpus_size, result_of
from bertviz_core.exports import check_path, described_origin, write_bytes
from bertviz_core.overview import clearest, relation_heads
from bertviz_core.overview.findings import every_finding
from bertviz_core.paper import CITATION
from bertviz_core.paper_report import Report
from bertviz_core.paper_report.tables import tables
from bertviz_core.plotting.drawing import WIDTH, bullets, element, html_page, picture, table
from bertviz_core.viewer.figure import lines_figure

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1f2430;
  background: #fff; }
h1 { font-size: 1.9rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #dee2e6; } h3 { margin: 1.2rem 0 .3rem; }
figure { margin: 1.2rem 0; } figure, .wide { overflow-x: auto; }
figcaption, .caption { color: #5c6370; font-size: .85rem; margin: 1rem 0 0; }
table { border-collapse: collapse; font-size: .85rem; margin: .3rem 0 1rem; }
th, td { padding: .2rem .5rem; text-align: left; vertical-align: top; border-bottom: 1px solid #e9ecef; }
th { border-bottom: 2px solid #adb5bd; } td.number { text-align: right; white-space: nowrap; }
.strong { font-weight: 600; } pre { background: #f8f9fa; padding: .8rem; font-size: .8rem; white-space: pre-wrap; }
li { overflow-wrap: anywhere; }
@page { size: A4; margin: 16mm 14mm; }
@media print {
  body { font-size: 10pt; max-width: none; margin: 0; padding: 0; } table { font-size: 8pt; }
  h1, h2, h3, .caption { break-after: avoid; } figure, tr, li { break-inside: avoid; }
  thead { display: table-header-group; } .wide, figure { overflow: visible; } figure > div { zoom: .72; }
  p, li { orphans: 3; widows: 3; }
}
"""
CAPTIONS = {  # of the paper's figures, as lines between two columns
    1: "the stronger a line, the more the token on the left attends to the one on the right. Sentences from",
    5: "attention between words, those of the relation or mention in red. Sentences from",
}
MAX_LOCATIONS = 3  # named for each reason to skip
BIBTEX = """@inproceedings{clark-etal-2019-bert,
  title = {What Does {BERT} Look At? {A}n Analysis of {BERT}'s Attention},
  author = {Clark, Kevin and Khandelwal, Urvashi and Levy, Omer and Manning, Christopher D.},
  booktitle = {Proceedings of the 2019 ACL Workshop BlackboxNLP},
  year = {2019},
  url = {https://arxiv.org/abs/1906.04341}
}"""


def to_html(report: Report) -> bytes:
    """The report as one self-contained page without links."""
    title = f"What does {report.checkpoint.label} look at?"
    return html_page(title, *contents(report), style=STYLE).encode("utf-8", "replace")


def check_out(path: Path) -> None:
    """Raises SettingsError, ahead of any work, for a path that no report can be written to."""
    check_path(path, (".html",))


def write_report(report: Report, path: Path) -> None:
    """Write the page; raises SettingsError where it cannot be written."""
    write_bytes(path, to_html(report))


def contents(report: Report) -> Iterator[str]:
    """Every block of the report as HTML, in order."""
    checkpoint, name = report.checkpoint, report.checkpoint.label
    corpora = list(dict.fromkeys(result.provenance["corpus"]["name"] for result in report.results.values()))
    yield element("h1", f"What does {name} look at?")
    yield element(
        "p",
        f"{checkpoint.layers} layers of {checkpoint.heads} heads, {checkpoint.parameters():,} parameters; on "
        f"{', '.join(corpora) or 'no corpus'}; mode: {'as in the paper' if report.settings.paper else 'corrected'}. "
        f"Heads are named layer-head, counted from 1. The paper: {paper.TITLE}, with BERT-base (12 layers of 12 "
        "heads).",
    )
    if checkpoint.note:
        yield element("p", f"About this model: {checkpoint.note}")
    yield from _findings(report)
    for analysis in ANALYSES.values():
        if analysis.name in report.results:
            yield from _section(analysis, report.results[analysis.name])
    yield from _clearest(report)
    yield from _skipped(report)
    yield from _origin(report)
    yield element("h2", "How to cite")
    yield element("p", CITATION)
    yield element("pre", BIBTEX)


def _findings(report: Report) -> Iterator[str]:
    """Table of every decided statement, with a count of the paper's."""
    decided = [finding for finding in every_finding(report.results) if finding.state in DECIDED]
    of_paper = Counter(finding.state for finding in decided if finding.statement)
    counts, name = ", ".join(f"{of_paper[state]} {state}" for state in DECIDED), report.checkpoint.label
    yield element("h2", "Which of the paper's statements this model shows")
    yield element(
        "p class=strong",
        f"Of {of_paper.total()} statements of the paper: {counts} for {name} on these corpora. Statements are "
        "undecided if their 95% interval contains the threshold, or if there is too little text.",
    )
    rows = [
        (
            each.section,
            each.statement or "beyond the paper",
            each.rule,
            each.sentence,
            f"{MARKS[each.state]}\u00a0{each.state}",
        )
        for each in decided
    ]
    yield table("", ("section", "the paper, of BERT-base", "rule", name, "this run"), rows)


def _section(analysis: Analysis, result: Result) -> Iterator[str]:
    """One analysis; all of it follows from the analysis itself."""
    yield element("h2", f"{analysis.title}{f' ({analysis.section})' if analysis.section else ''}")
    found = [f"{MARKS[finding.state]} {finding.text}" for finding in analysis.findings(result)]
    yield bullets(found or [analysis.summary])
    for title, figure in analysis.figures(result).items():
        caption = f"{title}. {result.provenance['corpus']['name']}: {corpus_size(result.provenance)}."
        yield picture(figure.update_layout(width=WIDTH), caption)
    yield from tables(analysis, result)


def _clearest(report: Report) -> Iterator[str]:
    """Figures 1 and 5 of the paper for this model, and a table of their heads."""
    yield element("h2", "The clearest heads")
    rows = [(each.head.label(), each.name, each.text, "") for each in clearest(report.results)]
    if "dependency_heads" in report.results:
        rows += [
            (
                each.choice.head.label(),
                f"{each.name}, {each.counted}" if each.counted else each.name,
                f"{each.accuracy:.1%}",
                f"best fixed offset {each.baseline:.1%}",
            )
            for each in relation_heads(result_of(report.results, RelationCounts))
        ]
    yield table("", ("head", "what it does", "this run", "baseline"), rows)
    for figure, explained in CAPTIONS.items():
        if lines := [each for each in report.lines if each.figure == figure]:
            where = "; ".join(f"{each.title.partition(':')[0]}, {each.where}" for each in lines)
            caption = f"Figure {figure} of the paper, for this model: {explained} {where}."
            yield picture(lines_figure([each.panel for each in lines], across=3), caption)


def _skipped(report: Report) -> Iterator[str]:
    yield element("h2", "What was skipped or modified")
    lines = [f"{ANALYSES[name].title}: not computed. {reason}" for name, reason in report.missing.items()]
    listed = set()
    for name, result in report.results.items():
        for entry in result.provenance["skipped"]:
            line = f"{entry['count']:,} × {entry['reason']} ({', '.join(entry['where'][:MAX_LOCATIONS])})"
            if (result.provenance["corpus"]["digest"], line) not in listed:
                listed.add((result.provenance["corpus"]["digest"], line))
                lines.append(f"{ANALYSES[name].title}, {result.provenance['corpus']['name']}: {line}")
    yield bullets(lines or ["Nothing."])


def _origin(report: Report) -> Iterator[str]:
    yield element("h2", "Where these numbers come from")
    for name, result in report.results.items():
        yield element("h3", ANALYSES[name].title)
        lines = [line for line in described_origin(result.provenance) if not line.startswith("citation")]
        versions = ", ".join(f"{part} {version}" for part, version in result.provenance["versions"].items())
        yield element("p", f"{'; '.join(lines)}; device: {result.provenance['device']}; versions: {versions}.")
