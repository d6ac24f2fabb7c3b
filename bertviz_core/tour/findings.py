"""What one step finds in a model's stored results."""

from __future__ import annotations

from dataclasses import dataclass

from bertviz_core.heads import Head


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
