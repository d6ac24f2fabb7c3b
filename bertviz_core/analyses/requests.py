"""A request says which analysis of which corpus on which model; its key finds the result, or a job computes it."""

from __future__ import annotations

import gc
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses import details, durations
from bertviz_core.analyses.chunks import ChunkPass, index_of, run_here, share_done
from bertviz_core.analyses.registry import ANALYSES, examples_class, shared_pass
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result
from bertviz_core.analyses.stages import KeptStages
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import BertvizError, Cancelled, ModelError, StoreError
from bertviz_core.models.masked_head import check_masked_head
from bertviz_core.models.norms import check_norms, observing
from bertviz_core.settings import Execution
from bertviz_core.version import __version__

if TYPE_CHECKING:
    from bertviz_core.analyses.cluster import Cluster
    from bertviz_core.models.model import AttentionModel
    from bertviz_core.models.reading import Examples, Index

    Load = Callable[[Sequence["Request"], Execution], AttentionModel]

DEFAULT_EXECUTION = Execution()
CITATION = (
    "Clark, Khandelwal, Levy, Manning (2019). What Does BERT Look At? An Analysis of BERT's Attention. "
    "BlackboxNLP 2019, arXiv:1906.04341."
)


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


def find(store: Store | None, request: Request) -> Any | None:
    """The stored result, or None; an entry that cannot be read counts as none and will be computed anew."""
    try:
        data = store.get(request.key()) if store else None
        return ANALYSES[request.analysis].result_class.from_bytes(data) if data else None
    except (ValueError, KeyError, TypeError, StoreError):
        return None


def compute(
    request: Request,
    store: Store | None,
    execution: Execution = DEFAULT_EXECUTION,
    progress: Progress | None = None,
    model: AttentionModel | None = None,
) -> Any:
    """Compute the request's analysis, and with it the others that the same forward pass feeds; store and return.

    Raises BertvizError for bad input, settings and models, Cancelled when progress says so. What was summed until then
    is kept, and a later call goes on from there.
    """
    wanted = shared(request)
    pinned = store.pinned(other.key() for other in wanted) if store else nullcontext()
    with pinned, workers_of(execution if model is None else DEFAULT_EXECUTION) as workers:
        results = _compute_pass(wanted, store, execution, progress or Progress(), model, workers=workers)
    return results[wanted.index(request)]


def shared(request: Request) -> list[Request]:
    """The request and those that are always computed with it."""
    return [request.for_analysis(analysis.name) for analysis in shared_pass(ANALYSES[request.analysis])]


def passes(requests: Iterable[Request]) -> list[list[Request]]:
    """The requests in as few passes of the model as they can share: what reads one corpus with the same settings
    through a plain forward pass goes together."""
    groups: dict[Any, list[Request]] = {}
    for request in requests:
        analysis = ANALYSES[request.analysis]
        alone = request.analysis if not analysis.chunked or hasattr(analysis.measure, "run") else ""
        shared = (request.checkpoint.fingerprint(), analysis.corpus, request.source.digest, request.settings, alone)
        groups.setdefault(shared, []).append(request)
    return list(groups.values())


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


def compute_all(
    requests: Iterable[Request],
    store: Store,
    execution: Execution = DEFAULT_EXECUTION,
    progress: Progress | None = None,
    load: Load | None = None,
) -> None:
    """Compute and store whatever of the requests is not stored yet, in as few passes as can be.

    Results are stored when their pass ends, what it has summed while it runs. A pass that fails does not stop the
    others, but for those of other models that would fail the same way.

    Args:
        requests: Of one model after another.
        store: Where results are kept.
        execution: How passes run.
        progress: Counts passes, and where it is in each.
        load: How a model is loaded; the last one is kept where this is not given.

    Raises:
        BertvizError: The first one, when all passes have been tried; a ModelError only where there is no other.
        Cancelled: At once.
    """
    failures = [error for _, error in try_all(requests, store, execution, progress, load)]
    if failures:
        raise min(failures, key=lambda error: isinstance(error, ModelError))


def try_all(
    requests: Iterable[Request],
    store: Store,
    execution: Execution = DEFAULT_EXECUTION,
    progress: Progress | None = None,
    load: Load | None = None,
) -> list[tuple[list[Request], BertvizError]]:
    """The same, except that a pass that fails does not stop the others.

    Returns:
        (requests, error) of each pass that failed.
    """
    progress, load, failures = progress or Progress(), load or LastModel().load, dict[Any, Any]()
    requests = list(requests)
    with store.pinned(request.key() for request in requests), workers_of(execution) as workers:
        groups = passes(request for request in requests if find(store, request) is None)
        for number, together in enumerate(groups, 1):
            same = (together[0].source.digest, *(request.analysis for request in together))
            if same in failures and not isinstance(failures[same][1], ModelError):
                continue  # the corpus or the settings fail for every model
            progress.start_pass(number, len(groups), Path(together[0].checkpoint.name).name)
            try:
                _compute_pass(together, store, execution, progress, None, load, workers)
            except (Cancelled, StoreError):
                raise
            except BertvizError as error:
                failures.setdefault(same, (together, error.with_traceback(None)))  # whose frames would keep the model
    return list(failures.values())


def _compute_pass(
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
    from bertviz_core.analyses.cluster import Cluster

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
    asked = ANALYSES[first.analysis]
    examples = examples_class(asked.corpus)(first.source, model.tokens, first.settings)
    progress.start("Reading the corpus", unit=examples.unit)
    index = index_of(first, examples, store, progress.advance)
    device = f"{model.device}, batches of {execution.batch_tokens or model.batch_tokens} tokens"
    summing = model if model.encoder is not None else replace(model, device="cpu")
    chunks = ChunkPass(together, index, summing, store if asked.chunked else None, device)
    stages = [KeptStages(request, store, device, execution.batch_tokens, workers) for request in together]
    total = index.counts[examples.unit]
    progress.start("Running the model", total, examples.unit, before=chunks.done)
    if asked.chunked:
        try:
            run(chunks, examples, progress)
        except BaseException:
            chunks.save()
            raise
    elif hasattr(asked.measure, "run_stages"):
        for each, stage in zip(chunks.sums, stages, strict=True):
            asked.measure.run_stages(examples, each.total, progress, stage)
    else:
        asked.measure.run(model, examples, [each.total for each in chunks.sums], progress, execution.batch_tokens)
    if not asked.chunked and hasattr(asked.measure, "take_details"):
        parts = list(asked.measure.take_details(chunks.sums[0].total))
        for number, detail in enumerate(parts):
            details.keep(store, first.key(), number, len(parts), detail)
    progress.start("Writing the results")
    results = [
        ANALYSES[request.analysis].finish(each.total, examples, _provenance(request, model, index))
        for request, each in zip(together, chunks.sums, strict=True)
    ]
    for request, result in zip(together, results, strict=True):
        if store:
            store.put(request.key(), result.to_bytes())
    chunks.drop()
    for stage in stages:
        stage.drop()
    return results


def _provenance(request: Request, model: AttentionModel, index: Index) -> dict[str, Any]:
    import numpy
    import torch
    import transformers

    checkpoint, others = request.checkpoint, request.others
    return {
        "analysis": request.analysis,
        "model": {
            "name": checkpoint.name,
            "revision": checkpoint.revision,
            "fingerprint": checkpoint.fingerprint(),
            "layers": model.layers,
            "heads": model.heads,
            "parameters": checkpoint.parameters(),
            "causal": model.causal,
            "capture": "inside the layer" if model.observable else "returned maps",
        },
        "corpus": {
            "name": request.source.name,
            "digest": request.source.digest,
            "bytes": request.source.size,
        },
        **index.counts,
        "skipped": index.skipped.to_json(),
        "settings": request.settings.to_json(),
        "options": request.options,
        **({"others": {r: {"name": s.name, "digest": s.digest} for r, s in others.items()}} if others else {}),
        "device": model.device,
        "versions": {
            "bertviz_core": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "numpy": numpy.__version__,
        },
        "citation": CITATION,
    }
