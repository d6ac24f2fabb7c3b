"""Says what a folder without safetensors is, such as the shards of a training, and how to make a model of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bertviz_core.errors import ModelError
from bertviz_core.models.configuration import Config

MAX_BYTES = 1 << 22  # bytes of JSON; that of BERT has 25 kB
POINTER = b"version https://git-lfs"  # how a file of git LFS begins whose content was not fetched
ADAPTER = "adapter_config.json"
SAVE_AGAIN = "Save the model again with save_pretrained."
SAVE = "save it and its tokenizer with save_pretrained into an empty folder"
MERGE = f"In Python, load base and adapter with peft, call merge_and_unload(), and {SAVE}."
DEQUANTIZE = f"Give the model that it was made of, or load it in Python, call dequantize(), and {SAVE}."
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
# Patterns of files in a folder without safetensors -> what they are, and the way out.
FORMATS: dict[str, tuple[str, str]] = {
    "zero_to_fp32.py": (
        "the shards of a DeepSpeed training",
        "Run `python zero_to_fp32.py . merged --safe_serialization`, and copy configuration and tokenizer there.",
    ),
    "*.distcp": ("the shards of an FSDP training", "Join them with `accelerate merge-weights`."),
    "pytorch_model_fsdp_*": ("the shards of an FSDP training", "Join them with `accelerate merge-weights`."),
    "*.gguf": (
        "weights of llama.cpp (*.gguf), which are quantized",
        "Give the model that they were made of, as save_pretrained writes it.",
    ),
    "*.onnx": (
        "an exported graph (*.onnx), which shows no attention maps",
        "Give the model that it was made of, as save_pretrained writes it.",
    ),
    "tf_model.h5": (
        "only weights of TensorFlow",
        f"With transformers 4 load it with from_tf=True, and {SAVE}.",
    ),
    "flax_model.msgpack": (
        "only weights of Flax",
        f"With transformers 4 load it with from_flax=True, and {SAVE}.",
    ),
}
LIGHTNING = f"Load it into its LightningModule, take the transformers model from that, and {SAVE}."
CONVERT = f"Where you trust it, load it with from_pretrained in Python, and {SAVE}."


def unusable(folder: Path, what: str, hint: str = SAVE_AGAIN, file: str = "") -> ModelError:
    """The error for a folder that is no model, or one that cannot be used; `what` continues its name."""
    return ModelError(f"The model folder {folder.name!r} {what}.", where=str(folder / file), hint=hint)


def read_object(path: Path, hook: Callable[[dict[str, Any]], Any] | None = None) -> dict[str, Any] | None:
    """The object of a JSON file, each object inside it as `hook` makes it; None where there is none, or too large a
    one."""
    try:
        value = json.loads(path.read_bytes(), object_hook=hook) if path.stat().st_size <= MAX_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def special_float(entries: dict[str, Any]) -> Any:
    """The number that transformers writes as `{"__float__": "Infinity"}`; any other object as it is."""
    if entries.keys() == {"__float__"} and entries["__float__"] in ("Infinity", "-Infinity", "NaN"):
        return float(entries["__float__"])
    return entries


def without_model(folder: Path, config: Config | None) -> ModelError | None:
    """The error for a folder that is something else than a whole model, by its files; None where nothing says so."""
    if pointer := _pointer(folder):
        what = f"holds a pointer of git LFS in place of {pointer}"
        return unusable(folder, what, "Run `git lfs pull` in it, or download the file itself.", pointer)
    if (folder / ADAPTER).is_file():
        return _adapter(folder, has_model=config is not None)
    if config is None:
        return _no_config(folder)
    if quantization := config.get("quantization_config") or config.get("compression_config"):
        return _quantized(folder, quantization)
    return None


def _pointer(folder: Path) -> str:
    """The name of a file, of those that are read, whose content git LFS has not fetched; "" for none."""
    for path in sorted(folder.glob("*")):
        if path.suffix in (".safetensors", ".json", ".txt", ".model", ".bin") and path.is_file():
            with path.open("rb") as stream:
                if stream.read(len(POINTER)) == POINTER:
                    return path.name
    return ""


def _adapter(folder: Path, has_model: bool) -> ModelError:
    """The error for an adapter: whether it is added to a model beside it depends on what is installed."""
    described = read_object(folder / ADAPTER) or {}
    kind = str(described.get("peft_type") or described.get("architecture") or "").replace("LORA", "LoRA")
    base = described.get("base_model_name_or_path") or described.get("model_name")
    named = f"{kind} adapter".lstrip() + (f" of {base!r}" if base else "")
    if has_model:
        hint = f"{MERGE} If it is merged already, remove {ADAPTER} and the adapter's weights."
        what = f"holds a model and beside it a {named}: whose maps are meant is not clear"
        return unusable(folder, what, hint, ADAPTER)
    return unusable(folder, f"is a {named}, not a whole model", MERGE, ADAPTER)


def _quantized(folder: Path, described: Any) -> ModelError:
    entries = described if isinstance(described, dict) else {}
    method = entries.get("quant_method") or ("bitsandbytes" if any("load_in" in name for name in entries) else "")
    bits = entries.get("bits") or next((bits for bits in (4, 8) if entries.get(f"load_in_{bits}bit")), None)
    detail = ", ".join(str(part) for part in (method, f"{bits} bits" if bits else "") if part)
    what = f"has quantized weights{f' ({detail})' if detail else ''}, which are not read here"
    return unusable(folder, what, DEQUANTIZE, "config.json")


def _no_config(folder: Path) -> ModelError | None:
    """The error for a folder without a configuration that holds models, or a model in another format."""
    if (folder / "config.json").exists():
        return None  # The file cannot be read.
    inner = sorted(path.parent.name for path in _inside(folder, "*/config.json"))
    if (folder / "modules.json").is_file() and inner:
        what = f"is one of sentence-transformers; the model is in {inner[0]}"
        return unusable(folder, what, f"Give {folder / inner[0]} as the model.")
    if inner:
        what = f"is no model, but holds models: {', '.join(inner[:3])}{', …' if len(inner) > 3 else ''}"
        return unusable(folder, what, "Give one of them as the model; for a training, use Emergence.")
    return _other_format(folder)


def _inside(folder: Path, pattern: str) -> list[Path]:
    try:
        return [path for path in folder.glob(pattern) if path.is_file()]
    except OSError:
        return []


def _other_format(folder: Path) -> ModelError | None:
    """The error for weights in a format that is known by its files' names."""
    for pattern, (what, hint) in FORMATS.items():
        if any(folder.glob(pattern)):
            return unusable(folder, f"holds {what}", hint)
    if _inside(folder, "*.ckpt"):
        what = "holds a checkpoint of PyTorch Lightning (*.ckpt), which is pickled and never opened here"
        return unusable(folder, what, LIGHTNING)
    return None


def without_weights(folder: Path) -> ModelError:
    """The error for a folder that has no weights which transformers would read."""
    parts = sorted(path.name for path in _inside(folder, "*.safetensors"))
    if parts:
        what = f"has no model.safetensors and no index of its parts (model.safetensors.index.json), only {parts[0]}"
        return unusable(folder, what, "Copy the missing file, or save the model again with save_pretrained.")
    known = _other_format(folder)
    if known and not _inside(folder, "pytorch_model*.bin"):  # On the hub several formats stand side by side.
        return known
    if any(path.suffix in PICKLED for path in folder.iterdir()):
        return unusable(folder, "holds only pickled weights, which are never opened here", CONVERT)
    hint = "Save the model with save_pretrained, which writes model.safetensors."
    return unusable(folder, "holds no weights (*.safetensors)", hint)
