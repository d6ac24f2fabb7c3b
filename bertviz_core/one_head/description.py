"""One head in all that is stored of it: a sentence of what it does, the facts that set it apart, small figures.

The page, the command, the library and the file all show what `one_head` returns.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertviz_core.analyses.base.findings import DECIDED, Finding
from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow
from bertviz_core.analyses.base.registry import ANALYSES, findings
from bertviz_core.analyses.base.result import Results, origin
from bertviz_core.analyses.behaviors import BROAD, DUPLICATE, INDUCTION, LINGUISTIC, linguistic
from bertviz_core.heads import Head, first_number
from bertviz_core.models.checkpoint import label_of
from bertviz_core.overview.head_columns import behavior_averages, behavior_heads, behaviors_of, columns, in_order

FACTS = 3  # in the sentence
APART = "What sets it apart"
FURTHEST = "Furthest from the median of all heads"
NOTHING = "has no named behavior"
REPEATS = {INDUCTION: "is an induction head", DUPLICATE: "is a duplicate-token head"}


@dataclass(frozen=True)
class Fact:
    """A number of the head that is far from the median of all heads.

    Attributes:
        row: The number beside those of all heads.
    """

    analysis: str
    row: HeadRow


@dataclass(frozen=True)
class OneHead:
    """What the stored results of a model say of one head.

    Attributes:
        model: The name of the model, as it is shown.
        label: Its label, which counts as the reader does who has asked, in files too.
        full_label: The label and the head's name in other libraries.
        first: The number of the first layer and the first head in labels.
        role: What the head does, as the rest of a sentence that begins with the head.
        facts: Its numbers that are furthest from the median of all heads, at most one of each analysis.
        findings: The findings that name the head.
        figures: Small figures, each with the name of its analysis.
        missing: The titles of the analyses that are not computed.
        origins: Of each analysis what its numbers are computed from.
    """

    model: str
    head: Head
    label: str
    full_label: str
    first: int
    role: str
    facts: tuple[Fact, ...]
    findings: tuple[Finding, ...]
    figures: tuple[tuple[str, HeadFigure], ...]
    missing: tuple[str, ...]
    origins: dict[str, dict[str, Any]]

    @property
    def does(self) -> str:
        """What the head does, in a sentence."""
        return f"Head {self.label} {self.role}."

    @property
    def is_far(self) -> bool:
        """Whether the first of its facts sets it apart."""
        return bool(self.facts) and self.facts[0].row.is_far

    @property
    def apart(self) -> str:
        """Its facts, in a sentence."""
        if not self.facts:
            return "None of its numbers differs from the median of all heads."
        like_most = f"It is like most heads; {FURTHEST[0].lower()}{FURTHEST[1:]}" if self.role == NOTHING else FURTHEST
        before = APART if self.is_far else like_most
        return f"{before}: {'; '.join(fact.row.sentence for fact in self.facts)}."

    @property
    def sentence(self) -> str:
        """What the head does, and what sets it apart."""
        return f"{self.does} {self.apart}"

    @property
    def facts_figure(self) -> HeadFigure:
        """The small figure of the facts."""
        title = APART if self.is_far else FURTHEST
        return HeadFigure(title, tuple(fact.row for fact in self.facts))

    @property
    def about(self) -> str:
        """What the numbers are computed from, as a line."""
        corpora = sorted({about["corpus"] for about in self.origins.values()})
        return f"Stored results of {self.model} on {', '.join(corpora)}. Layers and heads count from {self.first}."


@dataclass(frozen=True, eq=False)
class OfModel:
    """What the results say of the model, which is the same for all its heads and takes the most time.

    Attributes:
        findings: Every finding.
        members: The heads of each behavior, (layer, head) bool; None where none are known.
        named: Label of a head -> what it is best at.
    """

    findings: tuple[Finding, ...]
    members: dict[str, np.ndarray] | None
    named: dict[str, str]


def of_model(results: Results) -> OfModel:
    """What results say of the model, for `one_head` of each of its heads."""
    return OfModel(tuple(findings(results)), behavior_heads(results), linguistic(results))


def one_head(results: Results, head: Head, known: OfModel | None = None) -> OneHead:
    """What the stored results of one model, some with numbers of heads, say of one of its heads.

    Args:
        known: What `of_model` says of them; computed where it is None.

    Raises:
        SettingsError: The model has no such head.
    """
    head.check(*columns(results)[0].values.shape)
    known = known or of_model(results)
    shown = in_order(results)
    named_figures = [(name, each.figure) for name, result in shown for each in ANALYSES[name].of_head(result, head)]
    return OneHead(
        model=label_of(shown[0][1].provenance["model"]["name"]),
        head=head,
        label=head.label(),
        full_label=head.full_label(),
        first=first_number(),
        role=role_of(results, head, known),
        facts=distinctive(results, head),
        findings=findings_on(known.findings, head),
        figures=tuple((name, figure) for name, figure in named_figures if figure.has_numbers),
        missing=tuple(analysis.title for name, analysis in ANALYSES.items() if name not in results),
        origins={name: origin(result.default_view().provenance) for name, result in shown},
    )


def findings_on(found: Sequence[Finding], head: Head) -> tuple[Finding, ...]:
    """The findings whose sentence names the head, each sentence once."""
    name = re.compile(rf"ead {head.label()}\b(?!-)")
    about = [each for each in found if each.head == head and each.state in DECIDED and name.search(each.sentence)]
    return tuple({each.sentence: each for each in reversed(about)}.values())[::-1]


def distinctive(results: Results, head: Head, count: int = FACTS) -> tuple[Fact, ...]:
    """The facts of a head, the one furthest from the median of all heads first, those that one can see before others
    (docs/methods.md, section 18)."""
    facts = []
    for name, result in in_order(results):
        head_rows = ANALYSES[name].of_head(result, head)
        rows = [row for each in head_rows for row in each.figure.apart if row.is_apart]
        if rows:
            facts.append(Fact(name, max(rows, key=_distance)))
    facts.sort(key=lambda fact: _distance(fact.row), reverse=True)
    return tuple(facts[:count])


def _distance(row: HeadRow) -> tuple[bool, float]:
    """By what numbers are chosen and ordered: first those whose distance from the median one can see."""
    return row.is_worth, abs(row.score)


def role_of(results: Results, head: Head, known: OfModel) -> str:
    """What a head does, as the rest of a sentence that begins with it; a head may do several things."""
    finds = known.named.get(head.key())
    behaviors = [] if known.members is None else behaviors_of(known.members, head)
    phrases = [f"is best at {finds}"] if finds else []
    phrases += [_phrase(results, behavior) for behavior in behaviors if behavior != LINGUISTIC]
    return " and ".join(phrases) or NOTHING


def _phrase(results: Results, behavior: str) -> str:
    """What a head of a behavior does, as the rest of a sentence."""
    if behavior == BROAD:
        return "attends broadly, as heads of an untrained network do"
    if behavior in REPEATS:
        return REPEATS[behavior]
    named = {each: ANALYSES[result.analysis].column(quantity) for each, quantity, result in behavior_averages(results)}
    return f"attends mostly to {named[behavior].short}"
