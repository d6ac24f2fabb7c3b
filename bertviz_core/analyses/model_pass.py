"""One pass of a model over a corpus: every result of the requests that share it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses import details, durations
from bertviz_core.analyses.chunks import ChunkPass, index_of, run_here, share_done
from bertviz_core.analyses.kept_stages import KeptStages
from bertviz_core.analyses.provenance import provenance_of
from bertviz_core.analyses.registry import ANALYSES, examples_class
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import ModelError
from bertviz_core.models.masking import check_masked_head
from bertviz_core.models.norms import check_norms, observing
from bertviz_core.settings import Execution

if TYPE_CHECKING:
    from bertviz_core.analyses.worker_pass import Cluster
    from bertviz_core.models.model import AttentionModel
    from bertviz_core.models.reading import Examples

    Load = Callable[[Sequence["Request"], Execution], AttentionModel]


DEFAULT_EXECUTION = Execution()


def check_model(request: Request) -> None:
    """Raises ModelError, without importing torch, where the model lacks a head that the analysis needs, or norms."""
    check_norms(request.checkpoint, request.settings.weights)
    if ANALYSES[request.analysis].masked_lm:
        check_masked_head(request.checkpoint)


def can_compute(request: Request) -> bool:
    """Whether the model has what the analysis needs."""
    try:
        check_model(request)
    except ModelError:
        return False
    return True


class LastModel:
    """Loads models and keeps the last one: another pass of the same model does not load it again."""

    def __init__(self) -> None:
        self._last: tuple[Any, AttentionModel] | None = None

    def load(self, together: Sequence[Request], execution: Execution) -> AttentionModel:
        """The model that these requests need; the last one where it will do, and never two at once."""
        first = together[0]
        key = (first.checkpoint.fingerprint(), execution.device, first.settings.dtype)
        if self._last and self._last[0] == key and (self._last[1].masked_lm or not needs_masked_lm(together)):
            return self._last[1]
        self._last = None
        gc.collect()  # modules refer to one another in circles
        model = load_model(together, execution)
        self._last = key, model
        return model


def compute_pass(
    together: Sequence[Request],
    store: Store | None,
    execution: Execution,
    progress: Progress,
    model: AttentionModel | None,
    load: Load | None = None,
    workers: Cluster | None = None,
) -> list[Result]:
    """The results of requests that share one pass, all stored when all are done."""
    first = together[0]
    first.settings.check(first.checkpoint.max_length)
    for request in together:
        check_model(request)
    if workers is not None and ANALYSES[first.analysis].chunked:
        described = workers.load(together, needs_masked_lm(together), progress)
        return _pass(together, described, store, execution, progress, workers.run)
    progress.start("Loading the model")
    started = time.monotonic()
    if model is None or (needs_masked_lm(together) and model.masked_lm is None):
        model = (load or load_model)(together, execution)
    loaded = time.monotonic()
    resumed = store is not None and share_done(store, first)
    model = observing(model, first.settings.weights)
    run = partial(run_here, model=model, batch_tokens=execution.batch_tokens)
    results = _pass(together, model, store, execution, progress, run, workers)
    if store and not resumed:
        durations.remember(store, together, loaded - started, time.monotonic() - loaded)
    return results


def workers_of(execution: Execution) -> AbstractContextManager[Cluster | None]:
    """Workers, where the execution asks for them; raises SettingsError where they cannot be had."""
    if not execution.shared:
        return nullcontext()
    from bertviz_core.analyses.worker_pass import Cluster

    return Cluster(execution)


def needs_masked_lm(together: Sequence[Request]) -> bool:
    """Whether one of the requests needs the model with its masked-word head."""
    return any(ANALYSES[request.analysis].masked_lm for request in together)


def load_model(together: Sequence[Request], execution: Execution) -> AttentionModel:
    """The model that requests of one pass run on, read from its files."""
    from bertviz_core.models.loading import load

    first = together[0]
    return load(first.checkpoint, execution.device, first.settings.dtype, masked_lm=needs_masked_lm(together))


def _pass(
    together: Sequence[Request],
    model: AttentionModel,
    store: Store | None,
    execution: Execution,
    progress: Progress,
    run: Callable[[ChunkPass, Examples[Any], Progress], None],
    workers: Cluster | None = None,
) -> list[Result]:
    """Every result of the requests, from one reading of the corpus and one pass of the model, all stored.

    Args:
        together: The requests.
        model: What they run on, or what is known of it where workers have it.
        store: Where results are kept.
        execution: How the pass runs.
        progress: Counts examples.
        run: Computes the chunks that are missing.
        workers: Compute the parts of stages, where the analysis has stages in place of chunks.
    """
    first = together[0]
    definition = ANALYSES[first.analysis]
    examples = examples_class(definition.corpus)(first.source, model.tokens, first.settings)
    progress.start("Reading the corpus", unit=examples.unit)
    index = index_of(first, examples, store, progress.advance)
    device = f"{model.device}, batches of {execution.batch_tokens or model.batch_tokens} tokens"
    summing = model if model.encoder is not None else replace(model, device="cpu")
    chunks = ChunkPass(together, index, summing, store if definition.chunked else None, device)
    stages = [KeptStages(request, store, device, execution.batch_tokens, workers) for request in together]
    progress.start("Running the model", index.counts[examples.unit], examples.unit, before=chunks.done)
    if definition.chunked:
        try:
            run(chunks, examples, progress)
        except BaseException:
            chunks.save()
            raise
    else:
        _run_whole(together, chunks, examples, model, execution, progress, stages)
        _keep_details(first, chunks, store)
    progress.start("Writing the results")
    results = [
        ANALYSES[request.analysis].finish(each.total, examples, provenance_of(request, model, index))
        for request, each in zip(together, chunks.sums, strict=True)
    ]
    for request, result in zip(together, results, strict=True):
        if store:
            store.put(request.key(), result.to_bytes())
    chunks.drop()
    for stage in stages:
        stage.drop()
    return results


def _run_whole(
    together: Sequence[Request],
    chunks: ChunkPass,
    examples: Examples[Any],
    model: AttentionModel,
    execution: Execution,
    progress: Progress,
    stages: Sequence[KeptStages],
) -> None:
    """An analysis that is not computed in chunks: in stages, or from the first example to the last."""
    measure, totals = ANALYSES[together[0].analysis].measure, [each.total for each in chunks.sums]
    if hasattr(measure, "run_stages"):
        for total, stage in zip(totals, stages, strict=True):
            measure.run_stages(examples, total, progress, stage)
    else:
        measure.run(model, examples, totals, progress, execution.batch_tokens)


def _keep_details(request: Request, chunks: ChunkPass, store: Store | None) -> None:
    """What the analysis has to be kept beside the result, where it has anything."""
    measure = ANALYSES[request.analysis].measure
    if hasattr(measure, "take_details"):
        parts = list(measure.take_details(chunks.sums[0].total))
        for number, detail in enumerate(parts):
            details.keep(store, request.key(), number, len(parts), detail)
