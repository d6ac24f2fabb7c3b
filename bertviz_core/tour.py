"""The guided tour: the paper in slides, each with a figure and a question with a hidden answer."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bertviz_core.analyses.base.findings import DECIDED, Finding
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.behaviors import linguistic
from bertviz_core.heads import Head
from bertviz_core.overview.summary import every_finding, roles

ASSETS = Path(__file__).parent / "assets"
PICTURE = ASSETS / "tour.svg"  # a drawing of the terms


@dataclass(frozen=True)
class Step:
    """A step of the tour: a question for a class, and the figure that answers it.

    Attributes:
        title: Its title.
        section: The section of the paper, with its figure or table.
        page: The page where more of it is shown.
        look: How to read the figure.
        question: The question for the class.
        findings: Ids of the answers.
        background: What a reader should know first, without numbers of this model.
        needs: The analyses that it reads, by default the page's.
        as_map: Whether its figure is a map of the answer's quantity.
        asks_for_head: Whether the answer is a head, which is chosen only with the answer.
    """

    title: str
    section: str
    page: str
    look: str
    question: str
    findings: tuple[str, ...]
    background: str = ""
    needs: tuple[str, ...] = ()
    as_map: bool = False
    asks_for_head: bool = False

    @classmethod
    def from_toml(cls, table: dict[str, Any]) -> Self:
        lists = {name: tuple(value) for name, value in table.items() if isinstance(value, list)}
        return cls(**table | lists)

    def select(self, results: Results, base: int = 1) -> list[Finding]:
        """The step's findings; without a result only their statements."""
        by_id = {finding.id: finding for finding in every_finding(results, base)}
        return [by_id[name] for name in self.findings]


def head_roles(results: Results, base: int) -> dict[Head, str]:
    """The heads of the findings that have a role, with it; heads that find something only if they are linguistic."""
    findings = {finding.id: finding for finding in answers(every_finding(results, base))}
    named = linguistic(results)
    by_head: dict[Head, str] = {}
    for name, role in roles().items():
        finding = findings.get(name)
        if finding is None or finding.head is None:
            continue
        analysis = ANALYSES.get(finding.analysis)
        if analysis is None or not analysis.names_heads or finding.head.label() in named:
            by_head[finding.head] = role
    return by_head


def answers(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.state in DECIDED]


def first_head(findings: list[Finding]) -> Head | None:
    return next((finding.head for finding in findings if finding.head), None)


CONTENT = tomllib.loads((ASSETS / "tour.toml").read_text(encoding="utf-8"))
TERMS: dict[str, str] = CONTENT["terms"]  # words that the first slide explains, in Markdown
STEPS = tuple(map(Step.from_toml, CONTENT["steps"]))
END = len(STEPS) + 1  # the slide after the steps: what this model shows
OWN = END + 1  # the slide with the reader's own sentence
