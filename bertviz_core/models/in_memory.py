"""A model in any of the forms that the library takes: a name, a folder, or a pair (model, tokenizer) in memory, which
is fingerprinted by its weights, and left as it is."""

import hashlib
import json
import sys
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from bertviz_core.errors import ModelError, SettingsError
from bertviz_core.models import checkpoint as checkpoints
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.loading import LoadedModels, choose_device, prepare
from bertviz_core.models.model import MASKED_WORDS, NEXT_WORDS, AttentionModel
from bertviz_core.models.tokens import Tokens

Model = str | Path | tuple[Any, Any]  # the last one: (model, tokenizer)
# Of a configuration: what says nothing of the numbers that a model computes.
VOLATILE = ("_name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures", "output_attentions")


def checkpoint_of(model: Model) -> Checkpoint:
    """The checkpoint of a model; a hub model that is not here is downloaded, its size printed first. Raises ModelError
    for one that cannot be used."""
    if isinstance(model, str | Path):
        return checkpoints.find_or_download(str(model), None, partial(print, file=sys.stderr))
    from transformers import PreTrainedModel

    if not isinstance(model, tuple | list) or len(model) != 2:
        what = f"An object of type {type(model).__name__} is not a model."
        raise ModelError(what, hint="Give `demo`, a folder, a hub name, or (model, tokenizer).")
    is_model, is_tokenizer = isinstance(model[0], PreTrainedModel), hasattr(model[1], "get_vocab")
    if not (is_model and is_tokenizer):
        wrong, kind = (model[1], "tokenizer") if is_model else (model[0], "transformers model")
        what = f"An object of type {type(wrong).__name__} is not a {kind}."
        raise ModelError(what, hint="Give (model, tokenizer), both objects of transformers.")
    return describe(*model)


def loaded_model(model: Model, checkpoint: Checkpoint, device: str, dtype: str) -> AttentionModel:
    """The model; one from files stays loaded for the next call."""
    if isinstance(model, str | Path):
        return _models(device).get(checkpoint, dtype)
    return model_in_memory(model, checkpoint, device, dtype)


_models = cache(lambda device: LoadedModels(device=device))


def describe(model: Any, tokenizer: Any) -> Checkpoint:
    """Describe a transformers model and its tokenizer as they are now; every weight is read once."""
    import torch

    config = model.config.to_dict() | {"architectures": [type(model).__name__]}
    stable = {name: value for name, value in config.items() if name not in VOLATILE and "attn_impl" not in name}
    total = hashlib.sha256()
    for described in (stable, _tokenizer(tokenizer)):
        total.update(json.dumps(described, sort_keys=True, default=str).encode())
    arrays, storages = {}, set()
    for name, tensor in sorted(model.state_dict().items()):
        storage = (tensor.data_ptr(), tuple(tensor.shape))
        if storage not in storages:
            storages.add(storage)
            arrays[name] = list(tensor.shape)
            total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
            total.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return Checkpoint(f"{type(model).__name__} in memory", Path(), None, config, total.hexdigest(), arrays)


def _tokenizer(tokenizer: Any) -> Any:
    """All that decides how a text is cut, but for padding and truncation, which are those of the last call."""
    special = {name: str(token) for name, token in tokenizer.special_tokens_map.items()}
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return [type(tokenizer).__name__, tokenizer.get_vocab(), special]
    whole = json.loads(backend.to_str())
    return [{name: value for name, value in whole.items() if name not in ("padding", "truncation")}, special]


def model_in_memory(
    pair: Model, checkpoint: Checkpoint, device: str = "auto", dtype: str = "float32"
) -> AttentionModel:
    """A model in memory for the analyses: a copy of its modules that shares its weights, so that it stays as it is;
    another dtype, or another device than where it is ("auto"), takes a copy of them. `checkpoint` is what
    `checkpoint_of` gave. Raises ModelError where it has no attention maps, or the tokenizer is of another model."""
    import torch

    model, tokenizer = cast(tuple[Any, Any], pair)
    predicts = type(model).__name__.endswith((MASKED_WORDS[0], *NEXT_WORDS))
    device = str(next(model.parameters()).device) if device == "auto" else choose_device(device)
    if device == "meta":
        raise SettingsError("The model's weights are on the device `meta`.", hint="Load them first.")
    shared = {id(each): torch.nn.Parameter(each.data, requires_grad=False) for each in model.parameters()}
    copied = deepcopy(model, shared).to(device=device, dtype=getattr(torch, dtype))
    return prepare(copied if predicts else copied.base_model, Tokens(tokenizer), checkpoint, device, predicts=predicts)
