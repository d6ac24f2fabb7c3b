"""The files of a model: their fingerprint, and checks before anything is built from them."""

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from bertviz_core.errors import ModelError
from bertviz_core.models import configuration, unsupported_folders
from bertviz_core.models.configuration import Config
from bertviz_core.models.unsupported_folders import DEQUANTIZE, MAX_BYTES, read_object, special_float, unusable
from bertviz_core.models.unused_weights import OTHER_LIBRARY, POSITIONS, ignored_positions, unused_weight, way_out

# The vocabularies of transformers' tokenizers, by the names of their files.
TOKENIZERS = (
    *("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "spm.model", "sentencepiece.bpe.model"),
    *("sentencepiece.model", "tokenizer.model", "spm_char.model", "prophetnet.tokenizer", "source.spm"),
    "vocab-src.json",
)
# Tokenizers without files, whose tokens are bytes or letters.
WITHOUT_FILES = ("ByT5Tokenizer", "CanineTokenizer", "PerceiverTokenizer")
# All that a tokenizer reads, besides: a test compares them with transformers'.
BESIDE = (
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt", "bpe.codes", "dict.txt"),
    *("target.spm", "target_vocab.json", "vocab-tgt.json", "entity_vocab.json", "emoji.json", "byte_maps.json"),
    *("normalizer.json", "word_shape.json", "word_pronunciation.json"),
)
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
SUFFIXES = (".json", ".txt", ".model", ".spm", ".codes", ".tokenizer")  # Files are digested in this order.
PART = re.compile(r"[\w.-]+\.safetensors")
# Names of checkpoints in the folder of a training.
TRAINED = re.compile(r"(step|checkpoint|epoch)\D*\d+(\.\d+)?[kKmMbB]?$")
FLOATS = ("F16", "BF16", "F32", "F64")  # types of weights in safetensors; those of fewer bits need a factor
Array = tuple[list[int], str]  # shape and type
MAX_WEIGHTS = 64 * 10**9  # bytes: the largest encoder, XLM-RoBERTa XXL, takes 43 GB
MAX_TOKENIZER = 100 * 10**6  # bytes of a file of a tokenizer: that of XLM-V, with 900,000 tokens, takes 61 MB
# Files that transformers reads whole beside a tokenizer's, of which none is larger than MAX_BYTES.
CONFIGURATION = ("*config.json", "special_tokens_map.json", "chat_template.*", INDEX)


def read_config(folder: Path) -> dict[str, Any]:
    """Read config.json of a folder, with the numbers of its text model under their common names.

    Raises:
        ModelError: The folder is no whole model, or has what is never opened here.
    """
    path = folder / "config.json"
    if path.exists():  # A folder without it is no model.
        _check_files(folder)
    config = read_object(path, special_float)
    if error := unsupported_folders.without_model(folder, config):
        raise error
    if config is None:
        raise unusable(folder, "has no readable config.json", "Give a folder written by save_pretrained.")
    if "transformers_weights" in config:
        raise unusable(folder, "cannot be used: its config.json names other weights")
    # `auto_map` names classes in Python files beside the weights, without which transformers builds another model.
    for name in ("config.json", "tokenizer_config.json"):
        if "auto_map" in (read_object(folder / name) or {}):
            what = f"asks for Python code of its own (`auto_map` in {name}), which is never run here"
            raise unusable(folder, what, "Choose a model that transformers itself knows.", name)
    weights = read_weights(folder)
    if not _has_tokenizer(tokenizer_folder(folder)):
        raise unusable(folder, "has no tokenizer", "Save the tokenizer into it with tokenizer.save_pretrained.")
    if problem := next(configuration.wrong_entries(config), None):
        raise _contradictory(folder, problem)
    config = configuration.with_common_names(config)
    if problem := next(chain(configuration.wrong_numbers(config), configuration.misfits(config, weights)), None):
        raise _contradictory(folder, problem)
    _check_saved(folder, config, weights)
    return config


def _check_saved(folder: Path, config: Config, weights: Iterable[str]) -> None:
    """Raises ModelError where a stored result, too, would be of another model than the one that was saved."""
    if kind := ignored_positions(config):
        what = f"was trained with {POSITIONS} {kind!r}, which transformers does not compute for the family "
        what += f"{config['model_type']!r}: its maps would be of another model"
        raise unusable(folder, what, OTHER_LIBRARY, "config.json")
    if coarse := _coarse_weight(folder):
        what = (
            f"has weights of {coarse[1]} numbers, of which {coarse[0]} is the first, and its config.json does not say"
        )
        raise unusable(folder, f"{what} how they were quantized: such are not read here", DEQUANTIZE)
    if name := unused_weight(config, weights):
        what = f"would not be loaded as it was saved: transformers does not use {name}"
        raise unusable(folder, f"{what}, so its maps would be of another model", way_out(config, name))


def _contradictory(folder: Path, problem: str) -> ModelError:
    return unusable(folder, f"cannot be used: its config.json says {problem}", file="config.json")


def tokenizer_folder(folder: Path) -> Path:
    """The folder of a model's tokenizer: its own, or, of a training's checkpoint without one, that of the training."""
    parent = folder.resolve().parent
    if _has_tokenizer(folder) or not (TRAINED.search(folder.resolve().name) and _has_tokenizer(parent)):
        return folder
    if outside := next((path for path in _tokenizer_files(parent) if path.resolve().parent != parent), None):
        what = f"cannot be used: {outside.name} is not a regular file of the folder above"
        raise unusable(folder, what, "Replace it with the file.")
    return parent


def _has_tokenizer(folder: Path) -> bool:
    """Whether there are files of a vocabulary, or the name of a tokenizer that needs none."""
    kind = (read_object(folder / "tokenizer_config.json") or {}).get("tokenizer_class")
    return kind in WITHOUT_FILES or any((folder / name).is_file() for name in TOKENIZERS)


def _tokenizer_files(folder: Path) -> list[Path]:
    return [path for name in (*TOKENIZERS, *BESIDE) if (path := folder / name).is_file()]


def _check_files(folder: Path) -> None:
    """Raises ModelError for files that are not the folder's own, too large weights, or an index that names others."""
    allowed = folder.resolve()
    if allowed.parent.name == "snapshots":  # the hub's cache links to files of the same repository
        allowed = allowed.parent.parent
    files = [path for path in folder.glob("*") if path.exists() and not path.is_dir()]
    for path in files:
        if not path.is_file() or not path.resolve().is_relative_to(allowed):
            what = f"cannot be used: {path.name} is not a regular file of the folder"
            raise unusable(folder, what, "Replace it with the file.")
    size = sum(path.stat().st_size for path in files if path.suffix == ".safetensors")
    if size > MAX_WEIGHTS:
        raise unusable(folder, f"cannot be used: its weights take {size / 1e9:,.0f} GB", "Choose a smaller model.")
    for each in {folder, tokenizer_folder(folder)}:
        _check_sizes(each)
    for path in folder.glob("*.safetensors.index.json"):
        _check_index(folder, path)


def _check_sizes(folder: Path) -> None:
    """Raises ModelError for a file of a tokenizer or a configuration that would take too long to read."""
    limits = dict.fromkeys(_tokenizer_files(folder), MAX_TOKENIZER)
    limits |= {path: MAX_BYTES for pattern in CONFIGURATION for path in folder.glob(pattern) if path.is_file()}
    for path, limit in limits.items():
        size = path.stat().st_size
        if size > limit:
            what = f"cannot be used: {path.name} takes {size / 1e6:,.0f} MB, and {limit / 1e6:,.0f} MB are the most"
            raise unusable(folder, what, "Choose another model.", path.name)


def _check_index(folder: Path, path: Path) -> None:
    """Raises ModelError for an index that names what is no safetensors file, or one that is missing."""
    parts = (read_object(path) or {}).get("weight_map")
    for name in parts.values() if isinstance(parts, dict) else [None]:
        if not (isinstance(name, str) and PART.fullmatch(name)):
            what = f"cannot be used: {path.name} names weights that are not safetensors files in the folder"
            raise unusable(folder, what)
        if not (folder / name).is_file():
            hint = "Download or copy it; `git lfs pull` fetches what a clone lacks."
            raise unusable(folder, f"lacks a part of its weights, {name}, which {path.name} names", hint)


def fingerprint(folder: Path) -> str:
    """sha256 (hex) over the weights, the configuration and the tokenizer: equal files, equal results.

    Other files, such as results or a training's state, change no map and are no part of it.
    """
    described = [folder / "config.json", folder / INDEX, *_tokenizer_files(tokenizer_folder(folder))]
    described = [path for path in described if path.is_file()]
    described.sort(key=lambda path: (SUFFIXES.index(path.suffix), path.name))
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


def _weight_files(folder: Path) -> list[Path]:
    """The safetensors files that transformers reads; raises ModelError where there is none."""
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    parts = (read_object(folder / INDEX) or {}).get("weight_map")
    if isinstance(parts, dict) and parts:
        return [folder / name for name in sorted(set(parts.values()))]
    raise unsupported_folders.without_weights(folder)


def lacks_files(folder: Path) -> bool:
    """Whether a folder has no configuration, no vocabulary, or not all of its weights, as after half a download."""
    index = (read_object(folder / INDEX) or {}).get("weight_map")
    parts = index.values() if isinstance(index, dict) and index else [WEIGHTS]
    has_weights = all(isinstance(name, str) and (folder / name).is_file() for name in parts)
    has_weights = has_weights or (folder / WEIGHTS).is_file()
    return not (has_weights and (folder / "config.json").is_file() and _has_tokenizer(folder))


def read_weights(folder: Path) -> dict[str, list[int]]:
    """Name -> shape of every array in the safetensors files.

    Raises:
        ModelError: There is no such file, or one is damaged.
    """
    return {name: shape for name, (shape, _) in _arrays(folder).items()}


def _coarse_weight(folder: Path) -> tuple[str, str] | None:
    """The first weight that is no float of 16 bits or more, and its type; transformers would take it as it is, without
    the factors that it was quantized with."""
    types = ((name, kind) for name, (_, kind) in sorted(_arrays(folder).items()) if name.endswith("weight"))
    return next(((name, kind) for name, kind in types if kind not in FLOATS), None)


def _arrays(folder: Path) -> dict[str, Array]:
    """Name -> shape and type of every array; raises ModelError as `read_weights` does."""
    arrays: dict[str, Array] = {}
    for path in _weight_files(folder):
        try:
            status = path.stat()
            arrays |= _arrays_of_file(path, status.st_size, status.st_mtime_ns)
        except (OSError, ValueError, SafetensorError) as error:
            raise unusable(folder, f"cannot be used: {path.name} is damaged or cut off") from error
    return arrays


@lru_cache(maxsize=1 << 10)
def _arrays_of_file(path: Path, _size: int, _modified: int) -> dict[str, Array]:
    """The arrays in one file, cached as digests are; raises ValueError for a header that is too long to be parsed."""
    with path.open("rb") as stream:
        if int.from_bytes(stream.read(8), "little") > MAX_BYTES:
            raise ValueError("a header of megabytes")
    with safe_open(path, "numpy") as arrays:
        slices = {name: arrays.get_slice(name) for name in arrays.keys()}  # noqa: SIM118
        return {name: (part.get_shape(), part.get_dtype()) for name, part in slices.items()}
