"""Checkpoints of an emergence as runs that can be compared: what did a part of the training teach?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bertviz_core.analyses.head_averages import averages_of
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Result
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import REQUIRED

NAMED = 5  # checkpoints that are offered: the first, the last, and those between at equal distances


def names(emergence: Emergence, analysis: str) -> dict[str, str]:
    """Address, as "step-500" -> name of the checkpoints to offer; empty for an analysis that the emergence does not
    store."""
    if analysis not in REQUIRED:
        return {}
    chosen = np.unique(np.linspace(0, len(emergence.steps) - 1, NAMED).round().astype(int))
    steps = emergence.steps[chosen].tolist()
    return {f"step-{step}": f"step {step:,} of {emergence.provenance['model']['name']}" for step in steps}


def result(emergence: Emergence, analysis: str, address: str) -> Result:
    """One checkpoint's result. Averages have the standard errors that the emergence has."""
    index = emergence.steps.tolist().index(int(address.removeprefix("step-")))
    origin = {name: value for name, value in emergence.provenance.items() if name != "others"}
    about = origin["model"] | {
        "name": f"{origin['model']['name']}, step {emergence.steps[index]:,}",
        "fingerprint": origin["checkpoints"][index]["fingerprint"],
    }
    provenance = origin | {"analysis": analysis, "model": about, "options": {}}
    if analysis == "dependency_heads":
        shown = {name: origin["options"][name] for name in ("view", "min_count")}
        shown |= {"offsets": int(emergence.offsets.max()), "merge_subtypes": False}  # the default view's
        corpus = emergence.provenance["others"]["treebank"]
        return replace(emergence.dependency(index), provenance=provenance | {"corpus": corpus, "options": shown})
    known = (column.quantity for column in ANALYSES[analysis].columns)  # an emergence names quantities, not analyses
    quantities = [name for name in known if name in emergence.present]
    rows = [emergence.quantities.index(name) for name in quantities]
    mean, error = emergence.averages[index, rows], emergence.errors[index, rows]
    over = emergence.units[rows], emergence.effective_units[rows], emergence.unit
    top = np.zeros((*mean.shape, 0))
    segments = np.full(len(quantities), provenance["segments"])
    return averages_of(analysis)(provenance, quantities, mean, error, segments, *over, top.astype(int), top, {})
