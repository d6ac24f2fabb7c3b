"""The files of a model: their fingerprint, and checks before anything is built from them."""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from bertviz_core.errors import ModelError

TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")  # patterns
WITHOUT_FILES = ("ByT5Tokenizer", "CanineTokenizer", "PerceiverTokenizer")  # whose tokens are bytes or letters
# Names of one number in different families.
LAYERS = ("num_hidden_layers", "n_layers", "n_layer", "num_layers", "encoder_layers", "decoder_layers")
HEADS = ("num_attention_heads", "n_heads", "n_head", "num_heads", "encoder_attention_heads", "decoder_attention_heads")
POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len")
WIDTHS = ("hidden_size", "dim", "d_model", "n_embd", "emb_dim")
INNER = ("intermediate_size", "hidden_dim", "d_inner", "n_inner", "ffn_dim")
OTHER = ("vocab_size", "type_vocab_size", "pad_token_id")
ROBERTAS = ("roberta", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "camembert", "xmod")
OFFSET = (*ROBERTAS, "mpnet", "longformer")  # families that count positions from the one after the padding's
PART = re.compile(r"[\w.-]+\.safetensors")
MAX_BYTES = 1 << 22  # of JSON; BERT has 25 kB
MAX_WEIGHTS = 64 * 10**9  # bytes: the largest encoder, XLM-RoBERTa XXL, takes 43 GB
MAX_COUNT = 512  # layers, or heads
MAX_SIZE = 1_000_000  # anything else
MIN_POSITIONS = 8
SAVE_AGAIN = "Save the model again with save_pretrained."


def read_config(folder: Path) -> dict[str, Any]:
    """Read config.json of a folder; raises ModelError where it is no whole model, or has what is never opened here."""
    path = folder / "config.json"
    if path.exists():  # else it is no model
        _check_files(folder)
    config = _read_object(path)
    if config is None:
        raise _unusable(folder, "has no readable config.json", "Give a folder written by save_pretrained.")
    if "transformers_weights" in config:
        raise _unusable(folder, "cannot be used: its config.json names other weights")
    # `auto_map` names classes in Python files beside the weights, without which transformers builds another model.
    for name in ("config.json", "tokenizer_config.json"):
        if "auto_map" in (_read_object(folder / name) or {}):
            what = f"asks for Python code of its own (`auto_map` in {name}), which is never run here"
            raise _unusable(folder, what, "Choose a model that transformers itself knows.", name)
    weights = read_weights(folder)
    if not _has_tokenizer(folder):
        raise _unusable(folder, "has no tokenizer", "Save the tokenizer into it with tokenizer.save_pretrained.")
    if problem := next(chain(_wrong_numbers(config), _misfits(config, weights)), None):
        raise _unusable(folder, f"cannot be used: its config.json says {problem}", file=path.name)
    return config


def _has_tokenizer(folder: Path) -> bool:
    """Whether there are files of a vocabulary, or the name of a tokenizer that needs none."""
    kind = (_read_object(folder / "tokenizer_config.json") or {}).get("tokenizer_class")
    return kind in WITHOUT_FILES or any(_files(folder, pattern) for pattern in TOKENIZERS)


def _check_files(folder: Path) -> None:
    """Raises ModelError for files that are not the folder's own, too large weights, or an index that names others."""
    allowed = folder.resolve()
    if allowed.parent.name == "snapshots":  # the hub's cache links to files of the same repository
        allowed = allowed.parent.parent
    files = [path for path in folder.glob("*") if path.exists() and not path.is_dir()]
    for path in files:
        if not path.is_file() or not path.resolve().is_relative_to(allowed):
            what = f"cannot be used: {path.name} is not a regular file of the folder"
            raise _unusable(folder, what, "Replace it with the file.")
    size = sum(path.stat().st_size for path in files if path.suffix == ".safetensors")
    if size > MAX_WEIGHTS:
        raise _unusable(folder, f"cannot be used: its weights take {size / 1e9:,.0f} GB", "Choose a smaller model.")
    for path in folder.glob("*.safetensors.index.json"):
        parts = (_read_object(path) or {}).get("weight_map")
        for name in parts.values() if isinstance(parts, dict) else [None]:
            if not (isinstance(name, str) and PART.fullmatch(name) and (folder / name).is_file()):
                what = f"cannot be used: {path.name} names weights that are not safetensors files in the folder"
                raise _unusable(folder, what)


def _unusable(folder: Path, what: str, hint: str = SAVE_AGAIN, file: str = "") -> ModelError:
    return ModelError(f"The model folder {folder.name!r} {what}.", where=str(folder / file), hint=hint)


def fingerprint(folder: Path) -> str:
    """sha256 (hex) over the weights, the configuration and the tokenizer: equal files, equal results."""
    described = [path for pattern in ("*.json", "*.txt", "*.model") for path in _files(folder, pattern)]
    total = hashlib.sha256()
    for path in (*_weight_files(folder), *described):
        status = path.stat()
        total.update(f"{path.name}:{_file_digest(path, status.st_size, status.st_mtime_ns)}\n".encode())
    return total.hexdigest()


@lru_cache(maxsize=1 << 14)  # a training has hundreds of checkpoints of several files each
def _file_digest(path: Path, _size: int, _modified: int) -> str:
    """The digest of a file; size and time of its last change are part of the cache's key."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _files(folder: Path, pattern: str) -> list[Path]:
    """Files, no folders or broken links."""
    return sorted(path for path in folder.glob(pattern) if path.is_file())


def _weight_files(folder: Path) -> list[Path]:
    """The safetensors files; raises ModelError where there is none (pickled weights are never opened)."""
    if files := _files(folder, "*.safetensors"):
        return files
    pickled = any(path.suffix in (".bin", ".pt", ".ckpt") for path in folder.iterdir())
    what = "only pickled weights, which are never opened here" if pickled else "no weights (*.safetensors)"
    raise _unusable(folder, f"holds {what}", "Save the model with save_pretrained, which writes model.safetensors.")


def read_weights(folder: Path) -> dict[str, list[int]]:
    """Name -> shape of every array in the safetensors files; raises ModelError for none, or a damaged one."""
    weights: dict[str, list[int]] = {}
    for path in _weight_files(folder):
        try:
            status = path.stat()
            weights |= _shapes(path, status.st_size, status.st_mtime_ns)
        except (OSError, ValueError, SafetensorError) as error:
            raise _unusable(folder, f"cannot be used: {path.name} is damaged or cut off") from error
    return weights


@lru_cache(maxsize=1 << 10)
def _shapes(path: Path, _size: int, _modified: int) -> dict[str, list[int]]:
    """The shapes in one file, cached as digests are; raises ValueError for a header that is too long to be parsed."""
    with path.open("rb") as stream:
        if int.from_bytes(stream.read(8), "little") > MAX_BYTES:
            raise ValueError("a header of megabytes")
    with safe_open(path, "numpy") as arrays:
        return {name: arrays.get_slice(name).get_shape() for name in arrays.keys()}  # noqa: SIM118


def _read_object(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_bytes()) if path.stat().st_size <= MAX_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def number(config: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """The first of these that is an int."""
    return next((config[name] for name in names if type(config.get(name)) is int), None)


def longest_input(config: Mapping[str, Any]) -> int | None:
    """Maximum number of tokens, special ones included, by the position embeddings; None for no limit."""
    positions = number(config, POSITIONS)
    if not positions or not 0 < positions <= MAX_SIZE:
        return None
    if config.get("model_type") not in OFFSET:
        return positions
    padding = number(config, ("pad_token_id",))
    return positions - (1 if padding is None else padding) - 1


def _wrong_numbers(config: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with numbers of the configuration: with them no model can be built or analyzed."""
    for name in (*LAYERS, *HEADS, *POSITIONS, *WIDTHS, *INNER, *OTHER):
        value = config.get(name)
        if value is not None and type(value) is not int:
            yield f"{name} is {type(value).__name__}, not a whole number"
    layers = number(config, LAYERS) or 0
    heads = number(config, HEADS) or 0
    if not (1 <= layers <= MAX_COUNT and 1 <= heads <= MAX_COUNT):
        names = "under names such as num_hidden_layers and num_attention_heads"
        yield f"{layers:,} layers of {heads:,} heads (1 to {MAX_COUNT} of each can be shown, {names})"
    longest = 0 if number(config, POSITIONS) == 0 else longest_input(config)
    if longest is not None and longest < MIN_POSITIONS:
        yield f"it reads {max(longest, 0)} tokens (the fewest that can be analyzed are {MIN_POSITIONS})"
    for name, value in config.items():
        maximum = 10_000 if name == "num_labels" else MAX_SIZE  # transformers writes a name for each label
        if type(value) is int and value > maximum and name not in POSITIONS and "theta" not in name:
            yield f"{name} is above {maximum:,}"


def _misfits(config: Mapping[str, Any], shapes: Mapping[str, list[int]]) -> Iterator[str]:
    """Sizes that the weights contradict: transformers would initialize at random what is not there, however large."""
    positions = number(config, POSITIONS) or 0
    rows = [shape[0] for name, shape in shapes.items() if name.endswith("position_embeddings.weight") and shape]
    if rows and positions > max(rows):
        yield f"{positions:,} positions; the weights have {max(rows):,}"
    layers, width, inner = (number(config, names) or 0 for names in (LAYERS, WIDTHS, INNER))
    different = 1 if config.get("model_type") == "albert" else layers  # whose layers have the same weights
    embedded = sum(config.get(name) or 0 for name in ("vocab_size", "type_vocab_size"))
    needed = width * (different * (width + inner) + embedded)
    if needed > 8 * sum(map(math.prod, shapes.values())):
        yield f"{layers} layers of width {width:,} and {inner:,}, for which the weights are far too few"
