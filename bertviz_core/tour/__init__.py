"""The guided tour: the paper in short steps, each on a page, with a question that the page answers.

Whatever is said of a model is read from its stored results; whatever is said of BERT-base is the paper's.
"""

from __future__ import annotations

from collections.abc import Container

from bertviz_core.tour.step import Findings, Step
from bertviz_core.tour.structure import STRUCTURE
from bertviz_core.tour.surface import SURFACE

__all__ = ["STEPS", "Findings", "Step", "steps"]

STEPS: tuple[Step, ...] = (*SURFACE, *STRUCTURE)


def steps(pages: Container[str]) -> list[Step]:
    """The steps whose page is there, in the paper's order."""
    return [step for step in STEPS if step.page in pages]
