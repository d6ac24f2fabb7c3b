"""The numbers of a configuration under transformers' common names, its limits, and what its weights contradict.

Most files have the common names, and nothing is imported to read those; transformers resolves what others write.
"""

import json
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from bertviz_core.errors import ModelError
from bertviz_core.models.families import AFTER_ONE, AFTER_PADDING, ENCODERS, SHARED_LAYERS

LAYERS, HEADS, WIDTH = "num_hidden_layers", "num_attention_heads", "hidden_size"
INNER, POSITIONS, PADDING = "intermediate_size", "max_position_embeddings", "pad_token_id"
SIZES = ("vocab_size", "type_vocab_size")
COMMON = (LAYERS, HEADS, WIDTH, INNER, POSITIONS, PADDING, *SIZES)
OF_ENCODERS = ("ForMaskedLM", "ForPreTraining")  # endings of the names of classes that predict masked words
MAX_COUNT = 512  # the most layers, or heads of a layer
MAX_SIZE = 1_000_000  # the largest value of any other number
MAX_LABELS = 10_000  # the most labels: transformers writes a name for each
UNBOUNDED = ("position", "theta", "length", "n_ctx")  # parts of the names of numbers that may be larger
MIN_POSITIONS = 8
# Other entries that are read here, by the type that transformers writes; each may be null.
TYPES: dict[str, tuple[type, str]] = {
    "model_type": (str, "a text"),
    "architectures": (list, "a list"),
    "text_config": (dict, "an object"),
    "pruned_heads": (dict, "an object"),
    "auto_map": (dict, "an object"),
}
Config = Mapping[str, Any]  # the entries of a config.json


def with_common_names(config: Config) -> dict[str, Any]:
    """The configuration with the numbers of its text model under their common names.

    Raises:
        ModelError: transformers does not know the model's type, or cannot read its configuration.
    """
    if all(type(config.get(name)) is int for name in (LAYERS, HEADS, WIDTH)):
        return dict(config)
    return {**config, **_resolved(json.dumps(config, sort_keys=True, default=str))}


@lru_cache(maxsize=256)
def _resolved(config: str) -> dict[str, Any]:
    """The common numbers of a configuration in JSON, as transformers reads it."""
    from bertviz_core.models.libraries import transformers

    entries = json.loads(config)
    family = entries.get("model_type")
    if family not in transformers.CONFIG_MAPPING:
        kind = f"type {family!r}" if family else "a type that its config.json does not name (`model_type`)"
        what = f"The model cannot be loaded: transformers {transformers.__version__} knows no model of {kind}."
        raise ModelError(what, hint="Install a transformers that knows it, or choose another model.")
    try:
        return common_numbers(transformers.CONFIG_MAPPING[family].from_dict(entries))
    except Exception as error:  # A class of configurations may raise anything for what it cannot read.
        reason = " ".join(str(error).split())[:200]
        what = f"The model cannot be loaded: transformers cannot read its configuration ({reason})."
        raise ModelError(what, hint="Save the model again with save_pretrained.") from error


def common_numbers(config: Any) -> dict[str, Any]:
    """The common numbers of a configuration of transformers; without those that its text model does not have."""
    text = config.get_text_config()
    found = {}
    for name in COMMON:
        try:
            found[name] = getattr(text, name)
        except (AttributeError, ValueError):  # It has no such number, or a different one for each layer.
            continue
    return found


def config_int(config: Config, name: str) -> int:
    """A number of the configuration; 0 where it is missing or a number for each layer."""
    value = config.get(name)
    return value if type(value) is int else 0


def reads_one_text(config: Config) -> bool:
    """Whether two texts are one to the model, which begins once, as a decoder's do; else tokens stand between them."""
    if config.get("is_decoder") or config.get("causal"):  # BERT's relatives, and XLM, can be decoders.
        return True
    classes = map(str, config.get("architectures") or ())
    return config.get("model_type") not in ENCODERS and not any(name.endswith(OF_ENCODERS) for name in classes)


def longest_input(config: Config) -> int | None:
    """The most tokens, special ones included, that the position embeddings allow; None for no limit."""
    positions = config_int(config, POSITIONS)
    if not 0 < positions <= MAX_SIZE:
        return None
    family = config.get("model_type")
    if family in AFTER_ONE:
        return positions - 2
    if family not in AFTER_PADDING:
        return positions
    padding = config.get(PADDING)
    return positions - (padding if type(padding) is int else 1) - 1


def wrong_entries(config: Config) -> Iterator[str]:
    """What is wrong with a configuration as it is written: nothing is built from such numbers."""
    for name in COMMON:
        value = config.get(name)
        if value is not None and type(value) is not int and not (name == INNER and isinstance(value, list)):
            yield f"{name} is {type(value).__name__}, not a whole number"
    for name, (kind, description) in TYPES.items():
        value = config.get(name)
        if value is not None and not isinstance(value, kind):
            yield f"{name} is {type(value).__name__}, not {description}"
    yield from _too_large(config)


def _too_large(config: Config, depth: int = 3) -> Iterator[str]:
    """Numbers that are too large, also in configurations inside it."""
    for name, value in config.items():
        maximum = MAX_LABELS if name == "num_labels" else MAX_SIZE
        if type(value) is int and value > maximum and not any(part in name for part in UNBOUNDED):
            yield f"{name} is above {maximum:,}"
        if isinstance(value, dict) and depth:
            yield from _too_large(value, depth - 1)


def wrong_numbers(config: Config) -> Iterator[str]:
    """What is wrong with the common numbers: no model of such can be analyzed."""
    for name, kind in ((LAYERS, "layers"), (HEADS, "heads")):
        if not 1 <= config_int(config, name) <= MAX_COUNT:
            value = config.get(name)
            yield (
                f"a model without attention {kind} (no {name})"
                if value is None
                else f"{name} is {value} (1 to {MAX_COUNT} {kind} can be shown)"
            )
    longest = 0 if config.get(POSITIONS) == 0 else longest_input(config)
    if longest is not None and longest < MIN_POSITIONS:
        yield f"it reads {max(longest, 0)} tokens (the fewest that can be analyzed are {MIN_POSITIONS})"


def misfits(config: Config, shapes: Mapping[str, list[int]]) -> Iterator[str]:
    """Sizes that the weights contradict: transformers would initialize at random what is not there, however large."""
    positions = config_int(config, POSITIONS)
    rows = [shape[0] for name, shape in shapes.items() if name.endswith("position_embeddings.weight") and shape]
    if rows and positions > max(rows):
        yield f"{positions:,} positions; the weights have {max(rows):,}"
    layers, width, inner = (config_int(config, name) for name in (LAYERS, WIDTH, INNER))
    different = 1 if config.get("model_type") in SHARED_LAYERS else layers
    embedded = sum(config_int(config, name) for name in SIZES)
    needed = width * (different * (width + inner) + embedded)
    if needed > 8 * sum(map(math.prod, shapes.values())):
        yield f"{layers} layers of width {width:,} and {inner:,}, for which the weights are far too few"
