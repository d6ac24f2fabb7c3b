"""What is stored of a model for the corpora that this reader may see: the samples, and the reader's own."""

from __future__ import annotations

from typing import Any

from bertviz_core.analyses.analysis import Kind
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.source import Source
from pages.shared import services
from pages.shared.frame import catalogue, uploads
from pages.shared.frame.selection import Selection

MAX_COST = 20  # forward passes, of what runs with everything else


def sources(kind: Kind, page: str, selection: Selection) -> list[Source]:
    """Corpora of one kind: the chosen one first where this page reads that kind, then the uploads that the reader
    sees, the newest first, then the samples."""
    corpora = {selection.source.digest: selection.source} if catalogue.entry(page).corpus == kind else {}
    for source in (*uploads.sources(kind), *map(sample, SAMPLES[kind])):
        corpora.setdefault(source.digest, source)
    return list(corpora.values())


def names(kind: Kind) -> dict[str, str]:
    """Digest -> name of the samples and of the uploads that this reader sees; also of uploads that have expired."""
    visible = {upload.digest: upload.name for upload in reversed(uploads.visible(kind).values())}  # the earliest name
    return visible | {source.digest: source.name for source in map(sample, SAMPLES[kind])}


def results(page: str, selection: Selection) -> dict[str, Any]:
    """The stored result of each analysis of this model, on the first corpus that has one; nothing is computed."""
    by_name = {}
    for analysis in ANALYSES.values():
        requests = (selection.request(analysis.name).on(source) for source in sources(analysis.corpus, page, selection))
        result = next((stored for request in requests if (stored := services.find(request)) is not None), None)
        if result is not None:
            by_name[analysis.name] = result
    return by_name


def everything(page: str, selection: Selection) -> list[Request]:
    """A request for each analysis, on the first corpus of its kind; none where there is no corpus of that kind, or
    where it costs as much as many passes over the corpus: its own page offers it."""
    return [
        selection.request(analysis.name).on(known[0])
        for analysis in ANALYSES.values()
        if analysis.cost(selection.checkpoint) <= MAX_COST and (known := sources(analysis.corpus, page, selection))
    ]
