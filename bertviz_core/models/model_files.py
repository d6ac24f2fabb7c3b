"""config.json and the headers of the weights, checked before anything is built from them."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from bertviz_core.errors import ModelError

# Names under which the model families keep the same number.
LAYERS = ("num_hidden_layers", "n_layers", "n_layer", "num_layers", "encoder_layers", "decoder_layers")
HEADS = ("num_attention_heads", "n_heads", "n_head", "num_heads", "encoder_attention_heads", "decoder_attention_heads")
POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len")
WIDTHS = ("hidden_size", "dim", "d_model", "n_embd", "emb_dim")
INNER = ("intermediate_size", "hidden_dim", "d_inner", "n_inner")
OTHER = ("vocab_size", "type_vocab_size", "pad_token_id")
SHARE_LAYERS = ("albert",)  # whose layers have the same weights
# RoBERTa's family counts positions from the one after the padding index.
OFFSET = (
    "roberta", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "camembert", "mpnet", "longformer", "xmod",
)  # fmt: skip
PART = re.compile(r"[\w.-]+\.safetensors")  # of weights in several files
NUMBERED = re.compile(r"(?:^|\.)(\d{1,6})(?=\.)")
MAX_BYTES = 1 << 22  # of JSON: BERT's header has 25 kB
MAX_WEIGHTS = 64 * 10**9  # bytes: the largest encoder, XLM-RoBERTa XXL, takes 43 GB
MAX_LAYERS, MAX_HEADS, MAX_LABELS, MAX_SIZE = 512, 512, 10_000, 1_000_000
MIN_POSITIONS = 8
SAVE_AGAIN = "Save the model again with save_pretrained."


def read_config(folder: Path) -> dict[str, Any]:
    """A model's config.json; raises ModelError where it cannot be read, or where the folder has what is never opened
    here: files of others, weights that are too large or elsewhere, or Python code."""
    path = folder / "config.json"
    if path.exists():  # else it is no model's folder, whatever it holds
        _check_files(folder)
    config = _read_object(path)
    if config is None:
        raise ModelError(
            f"The model folder {str(folder)!r} has no readable config.json.",
            hint="Give a folder written by save_pretrained.",
        )
    if "transformers_weights" in config:
        raise _refused(folder, "its config.json names other weights", SAVE_AGAIN)
    # `auto_map` names classes in Python files beside the weights. Without them transformers would make another model.
    for name, entries in (
        ("config.json", config),
        ("tokenizer_config.json", _read_object(folder / "tokenizer_config.json")),
    ):
        if entries and "auto_map" in entries:
            raise ModelError(
                f"The model folder {folder.name!r} asks for Python code of its own (`auto_map` in {name}), which is "
                "never run here.",
                where=str(folder / name),
                hint="Choose a model that transformers itself knows.",
            )
    return config


def _check_files(folder: Path) -> None:
    """Raises ModelError for a folder with anything but regular files of its own, too large weights, or an index that
    names other files than safetensors beside it. (The hub's cache links to files of the same repository.)"""
    inside = folder.resolve()
    inside = inside.parent.parent if inside.parent.name == "snapshots" else inside
    size = 0
    for path in (path for path in folder.glob("*") if path.exists() and not path.is_dir()):
        if not path.is_file() or not path.resolve().is_relative_to(inside):
            raise _refused(folder, f"{path.name} is not a regular file of the folder", "Replace it with the file.")
        size += path.stat().st_size if path.suffix == ".safetensors" else 0
    if size > MAX_WEIGHTS:
        raise _refused(folder, f"its weights take {size / 1e9:,.0f} GB", "Choose a smaller model.")
    for path in folder.glob("*.safetensors.index.json"):
        parts = (_read_object(path) or {}).get("weight_map")
        for name in parts.values() if isinstance(parts, dict) else [None]:
            if not (isinstance(name, str) and PART.fullmatch(name) and (folder / name).is_file()):
                what = f"{path.name} names weights that are not safetensors files in the folder"
                raise _refused(folder, what, SAVE_AGAIN)


def _refused(folder: Path, what: str, hint: str) -> ModelError:
    return ModelError(f"The model folder {folder.name!r} cannot be used: {what}.", where=str(folder), hint=hint)


def read_header(path: Path) -> dict[str, Any]:
    """Names, types and shapes of a safetensors file's arrays; raises ModelError for a file that is damaged."""
    try:
        status = path.stat()
        return _header(path, status.st_size, status.st_mtime_ns)
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            f"The weights in {path.name} are damaged or cut off.",
            where=str(path.parent),
            hint="Save the model again with save_pretrained, or copy the whole file.",
        ) from error


@lru_cache(maxsize=1 << 10)
def _header(path: Path, size: int, _modified: int) -> dict[str, Any]:
    """Read once for each state of a file; raises ValueError for a damaged one."""
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = _parsed(stream.read(length) if length <= min(size, MAX_BYTES) else b"")
    header.pop("__metadata__", None)
    for entry in header.values():
        shape = entry.get("shape") if isinstance(entry, dict) else None
        if not isinstance(shape, list) or not all(type(size) is int and 0 <= size < 1 << 40 for size in shape):
            raise ValueError("an array without a shape")
    return header


def _read_object(path: Path) -> dict[str, Any] | None:
    """A file's JSON object; None for anything else."""
    try:
        return _parsed(path.read_bytes()) if path.stat().st_size <= MAX_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None


def _parsed(data: bytes) -> dict[str, Any]:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value


def number(config: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """The first of these entries that is a whole number."""
    return next((config[name] for name in names if type(config.get(name)) is int), None)


def longest_input(config: Mapping[str, Any]) -> int | None:
    """The most tokens, special ones included, that the position embeddings allow; None for no limit."""
    positions = number(config, POSITIONS)
    if not positions or not 0 < positions <= MAX_SIZE:
        return None
    if config.get("model_type") not in OFFSET:
        return positions
    padding = number(config, ("pad_token_id",))
    return positions - (1 if padding is None else padding) - 1


def check_sizes(folder: Path, config: Mapping[str, Any], weights: Mapping[str, Any]) -> None:
    """Raises ModelError where a number in config.json is invalid, too small or too large, or does not fit the
    `weights`: name -> entry of every array, from their headers."""
    shapes = {name: entry["shape"] for name, entry in weights.items()}
    if problem := next(_unusable(config), None) or next(_misfits(config, shapes), None):
        raise ModelError(
            f"The model folder {folder.name!r} cannot be used: its config.json says {problem}.",
            where=str(folder / "config.json"),
            hint="Fix the file, or save the model again with save_pretrained.",
        )


def _unusable(config: Mapping[str, Any]) -> Iterator[str]:
    """Numbers with which no model can be built or analyzed; every one of them may be the size of something."""
    for name in (*LAYERS, *HEADS, *POSITIONS, *WIDTHS, *INNER, *OTHER):
        value = config.get(name)
        if value is not None and type(value) is not int:
            yield f"{name} is {type(value).__name__}, not a whole number"
    layers, heads = number(config, LAYERS), number(config, HEADS)
    if (layers or 0) < 1 or (heads or 0) < 1:
        known = ["an unknown number of" if count is None else count for count in (layers, heads)]
        yield (
            f"{known[0]} layers of {known[1]} heads (at least 1 of each is needed, under names such as "
            "num_hidden_layers and num_attention_heads)"
        )
    longest = 0 if number(config, POSITIONS) == 0 else longest_input(config)
    if longest is not None and longest < MIN_POSITIONS:
        yield f"it reads {max(longest, 0)} tokens (the fewest that can be analyzed are {MIN_POSITIONS})"
    if (layers or 0) > MAX_LAYERS or (heads or 0) > MAX_HEADS:
        yield f"{layers} layers of {heads} heads (at most {MAX_LAYERS} of {MAX_HEADS} can be shown)"
    for name, value in config.items():
        maximum = MAX_LABELS if name == "num_labels" else MAX_SIZE  # transformers writes a name for each label
        if type(value) is int and value > maximum and name not in POSITIONS and "theta" not in name:
            yield f"{name} is above {maximum:,}"


def _misfits(config: Mapping[str, Any], shapes: Mapping[str, list[int]]) -> Iterator[str]:
    """Sizes that the weights' names and shapes contradict: transformers would draw at random what is not there, however
    large, and say so afterwards."""
    largest = max((size for shape in shapes.values() for size in shape), default=0)
    layers = max((config[name] for name in LAYERS if config.get(name)), default=0)
    shared = config.get("model_type") in SHARE_LAYERS
    numbered = [int(index) for name in shapes for index in NUMBERED.findall(name)]
    if not shared and numbered and layers > max(numbered) + 1:
        yield f"{layers} layers; the weights have {max(numbered) + 1}"
    for name in (*HEADS, *WIDTHS, *INNER, *OTHER[:2]):
        if (config.get(name) or 0) > largest:
            yield f"{name} is {config[name]:,}; no array of the weights has a dimension above {largest:,}"
    rows = [shape[0] for name, shape in shapes.items() if name.endswith("position_embeddings.weight") and shape]
    if rows and (number(config, POSITIONS) or 0) > max(rows):
        yield f"{number(config, POSITIONS):,} positions; the weights have {max(rows):,}"
    width, inner = number(config, WIDTHS) or 0, number(config, INNER) or 0
    if (1 if shared else layers) * width * (width + inner) > 8 * sum(map(math.prod, shapes.values())):
        yield f"{layers} layers of width {width:,} and {inner:,}, for which the weights are far too few"
