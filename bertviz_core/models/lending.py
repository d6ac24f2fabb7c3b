"""A model in any of the forms that the library takes: a name, a folder, or a pair (model, tokenizer) in memory."""

import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any

from bertviz_core.errors import ModelError
from bertviz_core.models import checkpoint as checkpoints
from bertviz_core.models import in_memory
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.loading import LoadedModels
from bertviz_core.models.masking import no_head
from bertviz_core.models.model import AttentionModel

Model = str | Path | tuple[Any, Any]  # the last one: (model, tokenizer)


def checkpoint_of(model: Model) -> Checkpoint:
    """The checkpoint of a model; a hub model that is not here is downloaded, its size printed first. Raises ModelError
    for one that cannot be used."""
    if isinstance(model, str | Path):
        return checkpoints.find_or_download(str(model), None, partial(print, file=sys.stderr))
    return in_memory.describe(*_pair(model))


def model_in_memory(
    model: Model, checkpoint: Checkpoint, device: str, dtype: str, language_model: bool = False
) -> AbstractContextManager[AttentionModel]:
    """A model in memory for as long as the context lasts; raises ModelError where `language_model` asks for words that
    its class cannot predict."""
    inside, tokenizer = _pair(model)
    if language_model and not in_memory.predicts_words(inside):
        raise no_head(checkpoint, f"its class is {type(inside).__name__}")
    return in_memory.prepared_model(inside, tokenizer, checkpoint, device, dtype)


def loaded_model(
    model: Model, checkpoint: Checkpoint, device: str, dtype: str
) -> AbstractContextManager[AttentionModel]:
    """The model for as long as the context lasts; one from files stays loaded for the next call."""
    if isinstance(model, str | Path):
        return nullcontext(_models(device).get(checkpoint, dtype))
    return model_in_memory(model, checkpoint, device, dtype)


@cache
def _models(device: str) -> LoadedModels:
    return LoadedModels(device=device)


def _pair(model: Any) -> tuple[Any, Any]:
    """(transformers model, tokenizer)."""
    if not isinstance(model, tuple | list) or len(model) != 2:
        raise ModelError(
            f"An object of type {type(model).__name__} is not a model.",
            hint="Give `demo`, a folder, a hub name, or (model, tokenizer).",
        )
    return in_memory.transformers_model(model[0]), model[1]
