"""`report`: the paper retold for one model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal

from bertviz_core.analyses.local_runner import needs_masked_lm
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.in_memory import Corpus, source_of
from bertviz_core.engine.store import Store, temporary_store
from bertviz_core.library.analyze import Model, checkpoint_of, lent
from bertviz_core.models.in_memory import predicts_masked_words, transformers_model
from bertviz_core.models.masking import no_head
from bertviz_core.models.model import AttentionModel
from bertviz_core.paper_report.pages import check_out, write_report
from bertviz_core.paper_report.request import ReportRequest
from bertviz_core.settings import Execution, Settings


def report(
    out: str | Path,
    *,
    model: Model = "demo",
    text: Corpus | Literal[False] | None = None,
    treebank: Corpus | Literal[False] | None = None,
    coreference: Corpus | Literal[False] | None = None,
    device: str = "auto",
    store: str | Path | bool = True,
    **settings: Any,
) -> Path:
    """Write a report: every figure and table of the paper for one model, and which of the paper's claims hold of it.

    What is not stored yet is computed, after a line on standard error that says about how long that takes.

    Args:
        out: `x.html` for one page that needs no network, or a folder for report.md with SVG figures.
        model: As in `analyze`.
        text: Corpus of sections 3 and 6, as in `analyze`; the sample where it is None, none where it is False.
        treebank: Corpus of sections 4.2 and 5.
        coreference: Corpus of section 4.3.
        device: "auto", "cpu" or "cuda".
        store: True for the store that command and app use, a folder for another one, False for none: everything is then
            computed, what ships with the project too.
        **settings: `max_length`, `limit`, `seed`, `mode` and `dtype`.

    Returns:
        What was written.

    Raises:
        BertvizError: The model, a corpus or a setting cannot be used; the message says what to do.

    Examples:
        >>> import bertviz_core as bv
        >>> bv.report("demo-report.html").name  # the demo model on the samples
        'demo-report.html'
    """
    path = Path(out)
    check_out(path)
    given = {"text": text, "treebank": treebank, "coreference": coreference}
    corpora = {kind: source_of(corpus, kind) for kind, corpus in given.items() if corpus is not False}
    request = ReportRequest(checkpoint_of(model), corpora, Settings(**settings))
    request.settings.check(request.checkpoint.max_length)
    folder = None if isinstance(store, bool) else Path(store)
    with temporary_store() if store is False else nullcontext(Store(folder)) as opened:
        failed = _compute(request, model, opened, Execution(device))
        write_report(request.read(opened, failed), path)
    return path


def _compute(request: ReportRequest, model: Model, store: Store, execution: Execution) -> dict[str, str]:
    if announcement := request.announcement(store):
        print(announcement, file=sys.stderr)
    elif not request.lacks_lines(store):
        return {}
    if isinstance(model, str | Path):
        return request.compute(store, execution)
    masked_lm = predicts_masked_words(transformers_model(model[0]))
    with lent(model, request.checkpoint, execution.device, request.settings.dtype, masked_lm) as loaded:
        return request.compute(store, execution, load=partial(_same, loaded))


def _same(loaded: AttentionModel, together: Sequence[Request], execution: Execution) -> AttentionModel:
    """The model that is lent; raises ModelError where the requests need a head that its class lacks."""
    if needs_masked_lm(together) and loaded.masked_lm is None:
        raise no_head(loaded.checkpoint, "it is not of the class that predicts masked words")
    return loaded
