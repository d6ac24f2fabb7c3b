"""Makes of a checkpoint, or of a model in memory, one that can be observed."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from bertviz_core.errors import BertvizError, ModelError, SettingsError
from bertviz_core.inputs import tokenizer_file
from bertviz_core.inputs.tokenizer_file import AS_IN_FILE, FILE
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.checkpoint_files import tokenizer_folder
from bertviz_core.models.device_map import (
    DeviceMap,
    check_packages,
    check_places,
    device_map,
    place_of_quantized,
    quantization,
    weights_folder,
)
from bertviz_core.models.devices import choose_device, rooms
from bertviz_core.models.dispatched import gather_outputs, is_dispatched, main_device
from bertviz_core.models.in_memory_copy import cast_exactly, copy_sharing_weights, place_of_copy
from bertviz_core.models.load_report import compare
from bertviz_core.models.model import (
    DISCRIMINATORS,
    LM_HEAD_CLASSES,
    AttentionModel,
    missing_lm_head,
    predicts_next_words,
    require_lm_head,
)
from bertviz_core.models.rotary import forget_earlier_inputs, has_dynamic, length_limit, tried_limit
from bertviz_core.models.surroundings import in_standard_arithmetic
from bertviz_core.settings import QUANTIZED, Offload

_loading = threading.Lock()  # transformers patches its own classes while it loads, and two at once leave them patched


@in_standard_arithmetic
def load(
    checkpoint: Checkpoint,
    device: str = "auto",
    dtype: str = "float32",
    *,
    language_model: bool = False,
    offload: Offload = "none",
) -> AttentionModel:
    """Load weights and tokenizer, without remote code.

    Args:
        device: Where the model runs, one of DEVICES.
        dtype: The type of its parameters, one of DTYPES.
        language_model: Whether the head that predicts words is loaded too.
        offload: Where weights wait for which the GPUs have no room.

    Raises:
        ModelError: It cannot be loaded, or its maps cannot be read.
        SettingsError: A package is missing that it needs.
    """
    device = choose_device(device)
    room = rooms(checkpoint, device, dtype, offload)
    check_packages(device, dtype, is_spread=room is not None)
    tokens = load_tokens(checkpoint)
    if language_model:
        require_lm_head(checkpoint)
    with _explained(checkpoint):
        kind, config = _kind_of(checkpoint, language_model)
        places = device_map(kind, config, room, dtype) if room else place_of_quantized(device, dtype)
        check_places(places, checkpoint.name, offload)
        loaded, notices = _read_weights(checkpoint, kind, config, dtype, places)
        loaded = loaded if language_model else _encoder_of(loaded)
    model = prepare(loaded, tokens, checkpoint, device, predicts=language_model)
    if language_model and predicts_next_words(checkpoint) and not model.causal:
        raise missing_lm_head(checkpoint, "its tokens see those after them")
    return replace(model, notices=(*tokenizer_file.notices(tokens, tokenizer_folder(checkpoint.folder)), *notices))


def load_to_view(
    checkpoint: Checkpoint, device: str = "auto", dtype: str = "float32", offload: Offload = "none"
) -> AttentionModel:
    """The model, with the head that predicts words if any."""
    try:
        return load(checkpoint, device, dtype, language_model=True, offload=offload)
    except ModelError:
        return load(checkpoint, device, dtype, offload=offload)


def load_tokens(checkpoint: Checkpoint) -> Tokens:
    """The tokenizer alone, if no model runs."""
    from bertviz_core.models.libraries import logging, transformers

    logging.set_verbosity_error()
    auto = transformers.AutoTokenizer
    folder = tokenizer_folder(checkpoint.folder)
    with _explained(checkpoint):
        # Else errors of the configuration, which the tokenizer's class would raise, name the tokenizer.
        _check_reads_text(checkpoint, _read_configuration(checkpoint))
    with _tokenizer_explained(checkpoint):
        tokenizer = auto.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        _check_vocabulary(tokenizer, folder)
        return Tokens(tokenizer, one_text=checkpoint.reads_one_text)


def _check_vocabulary(tokenizer: Any, folder: Path) -> None:
    """Raises ModelError where the vocabulary's files are missing: transformers makes one of special tokens alone."""
    files = {"tokenizer.json", *tokenizer.vocab_files_names.values()} if tokenizer.vocab_files_names else set()
    has_one = any((folder / name).is_file() for name in files) or any(folder.glob("*.model"))
    if files and not has_one:
        what = f"The model folder {folder.name!r} has no vocabulary for its {type(tokenizer).__name__}"
        hint = "Save the tokenizer into it with tokenizer.save_pretrained."
        raise ModelError(f"{what} (one of {', '.join(sorted(files))}).", where=str(folder), hint=hint)


@contextmanager
def _tokenizer_explained(checkpoint: Checkpoint) -> Iterator[None]:
    """Turn what transformers raises for a tokenizer into one ModelError."""
    try:
        yield
    except BertvizError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        what = f"The tokenizer of {checkpoint.name!r} cannot be used ({type(error).__name__}: {reason})."
        hint = "docs/models.md says which tokenizers can be used."
        if isinstance(error, ImportError):
            hint = "Install the package that it names, into the environment of this program."
        elif (tokenizer_folder(checkpoint.folder) / FILE).is_file():
            hint = f"Its {FILE} may be of another kind than its `tokenizer_class`: {AS_IN_FILE}; {hint}"
        raise ModelError(what, hint=hint) from error


@contextmanager
def _explained(checkpoint: Checkpoint) -> Iterator[None]:
    """Turn whatever transformers raises for files that it cannot load into one ModelError."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        what = f"The model {checkpoint.name!r} cannot be loaded ({type(error).__name__}: {str(error)[:300]})."
        hint = "It must be an encoder or decoder that transformers knows, saved with save_pretrained."
        raise ModelError(what, hint=hint) from error


def _read_configuration(checkpoint: Checkpoint) -> Any:
    """The configuration as transformers reads it."""
    from bertviz_core.models.libraries import transformers

    return transformers.AutoConfig.from_pretrained(checkpoint.folder, local_files_only=True, trust_remote_code=False)


def _check_reads_text(checkpoint: Checkpoint, config: Any) -> None:
    """Raises ModelError for a model of images or sound, before anything of it is loaded."""
    from bertviz_core.models.torch_internals import class_of, matches_images

    kind = class_of(config)
    if kind is None or (kind.main_input_name == "input_ids" and not matches_images(config)):
        return
    reads = "images beside texts" if kind.main_input_name == "input_ids" else kind.main_input_name.replace("_", " ")
    what = f"The model {checkpoint.name!r} is a {kind.__name__}, which reads {reads}"
    raise ModelError(f"{what}, not text.", hint="Choose an encoder or a decoder of text.")


def _kind_of(checkpoint: Checkpoint, language_model: bool) -> tuple[Any, Any]:
    """The class of transformers that loads the model with its head, or without, and the configuration."""
    from bertviz_core.models.libraries import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES, transformers
    from bertviz_core.models.torch_internals import compute_eagerly, is_known_by

    family = checkpoint.config.get("model_type", "")
    config = compute_eagerly(_read_configuration(checkpoint))
    if language_model and predicts_next_words(checkpoint):
        auto: Any = transformers.AutoModelForCausalLM
    elif language_model:
        auto = transformers.AutoModelForMaskedLM
    elif hasattr(config, "encoder") and not is_known_by(transformers.AutoModel, config):
        auto = transformers.AutoModelForSeq2SeqLM  # of two models, such as bert2bert
    elif MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES.get(family, "").endswith("EncoderModel") and not hasattr(
        config, "encoder"
    ):
        auto = transformers.AutoModelForTextEncoding
    else:
        auto = transformers.AutoModel
    return auto, config


def _read_weights(
    checkpoint: Checkpoint, auto: Any, config: Any, dtype: str, places: DeviceMap | None
) -> tuple[Any, tuple[str, ...]]:
    """The model, and notices of what is not used.

    Args:
        auto: The class of transformers that loads it.
        dtype: The type of its parameters, one of DTYPES.
        places: Where each part goes; None for a model that is moved to its device afterwards.
    """
    from bertviz_core.models.libraries import logging, torch

    logging.disable_progress_bar()
    waits = "disk" in (places or {}).values()
    with _loading, weights_folder() if waits else nullcontext() as folder:
        model, info = auto.from_pretrained(
            checkpoint.folder,
            config=config,
            attn_implementation="eager",
            dtype=torch.bfloat16 if dtype in QUANTIZED else getattr(torch, dtype),
            device_map=places,
            quantization_config=quantization(dtype),
            offload_folder=folder and str(folder.path),
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # Mismatches are refused below, by name.
            local_files_only=True,
            trust_remote_code=False,  # If this is not set, transformers asks at the terminal.
        )
        if folder:
            folder.keep_for(model)
    return model, compare(checkpoint, model, info)


def prepare(
    loaded: Any,
    tokens: Tokens,
    checkpoint: Checkpoint,
    device: str = "cpu",
    *,
    predicts: bool = False,
    described: bool = False,
) -> AttentionModel:
    """Wrap a loaded model, and find how its maps can be read.

    Args:
        loaded: The model of transformers.
        tokens: Its tokenizer.
        predicts: Whether `loaded` has the head that predicts words.
        described: Whether the checkpoint was described from these weights: then the maps of equal models are tried
            only once.

    Raises:
        ModelError: The tokenizer is of another model, or the maps cannot be read.
    """
    from bertviz_core.models.in_memory_fingerprint import check_attention_functions
    from bertviz_core.models.verification import verify, verify_once

    check_attention_functions(loaded)
    loaded.eval().requires_grad_(False)
    encoder = _without_head(loaded) if predicts else loaded
    if is_dispatched(loaded):
        device = main_device(loaded)
        for part in dict.fromkeys((encoder, loaded)):
            gather_outputs(part, device)
    elif not getattr(loaded, "is_quantized", False):  # What is quantized is loaded to where it stays.
        loaded.to(device)
    _fuse_activations(loaded)
    _check_embeddings(encoder, tokens, checkpoint)
    _make_repeatable(encoder)
    model = AttentionModel(
        checkpoint=replace(checkpoint, longest=_longest_input(encoder)),
        encoder=encoder,
        tokens=tokens,
        device=device,
        layers=checkpoint.layers,
        heads=checkpoint.heads,
        has_types=(getattr(encoder.config, "type_vocab_size", 0) or 0) > 1,
    )
    known = length_limit(encoder.config.to_dict())
    model.length_limit = tried_limit(encoder) if known is None else known
    with _explained(checkpoint):
        verified = verify_once(model) if described else verify(model)
    _check_direction(verified)
    return replace(verified, language_model=loaded if predicts else None)


def _make_repeatable(encoder: Any) -> None:
    """Let an input have the same outputs, which are read by name, whatever ran before it."""
    encoder.config.use_cache = False  # The cache is of use only for generation.
    encoder.config.return_dict = True
    if has_dynamic(encoder):
        encoder.register_forward_pre_hook(forget_earlier_inputs)


def _check_direction(model: AttentionModel) -> None:
    """Raises ModelError for an encoder whose tokens attend to earlier ones only."""
    if model.causal and not model.tokens.one_text:
        name = model.checkpoint.name
        what = f"{name!r} is an encoder by its config.json, and its tokens attend to earlier ones only."
        raise ModelError(what, hint='If it is a decoder, write `"is_decoder": true` into its config.json.')


def _without_head(loaded: Any) -> Any:
    """The encoder or decoder inside; that of Llama 4 is not found by the name in its class."""
    return getattr(loaded, "model", loaded) if loaded.base_model is loaded else loaded.base_model


def _check_embeddings(encoder: Any, tokens: Tokens, checkpoint: Checkpoint) -> None:
    """Raise ModelError if the tokenizer names tokens that the model does not have."""
    with _explained(checkpoint):
        embedded = len(encoder.get_input_embeddings().weight)
    named = max(tokens.tokenizer.get_vocab().values()) + 1
    if named > embedded:
        what = f"The tokenizer of {checkpoint.name!r} names {named:,} tokens, its model knows {embedded:,}."
        raise ModelError(what, hint="Save the tokenizer that belongs to the model into its folder.")


def _fuse_activations(loaded: Any) -> None:
    """Replace the GELU that models such as GPT-2 write out in nine operations by PyTorch's own of the same formula."""
    from transformers.activations import FastGELUActivation, NewGELUActivation

    from bertviz_core.models.libraries import torch
    from bertviz_core.models.torch_internals import computes_as_its_class

    for parent in list(loaded.modules()):
        for name, module in parent.named_children():
            if type(module) in (FastGELUActivation, NewGELUActivation) and computes_as_its_class(module):
                setattr(parent, name, torch.nn.GELU("tanh"))


def _longest_input(encoder: Any) -> int | None:
    """The most tokens for which position embeddings that begin after the padding's have rows; None where none do."""
    tables = [module for name, module in encoder.named_modules() if name.endswith("position_embeddings")]
    padded = [table for table in tables if getattr(table, "padding_idx", None) is not None]
    return min((len(table.weight) - table.padding_idx - 1 for table in padded), default=None)


@in_standard_arithmetic
def model_in_memory(
    pair: tuple[Any, Any], checkpoint: Checkpoint, device: str = "auto", dtype: str = "float32"
) -> AttentionModel:
    """A copy of a model in memory that shares its weights, unless `device` or `dtype` changes them.

    Args:
        pair: The model and its tokenizer.
        device: Where the copy runs, one of DEVICES; "auto" for where the model is.
        dtype: The type of its parameters, one of DTYPES.

    Raises:
        ModelError: The model has no attention maps, or the tokenizer is of another model.
        SettingsError: The model is in several places, and `device` names one; or `dtype` is quantized.
    """
    import torch

    from bertviz_core.models.in_memory_fingerprint import check_copy, check_parts, unwrapped

    model, tokenizer = unwrapped(pair[0]), pair[1]
    check_parts(model)
    check_copy(model)
    if dtype in QUANTIZED:
        what = f"A model in memory is not quantized to {dtype}"
        raise SettingsError(f"{what}.", hint="Save it with save_pretrained, and give its folder.")
    predicts = type(model).__name__.endswith(LM_HEAD_CLASSES) and type(model).__name__ not in DISCRIMINATORS
    place = place_of_copy(model, device)
    with _explained(checkpoint):
        copied = cast_exactly(copy_sharing_weights(model), place, getattr(torch, dtype))
    with _tokenizer_explained(checkpoint):
        tokens = Tokens(tokenizer, one_text=checkpoint.reads_one_text)
    loaded = copied if predicts else _encoder_of(copied.base_model)
    is_described = not checkpoint.unknown_code
    return prepare(loaded, tokens, checkpoint, place or "cpu", predicts=predicts, described=is_described)


def _encoder_of(model: Any) -> Any:
    """Of a pair of encoder and decoder, whose maps are of two texts, the encoder; any other model itself."""
    is_pair = model.config.is_encoder_decoder and hasattr(model, "decoder") and hasattr(model, "get_encoder")
    return model.get_encoder() if is_pair else model
