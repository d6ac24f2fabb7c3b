"""The heads that section 4 found in this model, by name: what Figure 6 marks with crosses.

Nothing is computed: a stored result of the same model and settings, on corpora that the caller names, is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.requests import Request
from bertviz_core.corpora.samples import SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.overview.head_summary import linguistic


def linguistic_heads(
    request: Request, find: Callable[[Request], Any | None], own: Mapping[str, Sequence[Source]] | None = None
) -> dict[str, str]:
    """Name the heads that are best at a relation or at coreference.

    Args:
        request: Whose model and settings count.
        find: Reads a stored result, or gives None.
        own: Kind of corpus -> the asking reader's corpora. They come before the samples, which are always tried; of
            each analysis the first corpus with a stored result counts.

    Returns:
        Label of a head -> what it is best at.
    """
    found = {}
    for analysis in ("dependency_heads", "coreference_heads"):
        kind = ANALYSES[analysis].corpus
        corpora = [*(own or {}).get(kind, ()), *map(sample, SAMPLES[kind])]
        requests = (Request(analysis, request.checkpoint, source, request.settings) for source in corpora)
        result = next((result for other in requests if (result := find(other)) is not None), None)
        if result is not None:
            found[analysis] = result
    return linguistic(found)
