"""The finding of all analyses of a model together: how many heads have a recognizable pattern."""

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from bertviz_core.analyses.behaviors import COREFERENCE, Thresholds, linguistic, with_behavior
from bertviz_core.analyses.findings import NOT_COMPUTED, NOT_SHOWN, SHOWN, UNDECIDED, Finding, decide, head_intervals
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.registry import findings
from bertviz_core.analyses.results import Results
from bertviz_core.overview import behavior_counts, behavior_labels

TARGETS = {  # what heads of a behavior attend to
    "next": "the next token",
    "previous": "the previous token",
    "to_cls": "[CLS]",
    "to_sep": "[SEP]",
    "to_first": "the first token",
    "to_punct": "full stops and commas",
}


def every_finding(results: Results, base: int = 1) -> list[Finding]:
    """The finding of all analyses together, then those of each."""
    return [behaviors_finding(results), *findings(results, base)]


def behaviors_finding(results: Results, thresholds: Thresholds | None = None) -> Finding:
    """How many heads have a behavior of Figure 6; NOT_COMPUTED without surface patterns and entropy."""
    thresholds = thresholds or Thresholds()
    named = linguistic(results)
    labels = behavior_labels(results, thresholds, named)
    state, sentence = NOT_COMPUTED, "Neither surface patterns nor entropy is stored for this model."
    if labels is not None:
        state, sentence = (SHOWN if named else _state(results, thresholds)), _sentence(labels, named)
    return Finding(
        "overview.behaviors",
        "overview",
        "3",
        "Many of BERT-base's 12 × 12 heads do one simple thing: they attend to the next or the previous token, to "
        "[SEP], to full stops and commas, or broadly to everything.",
        "One head is above a threshold of Figure 6, or is shown to find a relation or antecedents; broad heads do not "
        "count, since a randomly initialized network has them too.",
        state,
        sentence,
    )


def _state(results: Results, thresholds: Thresholds) -> str:
    """Whether one head is above a threshold other than that of broad heads, corrected for all of them."""
    result = results.get("surface_patterns")
    if not isinstance(result, HeadAverages):
        return UNDECIDED
    limits = {name: limit for name, limit in asdict(thresholds).items() if name in TARGETS and name in result.present}
    states = set()
    for name, limit in limits.items():
        states |= set(decide(head_intervals(result, name, len(limits) * result[name].size), limit).flat)
    return next((state for state in (SHOWN, UNDECIDED) if state in states), NOT_SHOWN)


def _sentence(labels: np.ndarray, named: Mapping[str, str]) -> str:
    """(layer, head) names of behaviors, and what the linguistic heads find, in one sentence."""
    groups, antecedents = behavior_counts(labels), sum(name == COREFERENCE for name in named.values())
    counts = {target: groups.get(name, 0) for name, target in TARGETS.items()}
    counts |= {"governors": len(named) - antecedents, "antecedents": antecedents}
    parts = [f"{count} to {target}" for target, count in counts.items() if count]
    which = f": {', '.join(parts)}".replace(" to ", " attend to ", 1) if parts else ""
    broad = groups.get("broad", 0)
    others = f" Of the others, {broad} attend broadly, as heads of an untrained network do." if broad else ""
    return f"{with_behavior(labels)} of {labels.size} heads have a recognizable pattern{which}.{others}"
