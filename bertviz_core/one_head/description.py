"""One head in all that is stored of it: a sentence of what it does, the evidence, the facts that set it apart, small
figures.

The page, the command, the library and the file all show what `one_head` returns.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, zip_longest
from operator import attrgetter
from typing import Any

import numpy as np

from bertviz_core.analyses.base.findings import DECIDED, Finding
from bertviz_core.analyses.base.found_heads import HeadRole
from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow, column_rows
from bertviz_core.analyses.base.registry import ANALYSES, findings
from bertviz_core.analyses.base.result import Results, origin
from bertviz_core.analyses.base.shown_inputs import Example
from bertviz_core.analyses.behaviors import BROAD, DUPLICATE, INDUCTION, LINGUISTIC, linguistic
from bertviz_core.heads import Head, first_number
from bertviz_core.models.checkpoint import label_of
from bertviz_core.numbers import NATS
from bertviz_core.overview.head_columns import behavior_averages, behavior_heads, behaviors_of, columns, in_order
from bertviz_core.overview.named_heads import published_of
from bertviz_core.published import PublishedHead, named_text

FACTS = 3  # of what it is named for, and as many that set it apart
EXAMPLES = 2  # stored inputs that show what it is named for
LONGEST = 180  # characters of such an input
APART = "What sets it apart"
FURTHEST = "Furthest from the median of all heads"
NOTHING = "has no named behavior"
Figures = dict[str, list[HeadFigure]]
REPEATS = {INDUCTION: "is an induction head", DUPLICATE: "is a duplicate-token head"}


@dataclass(frozen=True)
class Fact:
    """A number of the head: one that it is named for, or one that is far from the median of all heads.

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
        behaviors: Those of the overview, without what it finds, the one that says most first.
        roles: What it finds, each after the name of its analysis.
        examples: Stored inputs that show what it finds, each after the name of its analysis and the role.
        facts: The numbers that it is named for, then those that set it apart, at most one of each analysis.
        is_far: Whether a number sets it apart from most heads.
        finding: What the first of these comes to; None where no finding is about it.
        findings: The findings that name the head, without that.
        figures: Small figures, each with the name of its analysis.
        published: What papers have named it, each with its paper; of a model that they know.
        missing: The titles of the analyses that are not computed.
        origins: Of each analysis what its numbers are computed from.
    """

    model: str
    head: Head
    label: str
    full_label: str
    first: int
    role: str
    behaviors: tuple[str, ...]
    roles: tuple[tuple[str, HeadRole], ...]
    examples: tuple[tuple[str, HeadRole, Example], ...]
    facts: tuple[Fact, ...]
    is_far: bool
    finding: Finding | None
    findings: tuple[Finding, ...]
    figures: tuple[tuple[str, HeadFigure], ...]
    published: tuple[PublishedHead, ...]
    missing: tuple[str, ...]
    origins: dict[str, dict[str, Any]]

    @property
    def does(self) -> str:
        """What the head does, in a sentence."""
        return f"Head {self.label} {self.role}."

    @property
    def claim(self) -> str:
        """What it does with the first number, in a line."""
        if self.finding:
            return self.finding.claim or self.finding.sentence
        if self.role == NOTHING or not self.facts:
            return self.does
        row = self.facts[0].row
        return f"{self.does.removesuffix('.')}: {row.text}, rank {row.rank} of {row.known.size}."

    @property
    def named(self) -> str:
        """What papers have named it, in a sentence; empty where none has."""
        return named_text(self.published)

    @property
    def every_finding(self) -> tuple[Finding, ...]:
        """The finding of the claim before the others."""
        return ((self.finding,) if self.finding else ()) + self.findings

    def fact_text(self, row: HeadRow) -> str:
        """What stands beside the strip of a fact: the number, unless the claim has it, and the rank."""
        rank = f"{row.rank} of {row.known.size}"
        is_claimed = row is self.facts[0].row and self.role != NOTHING
        return f"rank {rank}" if is_claimed else f"{row.text} · {rank}"

    @cached_property
    def salient_figures(self) -> tuple[tuple[str, HeadFigure], ...]:
        """The figures that set it apart, the one that does most first, then courses along an axis and lists of words,
        without the numbers that are among the facts."""
        return tuple(each for each in self._ranked if _is_salient(each[1]))

    @cached_property
    def other_figures(self) -> tuple[tuple[str, HeadFigure], ...]:
        """The other figures, likewise."""
        return tuple(each for each in self._ranked if not _is_salient(each[1]))

    @property
    def _ranked(self) -> list[tuple[str, HeadFigure]]:
        named = {(fact.analysis, fact.row.name) for fact in self.facts}
        left = [
            (name, replace(figure, rows=tuple(row for row in figure.rows if (name, row.name) not in named)))
            for name, figure in self.figures
        ]
        return sorted((each for each in left if each[1].is_drawn), key=lambda each: _salience(each[1]), reverse=True)

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
        title = self.does.removesuffix(".") if self.role != NOTHING else APART if self.is_far else FURTHEST
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
    behaviors = () if known.members is None else tuple(behaviors_of(known.members, head))
    behaviors = tuple(behavior for behavior in behaviors if behavior != LINGUISTIC)
    roles = tuple((name, role) for name, result in shown for role in ANALYSES[name].head_roles(result, head))
    named_for = (*(Fact(name, role.row) for name, role in roles), *_behavior_facts(results, head, behaviors))[:FACTS]
    about = findings_on(known.findings, head)
    finding = roles[0][1].finding if roles else _finding_of(about, named_for)
    figures = _figures(results, head)
    return OneHead(
        model=label_of(shown[0][1].provenance["model"]["name"]),
        head=head,
        label=head.label(),
        full_label=head.full_label(),
        first=first_number(),
        role=role_of(results, head, known),
        behaviors=behaviors,
        roles=roles,
        examples=_examples(roles),
        is_far=any(row.is_far for _, rows in _apart(figures) for row in rows),
        facts=(*named_for, *_most_telling(figures, without=named_for)),
        finding=finding,
        findings=tuple(each for each in about if finding is None or each.sentence != finding.sentence),
        figures=tuple((name, figure) for name, found in figures.items() for figure in found if figure.is_drawn),
        published=published_of(results, head),
        missing=_missing(results, is_causal=shown[0][1].provenance["model"].get("causal", False)),
        origins={name: origin(result.default_view().provenance) for name, result in shown},
    )


def _missing(results: Results, *, is_causal: bool) -> tuple[str, ...]:
    """The titles of what is not computed, of an encoder without analyses of next tokens, which it cannot have."""
    absent = (analysis for name, analysis in ANALYSES.items() if name not in results)
    return tuple(analysis.title for analysis in absent if is_causal or not analysis.reads_residual)


def findings_on(found: Sequence[Finding], head: Head) -> tuple[Finding, ...]:
    """The findings whose sentence names the head, each sentence once."""
    name = re.compile(rf"ead {head.label()}\b(?!-)")
    about = [each for each in found if each.head == head and each.state in DECIDED and name.search(each.sentence)]
    return tuple({each.sentence: each for each in reversed(about)}.values())[::-1]


def _examples(roles: Sequence[tuple[str, HeadRole]]) -> tuple[tuple[str, HeadRole, Example], ...]:
    """The first EXAMPLES, one of each role before a second one."""
    rounds = zip_longest(*([(*named, example) for example in named[1].examples(LONGEST)] for named in roles))
    return tuple(islice(filter(None, chain.from_iterable(rounds)), EXAMPLES))


def _behavior_facts(results: Results, head: Head, behaviors: Sequence[str]) -> Iterator[Fact]:
    """The number that decides each of a head's behaviors."""
    for behavior in behaviors:
        for name, result in in_order(results):
            columns = [column for column in ANALYSES[name].columns if column.behavior == behavior]
            yield from (Fact(name, row) for _, row in column_rows(columns, result, head))


def _finding_of(about: Sequence[Finding], facts: Sequence[Fact]) -> Finding | None:
    """The finding about the first fact."""
    if not facts:
        return None
    columns = ANALYSES[facts[0].analysis].columns
    quantities = [each.quantity for each in columns if each.label.removesuffix(NATS) == facts[0].row.name]
    return next((each for each in about if each.analysis == facts[0].analysis and each.quantity in quantities), None)


def distinctive(results: Results, head: Head, count: int = FACTS) -> tuple[Fact, ...]:
    """The facts that set a head apart, the most telling first, at most one of each analysis (docs/methods.md, section
    18)."""
    return _most_telling(_figures(results, head), count)


def _most_telling(figures: Figures, count: int = FACTS, without: Sequence[Fact] = ()) -> tuple[Fact, ...]:
    """The facts of `distinctive`, without the numbers of facts that are named before."""
    named = {(fact.analysis, fact.row.name) for fact in without}
    facts = []
    for name, rows in _apart(figures):
        left = [row for row in rows if (name, row.name) not in named]
        if left:
            facts.append(Fact(name, max(left, key=attrgetter("salience"))))
    facts.sort(key=lambda fact: fact.row.salience, reverse=True)
    return tuple(facts[:count])


def _figures(results: Results, head: Head) -> Figures:
    """What each analysis says of the head in numbers, by its name."""
    return {name: [each.figure for each in ANALYSES[name].of_head(result, head)] for name, result in in_order(results)}


def _apart(figures: Figures) -> Iterator[tuple[str, list[HeadRow]]]:
    """The numbers of each analysis that may set the head apart, and do not lie among those of all heads."""
    for name, found in figures.items():
        yield name, [row for figure in found for row in figure.apart if row.is_apart]


def _salience(figure: HeadFigure) -> tuple[bool, float]:
    """How telling a small figure is: as its most telling number."""
    return max((row.salience for row in figure.rows if row.is_apart), default=(False, 0.0))


def _is_salient(figure: HeadFigure) -> bool:
    return bool(figure.curve or figure.lists) or any(row.is_apart and row.is_far for row in figure.rows)


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
