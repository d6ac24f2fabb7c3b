"""From a checkpoint to a model that can be observed; models that stay loaded for the next request."""

import threading
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

from bertviz_core.errors import ModelError, SettingsError
from bertviz_core.import_lock import IMPORTING
from bertviz_core.models.attention import register
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.masking import check_head, no_head, predicts_next_words
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.tokens import Tokens
from bertviz_core.settings import DEVICES

ROOM = 4 * 10**9  # bytes of weights: nine models of BERT-base's size
BYTES = {"float32": 4, "bfloat16": 2}
_loading = threading.Lock()  # while transformers loads, its classes lack functions, which two at once do not give back


def load(
    checkpoint: Checkpoint, device: str = "auto", dtype: str = "float32", *, language_model: bool = False
) -> AttentionModel:
    """Load weights (safetensors only, no remote code) and tokenizer, with `language_model` also the head that predicts
    masked or next words; raises ModelError where that fails, or where the checkpoint has no such head."""
    with IMPORTING:
        import torch
        from transformers import AutoModel, AutoModelForTextEncoding
        from transformers.utils import logging

    logging.disable_progress_bar()
    device = choose_device(device)
    check_memory(checkpoint, device, dtype)
    tokens = load_tokens(checkpoint)
    if language_model:
        check_head(checkpoint)
    plain = AutoModelForTextEncoding if _has_encoder(checkpoint) else AutoModel
    auto = _with_head(checkpoint) if language_model else plain
    options = {"use_safetensors": True, "dtype": getattr(torch, dtype)}
    try:
        loaded, missing, observable = _load_observable(auto, checkpoint, options)
    except Exception as error:  # any of the many ways in which files can be wrong
        raise _cannot_load(checkpoint, error) from error
    if not language_model:
        return prepare(loaded, tokens, checkpoint, device, observable=observable)
    if missing:
        raise no_head(checkpoint, f"missing weights: {', '.join(sorted(missing)[:3])}")
    model = prepare(loaded.base_model, tokens, checkpoint, device, observable=observable, language_model=loaded)
    if predicts_next_words(checkpoint) and not model.causal:
        raise no_head(checkpoint, "its tokens see those after them")
    return model


def load_tokens(checkpoint: Checkpoint) -> Tokens:
    """The tokenizer alone, for work that runs no model."""
    with IMPORTING:
        from transformers import AutoTokenizer
        from transformers.utils import logging

    logging.set_verbosity_error()
    try:
        return Tokens(AutoTokenizer.from_pretrained(checkpoint.folder, local_files_only=True, trust_remote_code=False))
    except Exception as error:  # any of the many ways in which files can be wrong
        raise _cannot_load(checkpoint, error) from error


def prepare(
    encoder: Any,
    tokens: Tokens,
    checkpoint: Checkpoint,
    device: str = "cpu",
    *,
    observable: bool = True,
    language_model: Any = None,
) -> AttentionModel:
    """Wrap a loaded encoder, and find how its maps can be read (`models.verification`)."""
    for module in (encoder, language_model):
        if module is not None:
            module.eval().requires_grad_(False).to(device)
    from bertviz_core.models.verification import no_maps, verify

    known, named = len(encoder.get_input_embeddings().weight), max(tokens.tokenizer.get_vocab().values()) + 1
    if named > known:
        raise ModelError(
            f"The tokenizer of {checkpoint.name!r} names {named:,} tokens, its model knows {known:,}.",
            hint="Save the tokenizer that belongs to the model into its folder.",
        )
    types = getattr(encoder.config, "type_vocab_size", 0) or 0
    model = AttentionModel(
        checkpoint, encoder, tokens, device, checkpoint.layers, checkpoint.heads, types > 1, observable
    )
    if encoder.config.is_encoder_decoder and hasattr(encoder, "decoder"):
        raise no_maps(checkpoint)
    encoder.config.use_cache = False  # of keys and values, for generation
    try:
        maps = verify(model)
    except ModelError:
        raise
    except Exception as error:  # what a model of another kind does with two inputs is anyone's guess
        raise _cannot_load(checkpoint, error) from error
    model.observable, model.layers, model.heads, model.causal = astuple(maps)
    model.language_model = language_model
    return model


def choose_device(device: str) -> str:
    """`auto` is cuda where there is one, else cpu; raises SettingsError for a device that is not there."""
    import torch

    if device not in DEVICES:
        raise SettingsError(f"There is no device {device!r}.", hint=f"Choose one of {', '.join(DEVICES)}.")
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise SettingsError("This machine has no CUDA device.", hint="Use --device cpu.")
    return device


def check_memory(checkpoint: Checkpoint, device: str, dtype: str) -> None:
    """Raises ModelError, before a weight is read, where the weights alone are more than the memory that is free."""
    import torch

    needed = checkpoint.parameters() * getattr(torch, dtype).itemsize
    for memory, free in _free_memory(device).items():
        if needed > free:
            raise ModelError(
                f"The weights of {checkpoint.name!r} take {needed / 1e9:.1f} GB in {dtype}, and {free / 1e9:.1f} GB of "
                f"{memory} memory are free.",
                hint="Choose a smaller model" + (", or --dtype bfloat16." if dtype != "bfloat16" else "."),
            )


def _free_memory(device: str) -> dict[str, int]:
    """Bytes by kind of memory, where the system says: weights pass through the machine's on their way to a GPU."""
    import torch

    free = {}
    with suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free["the machine's"] = 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    if device.startswith("cuda"):
        free["the GPU's"] = torch.cuda.mem_get_info(device)[0]
    return free


def _load_observable(auto: Any, checkpoint: Checkpoint, options: dict[str, Any]) -> tuple[Any, set[str], bool]:
    """What `_complete` gives, and whether the model uses the registered attention function (it has eager maps where
    the family knows no such thing)."""
    try:
        return *_complete(auto, checkpoint, register(), options), True
    except (ValueError, KeyError):  # no such implementation; no class for it
        return *_complete(auto, checkpoint, "eager", options), False


def _has_encoder(checkpoint: Checkpoint) -> bool:
    """Whether transformers has a class for the encoder alone of an encoder-decoder, such as T5."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES

    name = MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES.get(checkpoint.config.get("model_type", ""), "")
    return name.endswith("EncoderModel")


def _complete(auto: Any, checkpoint: Checkpoint, attention: str, options: dict[str, Any]) -> tuple[Any, set[str]]:
    """The model, and the weights of its head that the files lack; of the encoder only the pooler may be lacking."""
    with _loading:
        model, info = auto.from_pretrained(
            checkpoint.folder,
            attn_implementation=attention,
            output_loading_info=True,
            local_files_only=True,
            trust_remote_code=False,  # unset, transformers asks at the terminal
            **options,
        )
    lacking = {name for name in info["missing_keys"] if not name.startswith("pooler.")}
    has_head = model.base_model is not model
    head = {name for name in lacking if has_head and not name.startswith(f"{model.base_model_prefix}.")}
    if inside := sorted(lacking - head):
        raise ModelError(f"{len(inside)} weights are not in the files, {inside[0]} first")
    return model, head


def _with_head(checkpoint: Checkpoint) -> Any:
    """The class that loads the model with its head; raises ModelError where transformers knows none of its family."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM
    from transformers.models.auto import modeling_auto as known

    is_next = predicts_next_words(checkpoint)
    families = known.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES if is_next else known.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if (family := checkpoint.config.get("model_type")) not in families:
        raise no_head(checkpoint, f"models of the family {family!r} are not trained to predict words")
    return AutoModelForCausalLM if is_next else AutoModelForMaskedLM


def _cannot_load(checkpoint: Checkpoint, error: Exception) -> ModelError:
    return ModelError(
        f"The model {checkpoint.name!r} cannot be loaded ({type(error).__name__}: {str(error)[:300]}).",
        hint="It must be an encoder that transformers knows, saved with save_pretrained.",
    )


def load_to_view(checkpoint: Checkpoint, device: str = "auto", dtype: str = "float32") -> AttentionModel:
    """The model, with its MLM head where the checkpoint has one."""
    try:
        return load(checkpoint, device, dtype, language_model=not predicts_next_words(checkpoint))
    except ModelError:
        return load(checkpoint, device, dtype)


class LoadedModels:
    """Models for single inputs, for any number of threads, on one of settings.DEVICES; past `room`, bytes of their
    weights, the least recently used is dropped first. A single model may take more."""

    def __init__(self, room: int = ROOM, device: str = "auto") -> None:
        self.room, self.device = room, device
        self._models: dict[tuple[str, str], tuple[AttentionModel, int]] = {}  # the one longest unused first
        self._lock, self._loading = threading.Lock(), threading.Lock()

    def get(self, checkpoint: Checkpoint, dtype: str) -> AttentionModel:
        """A loaded model; models are loaded one at a time, since two at once take twice the memory and no less time."""
        key = (checkpoint.fingerprint(), dtype)
        if model := self._find(key):
            return model
        with self._loading:
            if model := self._find(key):
                return model
            size = checkpoint.parameters() * BYTES[dtype]
            self._make_room(size)
            model = load_to_view(checkpoint, self.device, dtype)
            with self._lock:
                self._models[key] = model, size
            return model

    def _find(self, key: tuple[str, str]) -> AttentionModel | None:
        with self._lock:
            entry = self._models.pop(key, None)
            if entry is None:
                return None
            self._models[key] = entry
            return entry[0]

    def _make_room(self, size: int) -> None:
        with self._lock:
            while self._models and size + sum(taken for _, taken in self._models.values()) > self.room:
                del self._models[next(iter(self._models))]
