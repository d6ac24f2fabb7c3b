"""The paper's claims as rules, and which of them hold of a model; nothing is computed from text here, only read."""

from __future__ import annotations

from bertviz_core.claims.claim import Claim, Verdict
from bertviz_core.claims.structure import STRUCTURE
from bertviz_core.claims.surface import SURFACE

__all__ = ["CLAIMS", "Claim", "Verdict", "claims_of"]

CLAIMS: tuple[Claim, ...] = (*SURFACE, *STRUCTURE)


def claims_of(analysis: str) -> list[Claim]:
    """The claims that one analysis decides, in the paper's order."""
    return [claim for claim in CLAIMS if claim.analysis == analysis]
