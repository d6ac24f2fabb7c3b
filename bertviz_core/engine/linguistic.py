"""The heads that section 4 found in this model, by name: what Figure 6 marks with crosses.

Nothing is computed: a stored result of the same model and settings, on any corpus that the store knows, is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from bertviz_core.analyses import ANALYSES
from bertviz_core.corpora.samples import SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.engine.requests import Request
from bertviz_core.engine.store import Store

MARKED = 6  # relations named, as many as the paper names
NO_RELATIONS = ("all", "UAS", "root", "punct")  # rows of the table that say nothing of syntax in a head


def linguistic_heads(request: Request, store: Store | None, find: Callable[[Request], Any | None]) -> dict[str, str]:
    """Label of a head -> what it was found best at. For each analysis the first corpus with a stored result counts,
    the reader's own before the samples."""
    names: dict[str, list[str]] = {}
    for analysis, tell in (("dependency_heads", _relations), ("coreference_heads", _coreference)):
        stored = ((other.source, find(other)) for other in _requests(analysis, request, store))
        for source, result in islice(((source, result) for source, result in stored if result is not None), 1):
            for label, name in tell(result, source):
                names.setdefault(label, []).append(name)
    return {label: ", ".join(found) for label, found in names.items()}


def _requests(analysis: str, request: Request, store: Store | None) -> Iterator[Request]:
    own = map(store.upload, store.uploads()) if store else ()
    samples = map(sample, SAMPLES[ANALYSES[analysis].corpus])
    return (Request(analysis, request.checkpoint, source, request.settings) for source in chain(own, samples))


def _relations(result: Any, source: Source) -> list[tuple[str, str]]:
    """The relations whose best head leaves the best fixed offset furthest behind, its interval clear of it."""
    from bertviz_core.analyses.dependency_heads import fewest

    frame = result.chosen(min_count=fewest(source)).to_frame()
    frame = frame[~frame["relation"].isin(NO_RELATIONS) & (frame["low"] > frame["baseline_accuracy"])]
    order = (frame["accuracy"] - frame["baseline_accuracy"]).sort_values(ascending=False, kind="stable").index
    return list(frame.loc[order[:MARKED], ["head", "relation"]].itertuples(index=False, name=None))


def _coreference(result: Any, _: Source) -> list[tuple[str, str]]:
    """The best head on all mentions together, where it beats the guess that the nearest mention is the antecedent."""
    best = result.best()
    nearest = result.systems_accuracy()[result.systems.index("nearest"), 0]
    accuracy = result.accuracy()[best.direction, 0, best.head.layer, best.head.head]
    return [(best.head.label(), "coreference")] if accuracy > nearest else []
