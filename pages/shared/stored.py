"""What is stored of a model for the chosen corpora."""

from __future__ import annotations

from typing import Any

from bertviz_core.analyses.analysis import Kind
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.files import SAMPLES, sample
from pages.shared import services
from pages.shared.frame import uploads
from pages.shared.frame.selection import Selection

MAX_COST = 20  # forward passes, of what runs with everything else


def names(kind: Kind) -> dict[str, str]:
    """Digest -> name of the samples and of the uploads that this reader sees; also of uploads that have expired."""
    visible = {upload.digest: upload.name for upload in reversed(uploads.visible(kind).values())}  # the earliest name
    return visible | {source.digest: source.name for source in map(sample, SAMPLES[kind])}


def results(selection: Selection) -> dict[str, Any]:
    """The stored results of this model on the chosen corpora, by analysis; nothing is computed."""
    stored = {analysis.name: services.find(selection.request(analysis.name)) for analysis in selection.analyses()}
    return {name: result for name, result in stored.items() if result is not None}


def everything(selection: Selection) -> list[Request]:
    """A request for each analysis, without those that cost as much as many passes over the corpus: their own pages
    offer them."""
    return [
        selection.request(analysis.name)
        for analysis in selection.analyses()
        if analysis.cost(selection.checkpoint) <= MAX_COST
    ]
