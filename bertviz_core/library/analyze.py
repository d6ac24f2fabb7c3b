"""`analyze`: one analysis of a corpus, with the numbers and the store of the command line and the app."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from bertviz_core.analyses import model_pass, requests
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.local_run import needs_masked_lm
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result
from bertviz_core.corpora.in_memory import Corpus, source_of
from bertviz_core.engine.store import Store
from bertviz_core.errors import ModelError, SettingsError
from bertviz_core.library.result import AnalysisResult
from bertviz_core.models import checkpoint as checkpoints
from bertviz_core.models import in_memory
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.masking import no_head
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Execution, Settings

Model = str | Path | tuple[Any, Any]  # the last one: (model, tokenizer)


def analyze(
    analysis: str,
    *,
    model: Model = "demo",
    corpus: Corpus | None = None,
    device: str = "auto",
    batch_tokens: int | None = None,
    store: str | Path | bool = True,
    **options: Any,
) -> AnalysisResult:
    """Run one analysis, or read its result from the store.

    Args:
        analysis: Its name: "surface_patterns", "entropy", "sep_gradients", "dependency_heads", "coreference_heads",
            "probes", "clustering", "ablation", or that of an installed package.
        model: "demo", a folder, a hub name, or a pair `(model, tokenizer)` of transformers objects in memory, which
            come back as they were.
        corpus: A file, a sample's name, a list of texts (each a document), a list of (words, governors, relations), or
            a list of dicts as a JSON corpus has them. The sample of the analysis's kind where it is None.
        device: "auto", "cpu" or "cuda". A model in memory stays where it is under "auto".
        batch_tokens: Tokens per batch; the device decides where it is None.
        store: True for the store that command and app use, a folder for another one, False for none.
        **options: `max_length`, `limit`, `seed`, `mode`, `dtype`, `weights` and the analysis's own options, as its
            command has them with hyphens.

    Raises:
        BertvizError: The model, the corpus or an option cannot be used; the message says what to do.

    Examples:
        >>> import bertviz_core as bv
        >>> result = bv.analyze("surface_patterns", corpus=["The cat sat on the mat.\\nIt was warm."], store=False)
        >>> result["previous"].shape  # (layer, head)
        (6, 12)
    """
    definition = _analysis(analysis)
    split = _split(definition, options)
    settings, own = definition.relevant(Settings(**split[Settings])), split[definition.options]
    chosen = definition.options(**{name: value for name, value in own.items() if not _is_file(definition, name)})
    view = definition.view(**split[definition.view])
    chosen.check()
    view.check()
    files = {name: value for name, value in own.items() if _is_file(definition, name) and value is not None}
    others = {name: source_of(value, definition.corpus) for name, value in files.items()}
    checkpoint = checkpoint_of(model)
    values = chosen.in_mode(settings.paper).to_json()
    request = Request(definition.name, checkpoint, source_of(corpus, definition.corpus), settings, values, others)
    opened = Store(None if store is True else Path(store)) if store else None
    result = _find_or_compute(request, model, opened, Execution(device, batch_tokens))
    return AnalysisResult(view.show(result, request, partial(requests.find, opened)))


analyse = analyze  # both spellings are public


def _find_or_compute(request: Request, model: Model, store: Store | None, execution: Execution) -> Result:
    request.settings.check(request.checkpoint.max_length)
    model_pass.check_model(request)
    result = requests.find(store, request)
    if result is not None:
        return result
    with _model(request, model, execution) as loaded:
        return requests.compute(request, store, execution, model=loaded)


def _model(request: Request, model: Model, execution: Execution) -> AbstractContextManager[Any]:
    """A model in memory is lent; a model on disk is loaded by the computation."""
    if isinstance(model, str | Path):
        return nullcontext()
    return lent(model, request.checkpoint, execution.device, request.settings.dtype, needs_masked_lm([request]))


def _analysis(name: str) -> Analysis:
    known = name.replace("-", "_")
    if known not in ANALYSES:
        raise SettingsError(f"There is no analysis {name!r}.", hint=f"Choose one of {', '.join(ANALYSES)}.")
    return ANALYSES[known]


def _split(analysis: Analysis, options: dict[str, Any]) -> dict[type, dict[str, Any]]:
    """The keywords by the class that has a field of that name."""
    classes = (Settings, analysis.options, analysis.view)
    names = {field.name: owner for owner in classes for field in fields(owner)}
    if unknown := sorted(options.keys() - names.keys()):
        raise SettingsError(f"There is no option {unknown[0]!r}.", hint=f"Choose from {', '.join(names)}.")
    return {owner: {name: value for name, value in options.items() if names[name] is owner} for owner in classes}


def _is_file(analysis: Analysis, name: str) -> bool:
    return any(field.name == name and "Path" in str(field.type) for field in fields(analysis.options))


def checkpoint_of(model: Model) -> Checkpoint:
    """What a model is known by; a hub model that is not here is fetched, its size said first. Raises ModelError for one
    that cannot be used."""
    if isinstance(model, str | Path):
        return checkpoints.find_or_download(str(model), None, partial(print, file=sys.stderr))
    return in_memory.describe(*_pair(model))


def lent(
    model: Model, checkpoint: Checkpoint, device: str, dtype: str, masked_lm: bool = False
) -> AbstractContextManager[AttentionModel]:
    """A model in memory for as long as the context lasts; raises ModelError where `masked_lm` asks for words that its
    class cannot predict."""
    inside, tokenizer = _pair(model)
    if masked_lm and not in_memory.predicts_masked_words(inside):
        raise no_head(checkpoint, f"its class is {type(inside).__name__}")
    return in_memory.borrowed(inside, tokenizer, checkpoint, device, dtype)


def _pair(model: Any) -> tuple[Any, Any]:
    """(transformers model, tokenizer)."""
    if not isinstance(model, tuple | list) or len(model) != 2:
        raise ModelError(
            f"A {type(model).__name__} is no model.",
            hint="Give `demo`, a folder, a hub name, or (model, tokenizer).",
        )
    return in_memory.transformers_model(model[0]), model[1]
