"""The guided tour: the paper in slides, each with a figure and a question with a hidden answer."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple, Self

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.findings import DECIDED, SHOWN, YES_OR_NO, Finding
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result, Results
from bertviz_core.analyses.behaviors import linguistic
from bertviz_core.heads import Head
from bertviz_core.overview.summary import every_finding, roles
from bertviz_core.plotting.head_map import HeadMap

ASSETS = Path(__file__).parent / "assets"
PICTURE = ASSETS / "tour.svg"  # a drawing of the terms


class Brief(NamedTuple):
    """A finding in a few words, which answers are written of.

    Attributes:
        head: The label of its head.
        number: Its number, with a unit.
        verdict: "Yes" or "No", or that it is not decided.
    """

    head: str
    number: str
    verdict: str


@dataclass(frozen=True)
class Step:
    """A step of the tour: a question for a class, and the figure that answers it.

    Attributes:
        section: The section of the paper, with its figure or table.
        page: The page where more of it is shown.
        look: How to read the figure.
        look_at_answer: How to read the figure that is there with the answer; empty for the same.
        question: The question for the class.
        answer: How the answer begins, a template of `Brief`s by the names of the statements that it is about.
        notes: For the lecturer: what to point at, and what students ask.
        findings: Ids of the answers.
        background: What a reader should know first, without numbers of this model.
        needs: The analyses that it reads, by default the page's.
        as_map: Whether its figure is a map of the answer's quantity.
        asks_for_head: Whether the answer is a head, which is chosen only with the answer.
        causal: What differs of a causal model: names of these attributes, each with its value.
    """

    title: str
    section: str
    page: str
    look: str
    question: str
    answer: str
    notes: str
    findings: tuple[str, ...]
    background: str = ""
    needs: tuple[str, ...] = ()
    as_map: bool = False
    asks_for_head: bool = False
    causal: tuple[tuple[str, str], ...] = ()
    look_at_answer: str = ""

    @classmethod
    def from_toml(cls, table: dict[str, Any]) -> Self:
        """A step from its table in tour.toml."""
        lists = {name: tuple(value) for name, value in table.items() if isinstance(value, list)}
        return cls(**table | lists | {"causal": tuple(table.get("causal", {}).items())})

    def of_model(self, results: Results) -> Self:
        """The step as it is asked of the model of these results."""
        is_causal = any(result.provenance["model"]["causal"] for result in results.values())
        return replace(self, **dict[str, Any](self.causal)) if is_causal else self

    def select(self, results: Results) -> list[Finding]:
        """The step's findings; without a result only their statements."""
        by_id = {finding.id: finding for finding in every_finding(results)}
        return [by_id[name] for name in self.findings]

    def reading(self, is_answered: bool) -> str:
        """How to read the figure that is shown."""
        return self.look_at_answer if is_answered and self.look_at_answer else self.look

    def asked(self, findings: Sequence[Finding]) -> list[Finding]:
        """Of its findings those that the question asks for, at least the first."""
        names = {field.partition(".")[0] for _, field, *_ in Formatter().parse(self.answer) if field}
        return [each for each in findings if _name(each) in names] or [*findings[:1]]

    def short_answer(self, findings: Sequence[Finding]) -> str:
        """The answer in a few words; empty where a finding that it is about is missing."""
        briefs = {}
        for each in findings:
            head = each.head.label() if each.head else "no head"
            briefs[_name(each)] = Brief(head, each.number or "no number", YES_OR_NO.get(each.state, each.state))
        try:
            return self.answer.format(**briefs)
        except KeyError:
            return ""


def _name(finding: Finding) -> str:
    """The name of its statement."""
    return finding.id.rpartition(".")[2]


def on_one_scale(maps: Sequence[HeadMap]) -> list[HeadMap]:
    """Maps side by side, whose colors mean the same values in all."""
    low = min(each.limits[0] for each in maps)
    high = max(each.limits[1] for each in maps)
    return [replace(each, limits=(low, high)) for each in maps]


def head_roles(results: Results) -> dict[Head, str]:
    """The heads of the findings that have a role, with it; heads that find something only if they are linguistic, with
    what they find. Only findings that hold; a head of several has each role."""
    findings = {finding.id: finding for finding in every_finding(results) if finding.state == SHOWN}
    named = linguistic(results)
    by_head: dict[Head, list[str]] = {}
    for name, role in roles().items():
        finding = findings.get(name)
        if finding is None or finding.head is None:
            continue
        analysis = ANALYSES.get(finding.analysis)
        word = role
        if analysis is not None and analysis.names_heads:
            word = named.get(finding.head.key(), "")
        elif analysis is not None and not _has_behavior(analysis, results[analysis.name], finding.head):
            word = ""
        if word:
            by_head.setdefault(finding.head, []).append(word)
    return {head: ", ".join(dict.fromkeys(names)) for head, names in by_head.items()}


def _has_behavior(analysis: Analysis[Any, Any], result: Result, head: Head) -> bool:
    """Whether a head has one of the behaviors for which an analysis has a rule; True where it has no rule."""
    members = analysis.more_behaviors(result).values()
    return not members or any(bool(heads[head]) for heads in members)


def answers(findings: list[Finding]) -> list[Finding]:
    """The findings that have numbers."""
    return [finding for finding in findings if finding.state in DECIDED]


def first_head(findings: list[Finding]) -> Head | None:
    """The head of the first finding that has one; None without."""
    return next((finding.head for finding in findings if finding.head), None)


CONTENT = tomllib.loads((ASSETS / "tour.toml").read_text(encoding="utf-8"))
TERMS: dict[str, str] = CONTENT["terms"]  # words that the first slide explains, in Markdown
NOTES: dict[str, str] = CONTENT["notes"]  # of the slides around the steps, by name
STEPS = tuple(map(Step.from_toml, CONTENT["steps"]))
END = len(STEPS) + 1  # the slide after the steps: what this model shows
OWN = END + 1  # the slide with the reader's own sentence
