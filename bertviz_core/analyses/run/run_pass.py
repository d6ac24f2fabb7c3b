"""One pass of a model over a corpus: the model, its chunks in this process, and every result that shares the pass."""

import gc
import platform
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from typing import Any

from bertviz_core.analyses.base.corpus_run import CorpusRun
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request, key_version
from bertviz_core.analyses.base.result import Provenance, Result
from bertviz_core.analyses.base.view import View
from bertviz_core.analyses.run import runtime_estimate
from bertviz_core.analyses.run.chunks import ChunkedPass, Chunks, Parts, compute_chunk, share_done
from bertviz_core.analyses.run.corpus_kinds import EXAMPLES
from bertviz_core.analyses.run.reading import read
from bertviz_core.engine.forward_pass import Accumulator
from bertviz_core.engine.progress import LOADING, Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoded_corpus import CorpusReading, Reading, cut
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.models import loading
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import (
    AttentionModel,
    check_norms,
    require_lm_head,
    require_next_words,
    with_weights,
)
from bertviz_core.models.surroundings import in_standard_arithmetic
from bertviz_core.paper import CITATION
from bertviz_core.settings import Execution
from bertviz_core.version import __version__

_NOT_STORED = "The model in memory has code that cannot be known ({}), so no result of it is stored, or read."
_version = cache(version)  # A package's is read from its files, and a result has several.
PART_TOKENS = 8_192  # tokens of a part, as CHUNK_TOKENS of a chunk: maps are large, so parts are small


def check_model(request: Request) -> None:
    """Raises ModelError, without importing torch, where the model lacks a head that the analysis needs, or norms, or is
    of a family of which it cannot be computed."""
    ANALYSES[request.analysis].check_model(request.checkpoint)
    check_norms(request.checkpoint, request.settings.weights)
    if needs_language_model([request]):
        require_lm_head(request.checkpoint)
    if ANALYSES[request.analysis].reads_residual:
        require_next_words(request.checkpoint)


def check_head(view: View[Any], checkpoint: Checkpoint) -> None:
    """Raises SettingsError where the head that is to be reported is none of the model's."""
    if head := view.head_of():
        head.check(checkpoint.layers, checkpoint.heads)


def can_compute(request: Request) -> bool:
    """Whether the model has what the analysis needs, see `check_model`."""
    with suppress(ModelError):
        check_model(request)
        return True
    return False


@in_standard_arithmetic
def compute_pass(
    together: list[Request], store: Store | None, runner: "LocalRunner", progress: Progress
) -> list[Result]:
    """Compute the results of requests that share one pass, from one reading of the corpus.

    Args:
        store: Where the results are stored, when all are done; None to store nothing.
        runner: Computes the chunks.
        progress: How far the pass is; raises Cancelled.

    Returns:
        A result for each request.

    Raises:
        BertvizError: The model, the corpus or the settings do not allow it, or the store cannot be used.
    """
    started = time.monotonic()
    first = together[0]
    analysis = ANALYSES[first.analysis]
    model = _start(together, runner, progress)
    loaded = time.monotonic()
    resumed = store is not None and share_done(store, first)
    corpus = CorpusReading(EXAMPLES[analysis.corpus](first.source, model.tokens, first.settings))
    progress.start("Reading the corpus", unit="tokens")
    chunked = None
    totals: Sequence[Accumulator | CorpusRun]
    if analysis.chunked:
        rounding = f"{model.device}, batches of {runner.execution.batch_tokens or model.batch_tokens} tokens"
        chunked = ChunkedPass(together, corpus, model, store, rounding)
        try:
            for number, parts in runner.map(together, chunked.missing(progress), progress):
                chunked.take(number, parts)
                del parts  # The next chunk takes their memory.
        except BaseException:
            chunked.save()
            if store and not resumed and (share := chunked.share_done):
                runtime_estimate.record(store, together, loaded - started, (time.monotonic() - loaded) / share)
            raise
        totals = chunked.totals
    else:
        totals = [_run_whole(first, corpus, model, store, runner, progress)]
    progress.start("Writing the results")
    results = _finish(together, totals, corpus, model, store)
    if chunked:
        chunked.finish()
    if store and not resumed and model.encoder is not None:
        runtime_estimate.record(store, together, loaded - started, time.monotonic() - loaded)
    return results


def _start(together: list[Request], runner: "LocalRunner", progress: Progress) -> AttentionModel:
    """The model of the requests, loaded and checked; without weights where workers have loaded it."""
    settings = together[0].settings
    settings.check(together[0].checkpoint.max_length)
    for request in together:
        check_model(request)
    model = runner.start(together, progress)
    settings.check(model.checkpoint.max_length)  # The loaded model's embeddings say how long inputs may be.
    return model


def _finish(
    together: list[Request],
    totals: Sequence[Accumulator | CorpusRun],
    corpus: CorpusReading,
    model: AttentionModel,
    store: Store | None,
) -> list[Result]:
    """The results of requests whose sums are complete; they are stored when all of them are there."""
    corpus.reading.skipped.merge(totals[0].skipped)
    results = [
        ANALYSES[request.analysis].finish(total, corpus.examples, _provenance(request, model, corpus.reading))
        for request, total in zip(together, totals, strict=True)
    ]
    if store:
        for request, result in zip(together, results, strict=True):
            store.put(request.key(), result.to_bytes())
    return results


def _run_whole(
    request: Request,
    corpus: CorpusReading,
    model: AttentionModel,
    store: Store | None,
    runner: "LocalRunner",
    progress: Progress,
) -> CorpusRun:
    """The finished run of an analysis that is no sum over chunks, which gets all inputs."""
    analysis = ANALYSES[request.analysis]
    inputs = []
    for example in corpus:
        inputs.append(example)
        progress.advance(len(example))
    progress.start("Running the model", sum(map(len, inputs)), "tokens")

    def run_stage(options: dict[str, Any], examples: Sequence[Encoded], take: Callable[..., None], stage: str) -> None:
        """One pass over examples for the accumulator and model that these options ask for; `take` gets each sum."""
        staged = replace(request, options=options)
        progress.start(stage, sum(map(len, examples)), "tokens")
        empty = analysis.accumulator(model, staged)
        for _, (part,) in runner.map([staged], enumerate(cut(examples, PART_TOKENS)), progress):
            take(empty.from_bytes(part) if isinstance(part, bytes) else part)

    def find(other: Request) -> Result | None:
        return read(store, other.key(), other.analysis) if store else None

    run = analysis.corpus_run(model, request, find)
    run.run(inputs, run_stage, progress, runner.execution.batch_tokens)
    return run


def _provenance(request: Request, model: AttentionModel, reading: Reading) -> Provenance:
    checkpoint = request.checkpoint
    others = {role: {"name": source.name, "digest": source.digest} for role, source in request.others.items()}
    return {
        "analysis": request.analysis,
        "key_version": key_version(request.analysis, one_text=checkpoint.reads_one_text),
        "model": {
            **checkpoint.names,
            "fingerprint": checkpoint.fingerprint(),
            "layers": model.layers,
            "heads": model.heads,
            "parameters": checkpoint.parameters(),
            "causal": model.causal,
            "capture": "inside the layer" if model.observable else "returned maps",
        },
        "corpus": {"name": request.source.name, "digest": request.source.digest, "bytes": request.source.size},
        **({"notices": list(model.notices)} if model.notices else {}),
        **reading.counts,
        "skipped": reading.skipped.to_json(),
        "settings": request.settings.to_json(),
        "options": request.options,
        **({"others": others} if others else {}),
        **({"notices": [_NOT_STORED.format(checkpoint.unknown_code)]} if checkpoint.unknown_code else {}),
        "device": model.device,
        "versions": {"bertviz_core": __version__, "python": platform.python_version()}
        | {name: _version(name) for name in ("torch", "transformers", "numpy")},
        "citation": CITATION,
    }


Load = Callable[[Sequence[Request], Execution], AttentionModel]


def needs_language_model(together: Sequence[Request]) -> bool:
    """Whether one of the requests needs the head that predicts words."""
    return any(ANALYSES[request.analysis].reads_predictions(request.checkpoint) for request in together)


def as_observed(model: AttentionModel, together: Sequence[Request]) -> AttentionModel:
    """A model as the requests of a pass observe it: through attention weights or norms, and with its residual stream
    where one reads it. Raises ModelError where it cannot be observed so."""
    model = with_weights(model, together[0].settings.weights)
    if not any(ANALYSES[request.analysis].reads_residual for request in together):
        return model
    from bertviz_core.models.residual_modules import with_residual

    return with_residual(model)


def last_model_loader() -> Load:
    """A function that loads the model of requests from its files, and keeps it until it is asked for another one."""
    last: dict[Hashable, AttentionModel] = {}  # This has at most one model.

    def load(together: Sequence[Request], execution: Execution) -> AttentionModel:
        model = together[0].checkpoint
        dtype = together[0].settings.dtype
        with_head = needs_language_model(together)
        key = (model.fingerprint(), execution.device, dtype, execution.offload)
        if key not in last or (with_head and not last[key].language_model):
            if last:
                last.clear()
                gc.collect()  # Modules refer to one another in circles, so only a collection frees them.
            last[key] = loading.load(
                model, execution.device, dtype, language_model=with_head, offload=execution.offload
            )
        return last[key]

    return load


class LocalRunner(ExitStack):
    """Computes one pass after another in this process; without `load` it keeps the last model.

    Attributes:
        execution: How it is computed.
    """

    def __init__(self, execution: Execution, load: Load | None = None) -> None:
        super().__init__()
        self.execution = execution
        self._load = load or last_model_loader()

    def start(self, together: Sequence[Request], progress: Progress) -> AttentionModel:
        """Load the model of a pass; it takes the place of the last one."""
        progress.start(LOADING)
        vars(self).pop("model", None)  # The memory never has two models at once.
        self.model = as_observed(self._load(together, self.execution), together)
        return self.model

    def map(self, requests: Sequence[Request], chunks: Chunks, progress: Progress) -> Parts:
        """The sums of each chunk, computed when they are asked for."""
        model = ANALYSES[requests[0].analysis].model_of(self.model, requests[0])
        batch_tokens = self.execution.batch_tokens
        compute = partial(compute_chunk, model=model, requests=requests, progress=progress, batch_tokens=batch_tokens)
        return map(compute, chunks)
