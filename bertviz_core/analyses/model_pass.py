"""One pass of a model over a corpus: every result of the requests that share it."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses import details, durations
from bertviz_core.analyses.chunks import ChunkPass, index_of, share_done
from bertviz_core.analyses.kept_stages import KeptStages
from bertviz_core.analyses.local_run import LocalRun
from bertviz_core.analyses.registry import ANALYSES, examples_class
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import ModelError
from bertviz_core.models.masking import check_masked_head
from bertviz_core.models.model import check_norms
from bertviz_core.paper import CITATION
from bertviz_core.settings import Execution
from bertviz_core.version import __version__

if TYPE_CHECKING:
    from bertviz_core.analyses.local_run import Load
    from bertviz_core.models.model import AttentionModel
    from bertviz_core.models.reading import Examples, Index


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


def runner_of(execution: Execution, load: Load | None = None) -> LocalRun:
    """What computes passes, as the execution says; raises SettingsError where workers cannot be had."""
    if not execution.shared:
        return LocalRun(execution, load)
    from bertviz_core.analyses.worker_pass import Cluster

    return Cluster(execution, load)


def compute_pass(
    together: Sequence[Request], store: Store | None, runner: LocalRun, progress: Progress
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
        durations.remember(store, together, loaded - started, time.monotonic() - loaded)
    return results


def _results(
    together: Sequence[Request], model: AttentionModel, store: Store | None, runner: LocalRun, progress: Progress
) -> list[Result]:
    """The results on a model, or on what is known of it where workers have it."""
    first = together[0]
    definition = ANALYSES[first.analysis]
    examples = examples_class(definition.corpus)(first.source, model.tokens, first.settings)
    progress.start("Reading the corpus", unit=examples.unit)
    index = index_of(first, examples, store, progress.advance)
    rounding = f"{model.device}, batches of {runner.execution.batch_tokens or model.batch_tokens} tokens"
    summing = model if model.encoder is not None else replace(model, device="cpu")
    chunks = ChunkPass(together, index, summing, store if definition.chunked else None, rounding)
    stages = [KeptStages(request, runner, store, rounding) for request in together]
    progress.start("Running the model", index.counts[examples.unit], examples.unit, before=chunks.done)
    if definition.chunked:
        try:
            runner.run(chunks, examples, progress)
        except BaseException:
            chunks.save()
            raise
    else:
        _run_whole(chunks, examples, model, stages, progress)
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


def _run_whole(
    chunks: ChunkPass, examples: Examples[Any], model: AttentionModel, stages: Sequence[KeptStages], progress: Progress
) -> None:
    """An analysis that is not computed in chunks: in stages, or from the first example to the last."""
    measure, totals = ANALYSES[stages[0].request.analysis].measure, [each.total for each in chunks.sums]
    batch_tokens = stages[0].runner.execution.batch_tokens
    if not hasattr(measure, "run_stages"):
        measure.run(model, examples, totals, progress, batch_tokens)
        return
    for total, stage in zip(totals, stages, strict=True):
        measure.run_stages(examples, total, progress, stage.run, batch_tokens)
        parts = list(measure.take_details(total))
        for number, detail in enumerate(parts):
            details.keep(stage.store, stage.request.key(), number, len(parts), detail)


def _provenance(request: Request, model: AttentionModel, index: Index) -> dict[str, Any]:
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
