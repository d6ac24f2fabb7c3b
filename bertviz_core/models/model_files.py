"""config.json and the headers of the weights, checked before anything is built from them."""

import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache, partial
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
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
    "roberta-prelayernorm",
    "camembert",
    "mpnet",
    "longformer",
    "xmod",
)
PART = re.compile(r"[\w.-]+\.safetensors")  # of weights in several files
NUMBERED = re.compile(r"(?:^|\.)(\d{1,6})(?=\.)")
MAX_BYTES = 1 << 22  # of JSON: BERT's header has 25 kB
MAX_WEIGHTS = 64 * 10**9  # bytes: the largest encoder, XLM-RoBERTa XXL, takes 43 GB
MAX_LAYERS, MAX_HEADS, MAX_LABELS, MAX_SIZE = 512, 512, 10_000, 1_000_000
MIN_POSITIONS = 8


def check_files(folder: Path) -> None:
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
    for path in folder.glob("*.index.json"):
        names = (_object(path) or {}).get("weight_map")
        values = names.values() if isinstance(names, dict) else [None]
        if path.name.endswith(".safetensors.index.json") and not all(map(partial(_is_part, folder), values)):
            what = f"{path.name} names weights that are not safetensors files in the folder"
            raise _refused(folder, what, "Save the model again with save_pretrained.")


def _is_part(folder: Path, name: object) -> bool:
    return isinstance(name, str) and bool(PART.fullmatch(name)) and (folder / name).is_file()


def _refused(folder: Path, what: str, hint: str) -> ModelError:
    return ModelError(f"The model folder {folder.name!r} cannot be used: {what}.", where=str(folder), hint=hint)


def read_config(folder: Path) -> dict[str, Any]:
    """A model's config.json; raises ModelError where it cannot be read or asks for custom code."""
    if (folder / "config.json").exists():  # else it is no model's folder, whatever it holds
        check_files(folder)
    config = _object(folder / "config.json")
    if config is None:
        raise ModelError(
            f"The model folder {str(folder)!r} has no readable config.json.",
            hint="Give a folder written by save_pretrained.",
        )
    if "transformers_weights" in config:
        raise _refused(folder, "its config.json names other weights", "Save the model again with save_pretrained.")
    _check_no_code(folder, config)
    return config


def check_sizes(folder: Path, config: Mapping[str, Any], weights: Mapping[str, Any]) -> None:
    """Raises ModelError where a number in config.json is invalid, too small or too large, or does not fit the
    `weights`: name -> entry of every array, from their headers."""
    problem = _wrong_number(config) or _too_small(config) or _too_large(config) or _misfit(config, weights)
    if problem:
        raise ModelError(
            f"The model folder {folder.name!r} cannot be used: its config.json says {problem}.",
            where=str(folder / "config.json"),
            hint="Fix the file, or save the model again with save_pretrained.",
        )


def read_header(path: Path) -> dict[str, Any]:
    """Names, types and shapes of a safetensors file's arrays; raises ModelError for a file that is damaged."""
    try:
        status = path.stat()
        header = _header(path, status.st_size, status.st_mtime_ns)
    except OSError:
        header = None
    if header is None:
        raise ModelError(
            f"The weights in {path.name} are damaged or cut off.",
            where=str(path.parent),
            hint="Save the model again with save_pretrained, or copy the whole file.",
        )
    return header


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


@lru_cache(maxsize=1 << 10)
def _header(path: Path, size: int, _modified: int) -> dict[str, Any] | None:
    """Read once for each state of a file; None for a damaged one."""
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = _parsed(stream.read(length)) if length <= min(size, MAX_BYTES) else None
    if header is None:
        return None
    header.pop("__metadata__", None)
    return header if all(map(_is_array, header.values())) else None


def _is_array(entry: Any) -> bool:
    shape = entry.get("shape") if isinstance(entry, dict) else None
    return isinstance(shape, list) and all(type(size) is int and 0 <= size < 1 << 40 for size in shape)


def _object(path: Path) -> dict[str, Any] | None:
    """A file's JSON object; None for anything else."""
    try:
        return _parsed(path.read_bytes()) if path.stat().st_size <= MAX_BYTES else None
    except OSError:
        return None


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _check_no_code(folder: Path, config: Mapping[str, Any]) -> None:
    """`auto_map` names classes in Python files beside the weights. They are never run, and the model is refused: what
    transformers would make of it without them is another model."""
    for name, entries in (
        ("config.json", config),
        ("tokenizer_config.json", _object(folder / "tokenizer_config.json")),
    ):
        if entries and "auto_map" in entries:
            raise ModelError(
                f"The model folder {folder.name!r} asks for Python code of its own (`auto_map` in {name}), which is "
                "never run here.",
                where=str(folder / name),
                hint="Choose a model that transformers itself knows.",
            )


def _wrong_number(config: Mapping[str, Any]) -> str:
    """An entry that should be a whole number and is none; "" where there is none such."""
    for name in (*LAYERS, *HEADS, *POSITIONS, *WIDTHS, *INNER, *OTHER):
        value = config.get(name)
        if value is not None and type(value) is not int:
            return f"{name} is {type(value).__name__}, not a whole number"
    return ""


def _too_small(config: Mapping[str, Any]) -> str:
    """A model without heads, or one that reads too few tokens to be analyzed."""
    layers, heads = number(config, LAYERS), number(config, HEADS)
    if (layers or 0) < 1 or (heads or 0) < 1:
        absent = "an unknown number of"
        return (
            f"{absent if layers is None else layers} layers of {absent if heads is None else heads} heads (at least 1 "
            "of each is needed, under names such as num_hidden_layers and num_attention_heads)"
        )
    longest = 0 if number(config, POSITIONS) == 0 else longest_input(config)
    if longest is not None and longest < MIN_POSITIONS:
        return f"it reads {max(longest, 0)} tokens (the fewest that can be analyzed are {MIN_POSITIONS})"
    return ""


def _too_large(config: Mapping[str, Any]) -> str:
    """A number with which no model can be built; every one of them may be the size of something."""
    layers, heads = number(config, LAYERS), number(config, HEADS)
    if (layers or 0) > MAX_LAYERS or (heads or 0) > MAX_HEADS:
        return f"{layers} layers of {heads} heads (at most {MAX_LAYERS} of {MAX_HEADS} can be shown)"
    for name, value in config.items():
        maximum = MAX_LABELS if name == "num_labels" else MAX_SIZE  # transformers writes a name for each label
        if type(value) is int and value > maximum and name not in POSITIONS and "theta" not in name:
            return f"{name} is above {maximum:,}"
    return ""


def _misfit(config: Mapping[str, Any], weights: Mapping[str, Any]) -> str:
    """Sizes that the weights' names and shapes contradict: transformers would draw at random what is not there, however
    large, and say so afterwards."""
    shapes = {name: entry["shape"] for name, entry in weights.items()}
    largest = max((size for shape in shapes.values() for size in shape), default=0)
    layers = max((config[name] for name in LAYERS if config.get(name)), default=0)
    numbered = [int(index) for name in shapes for index in NUMBERED.findall(name)]
    if config.get("model_type") not in SHARE_LAYERS and numbered and layers > max(numbered) + 1:
        return f"{layers} layers; the weights have {max(numbered) + 1}"
    for names in (HEADS, WIDTHS, INNER, OTHER[:2]):
        for name in names:
            if (config.get(name) or 0) > largest:
                return f"{name} is {config[name]:,}; no array of the weights has a dimension above {largest:,}"
    rows = [shape[0] for name, shape in shapes.items() if name.endswith("position_embeddings.weight") and shape]
    if rows and (number(config, POSITIONS) or 0) > max(rows):
        return f"{number(config, POSITIONS):,} positions; the weights have {max(rows):,}"
    width, inner = number(config, WIDTHS) or 0, number(config, INNER) or 0
    own = 1 if config.get("model_type") in SHARE_LAYERS else layers
    if own * width * (width + inner) > 8 * sum(map(math.prod, shapes.values())):
        return f"{layers} layers of width {width:,} and {inner:,}, for which the weights are far too few"
    return ""
