"""What one step finds in a model's stored results."""

from __future__ import annotations

from dataclasses import dataclass

from bertviz_core.heads import Head


@dataclass(frozen=True, slots=True)
class Findings:
    """answer: to the step's question.   differs: this model beside BERT-base.
    head: the one to look at, if any."""

    answer: str
    differs: str
    head: Head | None = None
