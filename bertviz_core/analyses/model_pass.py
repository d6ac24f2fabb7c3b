"""One pass of a model over a corpus: every result of the requests that share it."""

import platform
import time
from collections.abc import Sequence
from typing import Any

import numpy

from bertviz_core.analyses import runtime_estimate
from bertviz_core.analyses.chunks import ChunkedPass, share_done
from bertviz_core.analyses.local_runner import Load, LocalRunner
from bertviz_core.analyses.part_cache import WholePass
from bertviz_core.analyses.registry import ANALYSES, examples_class
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import ModelError
from bertviz_core.models.masking import check_head
from bertviz_core.models.model import AttentionModel, check_norms
from bertviz_core.models.reading import CorpusReading, Examples, Reading
from bertviz_core.paper import CITATION
from bertviz_core.settings import Execution
from bertviz_core.version import __version__


def check_model(request: Request) -> None:
    """Raises ModelError, without importing torch, where the model lacks a head that the analysis needs, or norms."""
    check_norms(request.checkpoint, request.settings.weights)
    if ANALYSES[request.analysis].language_model:
        check_head(request.checkpoint)


def can_compute(request: Request) -> bool:
    """Whether the model has what the analysis needs."""
    try:
        check_model(request)
    except ModelError:
        return False
    return True


def runner_of(execution: Execution, load: Load | None = None) -> LocalRunner:
    """What computes passes, as the execution says; raises SettingsError where workers cannot be had."""
    if not execution.shared:
        return LocalRunner(execution, load)
    from bertviz_core.analyses.ray_runner import RayRunner

    return RayRunner(execution, load)


def compute_pass(
    together: Sequence[Request], store: Store | None, runner: LocalRunner, progress: Progress
) -> list[Result]:
    """The results of requests that share one pass, from one reading of the corpus; all stored when all are done."""
    started = time.monotonic()
    model = _begin(together, runner, progress)
    loaded = time.monotonic()
    resumed = store is not None and share_done(store, together[0])
    summed, examples = _sums(together, model, store, runner)
    progress.start("Reading the corpus", unit=examples.unit)
    try:
        for number, parts in summed.parts(runner, progress):
            summed.take(number, parts)
    except BaseException:
        summed.save()
        raise
    progress.start("Writing the results")
    results = [
        ANALYSES[request.analysis].finish(total, examples, _provenance(request, model, summed.corpus.reading))
        for request, total in zip(together, summed.totals, strict=True)
    ]
    for request, result in zip(together, results, strict=True):
        if store:
            store.put(request.key(), result.to_bytes())
    summed.finish()
    if store and not resumed and model.encoder is not None:
        runtime_estimate.record(store, together, loaded - started, time.monotonic() - loaded)
    return results


def _begin(together: Sequence[Request], runner: LocalRunner, progress: Progress) -> AttentionModel:
    """The model, or what is known of it where workers have it."""
    first = together[0]
    first.settings.check(first.checkpoint.max_length)
    for request in together:
        check_model(request)
    return runner.start(together, progress)


def _sums(
    together: Sequence[Request], model: AttentionModel, store: Store | None, runner: LocalRunner
) -> tuple[ChunkedPass | WholePass, Examples[Any]]:
    """The sums of the pass, or what an earlier job has stored of them, and the corpus."""
    first, definition = together[0], ANALYSES[together[0].analysis]
    examples = examples_class(definition.corpus)(first.source, model.tokens, first.settings)
    rounding = f"{model.device}, batches of {runner.execution.batch_tokens or model.batch_tokens} tokens"
    summing = ChunkedPass if definition.chunked else WholePass
    return summing(together, CorpusReading(examples), model, store, rounding), examples


def _provenance(request: Request, model: AttentionModel, reading: Reading) -> dict[str, Any]:
    """What a result was computed from and with."""
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
        **reading.counts,
        "skipped": reading.skipped.to_json(),
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
