"""A request says which analysis of which corpus on which model; its key finds the result, or a job computes it."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from bertviz_core import __version__
from bertviz_core.analyses import ANALYSES, examples_class
from bertviz_core.analyses.results import Result
from bertviz_core.corpora.source import Source
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import InputError, StoreError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import Execution, Settings

if TYPE_CHECKING:
    from bertviz_core.models.loading import AttentionModel

DEFAULT_EXECUTION = Execution()
FORMAT = 1  # raise it when a stored result would mean something else
CITATION = (
    "Clark, Khandelwal, Levy, Manning (2019). What Does BERT Look At? An Analysis of BERT's Attention. "
    "BlackboxNLP 2019, arXiv:1906.04341."
)


@dataclass(frozen=True)
class Request:
    """Everything that a result depends on. `options` are the analysis's own settings, `others` further files it reads,
    by what they are to it."""

    analysis: str
    checkpoint: Checkpoint
    source: Source
    settings: Settings = field(default_factory=Settings)
    options: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Source] = field(default_factory=dict)

    def key(self) -> str:
        """Equal requests have equal keys, on any machine: no name, path, device or version of a library is in it."""
        parts = {
            "format": FORMAT,
            "analysis": self.analysis,
            "model": self.checkpoint.fingerprint(),
            "corpus": self.source.digest,
            "settings": asdict(self.settings),
            "options": self.options,
        }
        if self.others:
            parts["others"] = {role: source.digest for role, source in self.others.items()}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def for_analysis(self, analysis: str) -> Request:
        """The same model, corpus and settings under another analysis, which has options and files of its own."""
        if analysis == self.analysis:
            return self
        return Request(analysis, self.checkpoint, self.source, self.settings)


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

    Raises BertvizError for bad input, settings and models, Cancelled when progress says so. Nothing is stored
    before everything is done.
    """
    progress = progress or Progress()
    request.settings.check(request.checkpoint)
    progress.start("Loading the model")
    if model is None or (ANALYSES[request.analysis].masked_lm and model.masked_lm is None):
        model = _load(request, execution)
    results = _pass(request, model, execution, progress)
    for name, result in results.items():
        if store:
            store.put(request.for_analysis(name).key(), result.to_bytes())
    return results[request.analysis]


def _load(request: Request, execution: Execution) -> AttentionModel:
    from bertviz_core.models.loading import load

    head = ANALYSES[request.analysis].masked_lm
    return load(request.checkpoint, execution.device, request.settings.dtype, masked_lm=head)


def _pass(request: Request, model: AttentionModel, execution: Execution, progress: Progress) -> dict[str, Result]:
    """Every analysis that belongs to the request, from one reading of the corpus and one pass of the model."""
    from bertviz_core.engine import stream

    asked = ANALYSES[request.analysis]
    together = asked.together()
    examples = examples_class(asked.corpus)(request.source, model.tokens, request.settings)
    progress.start("Reading the corpus", unit=examples.unit)
    counts = _count(examples, progress)
    accumulators = [analysis.module.accumulator(model, request.for_analysis(analysis.name)) for analysis in together]
    progress.start("Running the model", counts[examples.unit], examples.unit)
    run = getattr(asked.module, "run", stream.run)
    run(model, examples, accumulators, progress, execution.batch_tokens)
    progress.start("Writing the results")
    results = {}
    for analysis, accumulator in zip(together, accumulators, strict=True):
        provenance = _provenance(request.for_analysis(analysis.name), model, examples, counts)
        results[analysis.name] = analysis.module.finish(accumulator, examples, provenance)
    return results


def _count(examples: Any, progress: Progress) -> dict[str, int]:
    """Read the corpus once ahead of the pass: so progress has an end, and a bad last line is known early."""
    total, tokens = 0, 0
    for example in examples:
        progress.advance(1)
        total, tokens = total + 1, tokens + len(example)
    if not total:
        raise InputError(
            f"Nothing is left to analyse: all {examples.unit} were left out.",
            where=examples.source.name,
            hint="; ".join(f"{reason}: {entry['count']}" for reason, entry in examples.left_out.reasons.items()),
        )
    return {examples.unit: total, "tokens": tokens}


def _provenance(request: Request, model: AttentionModel, examples: Any, counts: dict[str, int]) -> dict[str, Any]:
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
        **examples.counts(),
        **counts,
        "left_out": examples.left_out.to_json(),
        "settings": asdict(request.settings),
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
