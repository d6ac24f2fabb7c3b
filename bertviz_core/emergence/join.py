"""Two parts of one training, computed apart, as one emergence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from bertviz_core.emergence.result import BY_STEP, Emergence
from bertviz_core.errors import InputError

SAME = ("quantities", "units", "unit", "relations", "uniform", "n", "offsets", "offset_correct")
CLOSE = 1e-4  # how far the checkpoint that both parts have may differ, which was computed twice


def join(first: Emergence, second: Emergence, marks: Iterable[tuple[int, str]] = ()) -> Emergence:
    """The emergence of a training whose two parts were analyzed one after the other.

    Args:
        first: Up to some checkpoint.
        second: From the same checkpoint on, of the same corpora under the same settings.
        marks: Steps at which the training changed, each with what changed there.

    Returns:
        All steps, the checkpoint in common once. Its provenance lists the checkpoints of both.

    Raises:
        InputError: Where the parts differ in anything but their steps, do not meet, or a mark is outside.
    """
    _check_alike(first, second)
    _check_meeting(first, second)
    both = {name: (getattr(first, name), getattr(second, name)[1:]) for name in BY_STEP}
    joined: dict[str, Any] = {name: np.concatenate(parts) for name, parts in both.items()}
    provenance = _provenance(first.provenance, second.provenance)
    provenance["marks"] += [{"step": step, "label": label} for step, label in marks]
    begin, end = joined["steps"][[0, -1]].tolist()
    for mark in provenance["marks"]:
        if not begin <= mark["step"] <= end:
            raise InputError(
                f"A mark at step {mark['step']:,} is outside the training.", hint=f"Steps go from {begin:,} to {end:,}."
            )
    return replace(second, provenance=provenance, **joined)


def _check_alike(first: Emergence, second: Emergence) -> None:
    different = [name for name in SAME if not np.array_equal(getattr(first, name), getattr(second, name))]
    for name in ("settings", "corpus", "others", "options"):
        if first.provenance[name] != second.provenance[name]:
            different.append(name)
    if first.shape != second.shape:
        different.append("layers and heads")
    if different:
        raise InputError(
            f"The two parts differ in their {', '.join(different)}.",
            hint="Compute both with the same text, treebank and options.",
        )


def _check_meeting(first: Emergence, second: Emergence) -> None:
    """Raise InputError unless the last checkpoint of `first` is the first of `second`: equal step, weights and
    numbers."""
    last, next_one = first.provenance["checkpoints"][-1], second.provenance["checkpoints"][0]
    if (last["step"], last["fingerprint"]) != (next_one["step"], next_one["fingerprint"]):
        raise InputError(
            f"The first part ends with step {last['step']:,}, the second begins with step {next_one['step']:,}, "
            "and these are not the same checkpoint.",
            hint="Let the second part's folder begin with the last checkpoint of the first.",
        )
    for name in ("tokens", "loss", "masked_accuracy", "averages"):
        ours, other = getattr(first, name)[-1], getattr(second, name)[0]
        if not np.allclose(ours, other, rtol=0, atol=CLOSE, equal_nan=True):
            raise InputError(f"The parts have different {name} at step {last['step']:,}, which both have.")
    if not np.allclose(first.accuracy[-1], second.accuracy[0], rtol=0, atol=0.01, equal_nan=True):
        raise InputError(f"The parts have different dependency heads at step {last['step']:,}, which both have.")


def _provenance(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    checkpoints = [*first["checkpoints"], *second["checkpoints"][1:]]
    digest = hashlib.sha256()
    for each in checkpoints:
        digest.update(f"{each['step']}:{each['fingerprint']}\n".encode())
    return {
        **second,
        "model": second["model"] | {"name": first["model"]["name"], "fingerprint": digest.hexdigest()},
        "checkpoints": checkpoints,
        "skipped": [*second["skipped"], *(entry for entry in first["skipped"] if entry not in second["skipped"])],
        "marks": [*first.get("marks", []), *second.get("marks", [])],
    }
