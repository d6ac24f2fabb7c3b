"""The heads that section 4 found in this model, by name: what Figure 6 marks with crosses.

Nothing is computed: a stored result of the same model and settings, on the samples, is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.dependency_heads.relations import NO_RELATION, RelationCounts
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result, Results, result_of
from bertviz_core.corpora.files import SAMPLES, sample

KINDS = {"dependency_heads": "treebank", "coreference_heads": "coreference"}  # analysis -> its kind of corpus
MARKED = 6  # relations named, as many as the paper names


def linguistic_heads(request: Request, find: Callable[[Request], Result | None]) -> dict[str, str]:
    """Name the heads that are best at a relation or at coreference.

    Args:
        request: Whose model and settings count.
        find: Reads a stored result, or gives None.

    Returns:
        Label of a head -> what it is best at.
    """
    results = {}
    for analysis, kind in KINDS.items():
        requests = (request.for_analysis(analysis).on(sample(name)) for name in SAMPLES[kind])
        result = next((result for other in requests if (result := find(other)) is not None), None)
        if result is not None:
            results[analysis] = result
    return linguistic(results)


def linguistic(results: Results) -> dict[str, str]:
    """Label of a head -> what section 4 found it best at: the heads that Figure 6 marks with crosses."""
    pairs = clear_relations(result_of(results, RelationCounts)) if "dependency_heads" in results else []
    if "coreference_heads" in results:
        pairs += _coreference_heads(result_of(results, AntecedentCounts))
    return joined(pairs)


def joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Label of a head -> all that it is named for."""
    names: dict[str, list[str]] = {}
    for label, name in pairs:
        names.setdefault(label, []).append(name)
    return {label: ", ".join(each) for label, each in names.items()}


def clear_relations(counts: RelationCounts) -> list[tuple[str, str]]:
    """(label of the best head, relation) where that head is above the best fixed offset on held-out sentences, the
    furthest above first."""
    table = counts.to_frame()
    table = table[~table["relation"].isin(NO_RELATION) & table["above_baseline"]]
    order = (table["heldout_accuracy"] - table["baseline_accuracy"]).sort_values(ascending=False, kind="stable").index
    return list(table.loc[order[:MARKED], ["head", "relation"]].itertuples(index=False, name=None))


def _coreference_heads(counts: AntecedentCounts) -> list[tuple[str, str]]:
    """The best head on all mentions together, where it is above the nearest mention on held-out documents."""
    return [(counts.best().head.label(), "coreference")] if counts.is_above("nearest") else []
