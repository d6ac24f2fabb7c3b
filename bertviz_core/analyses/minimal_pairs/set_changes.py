"""What changes without sets of heads: averages over pairs by phenomenon, and the pairs that flip (docs/methods.md,
section 19)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bertviz_core.analyses.minimal_pairs.head_sets import HeadSet
from bertviz_core.analyses.minimal_pairs.pair_flips import flips_of, texts_of
from bertviz_core.analyses.minimal_pairs.result import MinimalPairs, SetRecord
from bertviz_core.analyses.minimal_pairs.unit_averages import averages
from bertviz_core.heads import Head


def changes_of(margins: np.ndarray, without: np.ndarray) -> np.ndarray:
    """(pair, quantity, ...) the changes of a right choice and of the margin, of margins (pair,) with all heads and
    (pair, ...) without some."""
    before = margins.reshape(-1, *(1,) * (without.ndim - 1))
    return np.stack([(without > 0).astype(float) - (before > 0), without - before], 1)


def with_sets(
    result: MinimalPairs,
    sets: Sequence[HeadSet],
    controls: Sequence[Sequence[Head]],
    without: np.ndarray,
    *,
    margins: np.ndarray,
    members: Sequence[np.ndarray],
    examples: Sequence[Any],
) -> MinimalPairs:
    """A result of single heads with the numbers of sets.

    Args:
        controls: Random sets, of a single set.
        without: (set, pair) the margins without each of the sets, then of the controls, nats.
        margins: (pair,) those with all heads, nats.
        members: For each phenomenon (pair,) bool, which pairs it has.
        examples: The EncodedPairs.
    """
    of_sets = without.T.astype(float)  # (pair, set)
    units = np.array([example.document_number for example in examples])
    values = changes_of(margins, of_sets)
    every = np.ones(len(margins), dtype=bool)
    rows = [averages(values[member], units[member]) for member in (*members, every)]
    means = np.stack([row.mean for row in rows])
    count = len(sets)
    flips = [flips_of(margins, of_sets[:, :count], member) for member in members]
    flipped = np.stack([each.places for each in flips])
    return replace(
        result,
        sets=[_record(each, result.provenance["options"]) for each in sets],
        controls=[[head.key() for head in heads] for heads in controls],
        set_changes=means[..., :count],
        set_errors=np.stack([row.error for row in rows])[..., :count],
        set_effective_units=np.array([row.effective_units for row in rows]),
        control_changes=means[..., count:],
        set_flipped=flipped,
        set_flipped_margins=np.stack([each.margins for each in flips]),
        set_flips=np.stack([each.total for each in flips]),
        pair_texts=result.pair_texts | texts_of(examples, margins, flipped),
    )


def _record(head_set: HeadSet, options: dict[str, Any]) -> SetRecord:
    is_found = not head_set.name or head_set.name in options["above_baseline"]
    return {"name": head_set.name, "heads": [head.key() for head in head_set.heads], "is_found": is_found}
