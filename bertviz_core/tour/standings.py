"""The end of the tour: which of the paper's claims one model shows, by its stored results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.claims import CLAIMS, Claim
from bertviz_core.overview.head_summary import Results

STATES = {"holds": "shown", "does not hold": "not shown", "undecided": "undecided"}
NOT_COMPUTED, NO_ANSWER = "not computed", "no answer"
ORDER = (*STATES.values(), NO_ANSWER, NOT_COMPUTED)


@dataclass(frozen=True, slots=True)
class Standing:
    """State of one claim of the paper for a model's results.

    Attributes:
        state: One of ORDER.
        evidence: The numbers, or what is missing.
    """

    claim: Claim
    state: str
    evidence: str


def standings(results: Results) -> list[Standing]:
    """Every claim of the paper, in its order."""
    return [_standing(claim, results) for claim in CLAIMS]


def counted(standing: Sequence[Standing]) -> str:
    """How many claims have each state, in one sentence."""
    counts = {state: sum(each.state == state for each in standing) for state in ORDER}
    parts = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    return f"Of {len(standing)} claims of the paper: {parts}."


def _standing(claim: Claim, results: Results) -> Standing:
    title = ANALYSES[claim.analysis].title
    if claim.analysis not in results:
        return Standing(claim, NOT_COMPUTED, f"No result of “{title}” is stored for this model.")
    verdict = claim.verdict(results)
    if verdict is None:
        return Standing(claim, NO_ANSWER, f"This model or corpus lacks what the claim is about; see “{title}”.")
    return Standing(claim, STATES[verdict.state], verdict.evidence)
