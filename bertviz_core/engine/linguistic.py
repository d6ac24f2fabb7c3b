"""The heads that section 4 found in this model, by name: what Figure 6 marks with crosses.

Nothing is computed: a stored result of the same model and settings, on any corpus that the store knows, is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from bertviz_core.analyses import ANALYSES
from bertviz_core.analyses.head_summary import linguistic
from bertviz_core.corpora.samples import SAMPLES, sample
from bertviz_core.engine.requests import Request
from bertviz_core.engine.store import Store


def linguistic_heads(request: Request, store: Store | None, find: Callable[[Request], Any | None]) -> dict[str, str]:
    """Label of a head -> what it was found best at. For each analysis the first corpus with a stored result counts,
    the reader's own before the samples."""
    found = {}
    for analysis in ("dependency_heads", "coreference_heads"):
        results = (find(other) for other in _requests(analysis, request, store))
        result = next((result for result in results if result is not None), None)
        if result is not None:
            found[analysis] = result
    return linguistic(found)


def _requests(analysis: str, request: Request, store: Store | None) -> Iterator[Request]:
    own = map(store.upload, store.uploads()) if store else ()
    samples = map(sample, SAMPLES[ANALYSES[analysis].corpus])
    return (Request(analysis, request.checkpoint, source, request.settings) for source in chain(own, samples))
