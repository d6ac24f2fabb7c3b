"""What is stored of a model for the corpora that this reader may see: the samples, and the reader's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamlit as st

from bertviz_core.analyses import ANALYSES, Kind
from bertviz_core.corpora.samples import SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.engine.requests import Request
from bertviz_core.errors import InputError, ModelError, StoreError
from pages.shared import catalogue, services
from pages.shared.selection import Selection


def sources(kind: Kind, page: str, selection: Selection) -> list[Source]:
    """Corpora of one kind: the chosen one first where this page reads that kind, then the reader's uploads, the newest
    first, then the samples. Nobody else's uploads: their digests are their owners'."""
    found = {selection.source.digest: selection.source} if catalogue.entry(page).corpus == kind else {}
    for source in (*_uploads(kind), *map(sample, SAMPLES[kind])):
        found.setdefault(source.digest, source)
    return list(found.values())


def digests(kind: Kind) -> set[str]:
    """Of the samples, and of what this reader uploaded, whether it is still kept or not."""
    own = {option.removeprefix("upload-") for option in st.session_state.get(f"uploads-{kind}", {})}
    return own | {sample(name).digest for name in SAMPLES[kind]}


def results(page: str, selection: Selection) -> dict[str, Any]:
    """The stored result of each analysis of this model, on the first corpus that has one; nothing is computed."""
    found = {}
    for analysis in ANALYSES.values():
        requests = (selection.request(analysis.name).on(source) for source in sources(analysis.corpus, page, selection))
        result = next((held for request in requests if (held := services.find(request)) is not None), None)
        if result is not None:
            found[analysis.name] = result
    return found


def everything(page: str, selection: Selection) -> list[Request]:
    """A request for each analysis, on the first corpus of its kind; none where there is no corpus of that kind."""
    return [
        selection.request(analysis.name).on(known[0])
        for analysis in ANALYSES.values()
        if (known := sources(analysis.corpus, page, selection))
    ]


def can_be_made(request: Request) -> bool:
    """Whether the model has what the analysis needs."""
    try:
        request.check_model()
    except ModelError:
        return False
    return True


def _uploads(kind: Kind) -> Iterator[Source]:
    for option in reversed(st.session_state.get(f"uploads-{kind}", {})):
        try:
            yield services.upload(option.removeprefix("upload-"))
        except (InputError, StoreError):
            continue  # deleted, or expired, meanwhile; or the store cannot be read, as the sidebar says
