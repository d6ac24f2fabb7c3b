"""When a head came to do what it does: its first fact at every step of a training (docs/methods.md, section 18)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bertviz_core.analyses.base.head_figures import HeadCurve, HeadFigure, HeadRow
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Provenance, Result, Results
from bertviz_core.analyses.run.reading import read
from bertviz_core.emergence.training import training_of
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.one_head.description import OneHead
from bertviz_core.overview.stored_results import stored_results

TITLE = "When it arose"
# A step, and its result of an analysis
Step = tuple[int, Result]


def with_stored_training(shown: OneHead, results: Results, store: Store, checkpoint: Checkpoint) -> OneHead:
    """`with_training` of what is stored of the training that a checkpoint is of."""
    return (
        with_training(shown, stored_steps(store, checkpoint, results[shown.facts[0].analysis]))
        if shown.facts
        else shown
    )


def stored_steps(store: Store, checkpoint: Checkpoint, own: Result) -> list[Step]:
    """The steps of the training that a checkpoint is of, of which the same analysis of the same corpus and settings as
    `own` is stored; empty where no training is known."""
    training = training_of(checkpoint)
    if training is None:
        return []
    keys = {
        stored.provenance["model"]["fingerprint"]: stored.key
        for stored in stored_results(store)
        if stored.analysis == own.analysis and _input(stored.provenance) == _input(own.provenance)
    }
    steps = []
    for step, each in zip(training.steps, training.checkpoints, strict=True):
        key = keys.get(each.fingerprint())
        result = read(store, key, own.analysis) if key else None
        if result is not None:
            steps.append((step, result))
    return steps


def _input(provenance: Provenance) -> list[object]:
    """What is equal in all results of one training; names of files are not."""
    files = {"corpus": provenance["corpus"]} | provenance.get("others", {})
    digests = {role: file["digest"] for role, file in files.items()}
    return [digests, provenance["settings"], provenance["options"]]


def with_training(shown: OneHead, steps: Sequence[Step]) -> OneHead:
    """The same with the curve of its first fact over a training, where two steps or more have that number.

    Args:
        steps: The steps of the training in order, each with its result of the fact's analysis, of the same corpus and
            settings.
    """
    if not shown.facts:
        return shown
    fact = shown.facts[0]
    figure = arising(fact.analysis, fact.row, steps)
    return replace(shown, figures=((fact.analysis, figure), *shown.figures)) if figure else shown


def arising(name: str, row: HeadRow, steps: Sequence[Step]) -> HeadFigure | None:
    """A number of a head over its training.

    Args:
        name: The name of its analysis.
        row: The number now.
        steps: As in `with_training`.

    Returns:
        The curve, and the first step at which the head had passed half of the way; None where fewer than two steps have
        the number.
    """
    known = [(step, found) for step, result in steps if (found := _read(name, row, result))]
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


def _read(name: str, row: HeadRow, result: Result) -> HeadRow | None:
    """The same number of another result, whether or not it sets the head apart there; None where it has none."""
    head_rows = ANALYSES[name].of_head(result, row.head)
    return next((number for each in head_rows for number in each.figure.every if number.name == row.name), None)


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
