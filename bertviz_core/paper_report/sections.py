"""The contents of a report: claims, a section for each analysis, clearest heads, what was skipped, origin, citation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bertviz_core import paper
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.html_section import described_origin, highest_heads
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import counted
from bertviz_core.claims import CLAIMS
from bertviz_core.claims.claim import DECISIONS, Claim, Verdict
from bertviz_core.overview.clearest import clearest, relation_heads
from bertviz_core.paper import CITATION
from bertviz_core.paper_report.blocks import Block, Bullets, Code, Heading, Paragraph, Picture, Table
from bertviz_core.paper_report.request import Report
from bertviz_core.paper_report.tables import tables
from bertviz_core.plotting.style import BEHAVIORS
from bertviz_core.plotting.svg.figure import figure_svg
from bertviz_core.viewer.lines_figure import draw_side_by_side

FIGURES = {  # of the paper, as lines between two columns
    1: "the darker a line, the more the token on the left attends to the one on the right. Sentences from",
    5: "attention between words, those of the relation or mention in red. Sentences from",
}
MAX_LOCATIONS = 3  # named for each reason to skip
MARKS = {"holds": "✓ ", "does not hold": "✗ ", "undecided": "?\u00a0"}
BIBTEX = """@inproceedings{clark-etal-2019-bert,
  title = {What Does {BERT} Look At? {A}n Analysis of {BERT}'s Attention},
  author = {Clark, Kevin and Khandelwal, Urvashi and Levy, Omer and Manning, Christopher D.},
  booktitle = {Proceedings of the 2019 ACL Workshop BlackboxNLP},
  year = {2019},
  url = {https://arxiv.org/abs/1906.04341}
}"""


def contents(report: Report) -> Iterator[Block]:
    """Every block of the report, in order."""
    name = report.checkpoint.label
    decided = [(c, verdict) for c in CLAIMS if (verdict := c.verdict(report.results)).state in DECISIONS]
    yield Heading(f"What does {name} look at?", 1)
    yield Paragraph(_about(report))
    yield from _note(report)
    yield from _claims(decided, name)
    for analysis in ANALYSES.values():
        if analysis.name in report.results:
            own = [pair for pair in decided if pair[0].analysis == analysis.name]
            yield from _section(analysis, report.results[analysis.name], own)
    yield from _clearest(report)
    yield from _skipped(report)
    yield from _origin(report)
    yield from _citation()


def _about(report: Report) -> str:
    checkpoint, mode = report.checkpoint, "as in the paper" if report.settings.paper else "corrected"
    corpora = list(dict.fromkeys(result.provenance["corpus"]["name"] for result in report.results.values()))
    return (
        f"{checkpoint.layers} layers of {checkpoint.heads} heads, {checkpoint.parameters():,} parameters; on "
        f"{', '.join(corpora) or 'no corpus'}; mode: {mode}. Heads are named layer-head, counted from 1. The paper: "
        f"{paper.TITLE}, with BERT-base (12 layers of 12 heads)."
    )


def _note(report: Report) -> Iterator[Block]:
    if report.checkpoint.note:
        yield Paragraph(f"About this model: {report.checkpoint.note}")


def _claims(decided: list[tuple[Claim, Verdict]], name: str) -> Iterator[Block]:
    yield Heading("What holds of the paper's claims")
    counts = {state: sum(verdict.state == state for _, verdict in decided) for state in ("holds", "does not hold")}
    yield Paragraph(
        f"Of {len(decided)} claims {counts['holds']} hold of {name} on these corpora, {counts['does not hold']} do "
        f"not, and {len(decided) - sum(counts.values())} are undecided: the 95% interval contains the threshold.",
        strong=True,
    )
    rows = [
        (claim.section, claim.text, claim.rule, verdict.evidence, MARKS[verdict.state] + verdict.state)
        for claim, verdict in decided
    ]
    yield Table("", ("section", "the paper, of BERT-base", "rule", f"{name}", "verdict"), rows)


def _section(analysis: Analysis, result: Any, decided: list[tuple[Claim, Verdict]]) -> Iterator[Block]:
    """One analysis; all of it follows from the analysis itself."""
    yield Heading(f"{analysis.title}{f' ({analysis.section})' if analysis.section else ''}")
    if own := result.claim() or ("" if decided else highest_heads(result, analysis) or analysis.summary):
        yield Paragraph(own, strong=True)
    if decided:
        yield Bullets(
            [f"{MARKS[verdict.state]}{verdict.evidence} The paper: {claim.text}" for claim, verdict in decided]
        )
    for number, (title, figure) in enumerate(analysis.figures(result).items(), start=1):
        drawn, origin = figure_svg(figure, "", ""), result.provenance
        caption = f"{title}. {origin['corpus']['name']}: {counted(origin)}."
        yield Picture(f"{analysis.name}-{number}", drawn, caption)
    yield from tables(analysis, result)


def _clearest(report: Report) -> Iterator[Block]:
    """Figures 1 and 5 of the paper for this model, and a table of their heads."""
    yield Heading("The clearest heads")
    rows = [
        (
            each.head.label(),
            BEHAVIORS[each.behavior][-1],
            ANALYSES[each.analysis].column(each.quantity).text(each.value),
            "",
        )
        for each in clearest(report.results)
    ]
    if "dependency_heads" in report.results:
        rows += [
            (each.choice.head.label(), each.relation, f"{each.accuracy:.1%}", f"best fixed offset {each.baseline:.1%}")
            for each in relation_heads(report.results["dependency_heads"])
        ]
    yield Table("", ("head", "what it does", "this run", "baseline"), rows)
    for figure, explained in FIGURES.items():
        if lines := [each for each in report.lines if each.figure == figure]:
            where = "; ".join(f"{each.title.partition(':')[0]}, {each.where}" for each in lines)
            caption = f"Figure {figure} of the paper, for this model: {explained} {where}."
            yield Picture(f"figure-{figure}", draw_side_by_side([each.panel for each in lines]), caption)


def _skipped(report: Report) -> Iterator[Block]:
    yield Heading("What was skipped or modified")
    lines = [f"{ANALYSES[name].title}: not computed. {reason}" for name, reason in report.missing.items()]
    listed = set()
    for name, result in report.results.items():
        for entry in result.provenance["skipped"]:
            line = f"{entry['count']:,} × {entry['reason']} ({', '.join(entry['where'][:MAX_LOCATIONS])})"
            if (result.provenance["corpus"]["digest"], line) not in listed:
                listed.add((result.provenance["corpus"]["digest"], line))
                lines.append(f"{ANALYSES[name].title}, {result.provenance['corpus']['name']}: {line}")
    yield Bullets(lines or ["Nothing."])


def _origin(report: Report) -> Iterator[Block]:
    yield Heading("Where these numbers come from")
    for name, result in report.results.items():
        yield Heading(ANALYSES[name].title, 3)
        lines = [line for line in described_origin(result.provenance) if not line.startswith("citation")]
        versions = ", ".join(f"{part} {version}" for part, version in result.provenance["versions"].items())
        yield Paragraph(f"{'; '.join(lines)}; device: {result.provenance['device']}; versions: {versions}.")


def _citation() -> Iterator[Block]:
    yield Heading("How to cite")
    yield Paragraph(CITATION)
    yield Code(BIBTEX)
