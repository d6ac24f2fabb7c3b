"""One pass of a model over a corpus: every result of the requests that share it."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses import runtime_estimate
from bertviz_core.analyses.chunks import ChunkedPass, share_done
from bertviz_core.analyses.local_runner import LocalRunner
from bertviz_core.analyses.part_cache import WholePass
from bertviz_core.analyses.registry import ANALYSES, examples_class
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import ModelError
from bertviz_core.models.masking import check_masked_head
from bertviz_core.models.model import check_norms
from bertviz_core.models.reading import CorpusReading, Reading
from bertviz_core.paper import CITATION
from bertviz_core.settings import Execution
from bertviz_core.version import __version__

if TYPE_CHECKING:
    from bertviz_core.analyses.local_runner import Load
    from bertviz_core.models.model import AttentionModel


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
    first = together[0]
    first.settings.check(first.checkpoint.max_length)
    for request in together:
        check_model(request)
    started = time.monotonic()
    model = runner.start(together, progress)
    loaded = time.monotonic()
    resumed = store is not None and share_done(store, first)
    results = _results(together, model, store, runner, progress)
    if store and not resumed and model.encoder is not None:
        runtime_estimate.remember(store, together, loaded - started, time.monotonic() - loaded)
    return results


def _results(
    together: Sequence[Request], model: AttentionModel, store: Store | None, runner: LocalRunner, progress: Progress
) -> list[Result]:
    """The results on a model, or on what is known of it where workers have it."""
    first = together[0]
    definition = ANALYSES[first.analysis]
    examples = examples_class(definition.corpus)(first.source, model.tokens, first.settings)
    corpus = CorpusReading(examples)
    rounding = f"{model.device}, batches of {runner.execution.batch_tokens or model.batch_tokens} tokens"
    progress.start("Reading the corpus", unit=examples.unit)
    summing = ChunkedPass if definition.chunked else WholePass
    summed = summing(together, corpus, model, store, rounding)
    summed.run(runner, progress)
    progress.start("Writing the results")
    provenance = [_provenance(request, model, corpus.reading) for request in together]
    results = [
        ANALYSES[request.analysis].finish(total, examples, origin)
        for request, total, origin in zip(together, summed.totals, provenance, strict=True)
    ]
    for request, result in zip(together, results, strict=True):
        if store:
            store.put(request.key(), result.to_bytes())
    summed.finish()
    return results


def _provenance(request: Request, model: AttentionModel, reading: Reading) -> dict[str, Any]:
    """What a result was computed from and with."""
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
