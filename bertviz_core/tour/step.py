"""One step of the tour, and what it finds in a model's stored results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bertviz_core.claims import Claim
from bertviz_core.heads import Head
from bertviz_core.overview.head_summary import Results


@dataclass(frozen=True, slots=True)
class Findings:
    """What this model's results say to a step of the tour.

    Attributes:
        answer: To the step's question.
        differs: This model beside BERT-base.
        head: The one to look at, if any.
        unclear: Why there is no clear case of what the step is about; empty where there is one.
    """

    answer: str
    differs: str
    head: Head | None = None
    unclear: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the tour.

    Attributes:
        claim: What the paper says, with its number.
        page: Where to see it, and what to `look` at there.
        find: From results, and the number that heads are counted from.
        rule: The paper's claim whose rule says whether a model shows what the step is about.
        needs: The analyses that it reads.
        address: The page's settings, whatever is found.
    """

    title: str
    section: str
    claim: str
    page: str
    look: str
    question: str
    needs: tuple[str, ...]
    find: Callable[[Results, int], Findings]
    address: dict[str, str] = field(default_factory=dict)
    rule: Claim | None = None

    def findings(self, results: Results, base: int = 1) -> Findings | None:
        """What the stored results say, this model's heads and layers counted from `base`; None where an analysis is
        missing, or a token that the step is about."""
        if not results.keys() >= set(self.needs):
            return None
        try:
            findings = self.find(results, base)
        except KeyError:
            return None
        return findings if findings.unclear else replace(findings, unclear=self._unclear(results))

    def _unclear(self, results: Results) -> str:
        """The step's rule, where it does not hold of these results or cannot be decided; else ""."""
        verdict = self.rule.verdict(results) if self.rule else None
        if self.rule is None or verdict is None or verdict.state == "holds":
            return ""
        decided = "The numbers do not decide the rule" if verdict.state == "undecided" else "The rule"
        return f"{decided} for a clear case: {self.rule.rule[0].lower()}{self.rule.rule[1:]}"
