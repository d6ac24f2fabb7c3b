"""When a head came to do what it does: what sets it apart, at every step of its training (docs/methods.md, section 18)."""

from collections.abc import Sequence

import numpy as np

from bertviz_core.analyses.base.head_figures import HeadCurve, HeadFigure, HeadRow
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result, Results
from bertviz_core.heads import Head

TITLE = "When it arose"
# The results of one step by analysis
Step = tuple[int, Results]


def arising(name: str, row: HeadRow, steps: Sequence[Step], own: Result) -> HeadFigure | None:
    """A number of a head over its training.

    Args:
        name: The name of its analysis.
        row: The number now.
        steps: The steps in order, with their results.
        own: The result that has the number now; those of other input are left out.

    Returns:
        The curve, and the first step at which the head had passed half of the way; None where fewer than two steps have
        the number.
    """
    known = [(step, found) for step, results in steps if (found := _same(name, row, results.get(name), own))]
    if len(known) < 2:  # noqa: PLR2004
        return None
    rows = [found for _, found in known]
    bands = np.array([found.band for found in rows])
    curve = HeadCurve(
        ticks=tuple(f"{step:,}" for step, _ in known),
        values=np.array([found.value for found in rows]),
        half=np.array([found.high - found.value for found in rows]),
        low=bands[:, 0],
        high=bands[:, 1],
        axis="training step",
        name=row.name,
    )
    return HeadFigure(TITLE, curve=curve, sentence=_sentence(row.name, [step for step, _ in known], rows))


def _same(name: str, row: HeadRow, result: Result | None, own: Result) -> HeadRow | None:
    """The row of the same name of a result of the same corpus and settings."""
    if result is None or _input(result) != _input(own):
        return None
    return next((each for each in ANALYSES[name].head_rows(result, row.head) if each.name == row.name), None)


def _input(result: Result) -> list[object]:
    return [result.provenance[part] for part in ("corpus", "settings", "options")]


def _sentence(name: str, steps: Sequence[int], rows: Sequence[HeadRow]) -> str:
    """The first step at which the number has passed half of the way from its first value to its last."""
    first, last = rows[0], rows[-1]
    if last.low <= first.value <= last.high or first.value == last.value:
        return f"{name} is at step {steps[-1]:,} what it is at step {steps[0]:,}."
    shares = [(each.value - first.value) / (last.value - first.value) for each in rows]
    passed = next(step for step, share in zip(steps, shares, strict=True) if share > 0.5)  # noqa: PLR2004
    return (
        f"{name} goes from {first.text} at step {steps[0]:,} to {last.text} at step {steps[-1]:,}, "
        f"and is past half of the way at step {passed:,}."
    )
