"""When a head came to do what it does: its first fact at every step of a training (docs/methods.md, section 18)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bertviz_core.analyses.base.head_figures import HeadCurve, HeadFigure, HeadRow
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result, Results
from bertviz_core.emergence.training import training_of
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.one_head.description import OneHead
from bertviz_core.overview.stored_results import largest
from bertviz_core.settings import Settings

TITLE = "When it arose"
# The results of one step by analysis
Step = tuple[int, Results]


def stored_steps(store: Store, checkpoint: Checkpoint, settings: Settings) -> list[Step]:
    """The steps of the training that a checkpoint is of, each with its largest results; empty where none is known."""
    training = training_of(checkpoint)
    if training is None:
        return []
    models = zip(training.steps, training.checkpoints, strict=True)
    return [(step, largest(store, each.fingerprint(), settings)) for step, each in models]


def with_training(shown: OneHead, results: Results, steps: Sequence[Step]) -> OneHead:
    """The same with the curve of its first fact over a training, where two steps or more have that fact.

    Args:
        shown: What is known of the head.
        results: The results that it is made of.
        steps: The steps of the training in order, with their results.
    """
    if not shown.facts:
        return shown
    fact = shown.facts[0]
    figure = arising(fact.analysis, fact.row, steps, results[fact.analysis])
    return replace(shown, figures=((fact.analysis, figure), *shown.figures)) if figure else shown


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
    if len(known) < 2:
        return None
    rows = [found for _, found in known]
    bands = np.array([found.band for found in rows])
    curve = HeadCurve(
        ticks=tuple(f"{step:,}" for step, _ in known),
        values=np.array([found.value for found in rows]),
        interval=np.array([[found.low for found in rows], [found.high for found in rows]]),
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
    name = name[0].upper() + name[1:]
    first, last = rows[0], rows[-1]
    if last.low <= first.value <= last.high or first.value == last.value:
        return f"{name} is at step {steps[-1]:,} what it is at step {steps[0]:,}."
    shares = [(each.value - first.value) / (last.value - first.value) for each in rows]
    passed = next(step for step, share in zip(steps, shares, strict=True) if share > 0.5)
    return (
        f"{name} goes from {first.text} at step {steps[0]:,} to {last.text} at step {steps[-1]:,}, "
        f"and is past half of the way at step {passed:,}."
    )
