"""Finds weights and settings of a model's files that transformers would not use, by their names; nothing is loaded."""

import re
from collections.abc import Iterable

from bertviz_core.models.configuration import LAYERS, Config, config_int
from bertviz_core.models.families import LAYER_NAMES

ADDED = re.compile(r"\.(adapters?|adapter_\w+|lora_\w+|base_layer|distance_embedding|prefix_tuning\w*)(\.|$)")
POSITIONS = "position_embedding_type"
OTHER_LIBRARY = "Give a model that transformers itself can compute, saved with save_pretrained."


def ignored_positions(config: Config) -> str:
    """The kind of positions that a model, or its text model, was trained with and transformers does not compute; ""
    where it does."""
    kinds = ((entries, entries.get(POSITIONS)) for entries in (config, config.get("text_config") or {}))
    return next((str(kind) for entries, kind in kinds if kind not in (None, "absolute") and not _knows(entries)), "")


def _knows(config: Config) -> bool:
    """Whether transformers' configuration of this family has the kind of positions."""
    from bertviz_core.models.libraries import transformers

    family = str(config.get("model_type"))
    if family not in transformers.CONFIG_MAPPING:
        return True  # Such a file is refused, with the reason, when its numbers are read.
    config_class = transformers.CONFIG_MAPPING[family]
    return POSITIONS in {*config_class.__dataclass_fields__, *config_class.attribute_map}


def unused_weight(config: Config, names: Iterable[str]) -> str:
    """The first weight inside the layers of a known family that its model has no place for; "" for none."""
    layer_names = LAYER_NAMES.get(str(config.get("model_type")))
    if layer_names is None:
        return ""
    numbered = re.compile(rf"(?:^|\.){re.escape(layer_names.stack)}\.(\d+)\.")
    layers = config_int(config, LAYERS)
    for name in sorted(names):
        layer = numbered.search(name)
        if layer and (int(layer[1]) >= layers or ADDED.search(name)):
            return name
    return ""


def way_out(config: Config, name: str) -> str:
    """How to mend a model whose files have a weight that nothing uses."""
    layer = re.search(r"\.(\d+)\.", name)
    layers = config_int(config, LAYERS)
    if layer and int(layer[1]) >= layers:
        return (
            f"The number of layers in config.json is {layers:,}: set it to that of the files, or save the model again."
        )
    if re.search(r"base_layer|lora_", name):
        return f"The files have the layers of an adapter ({name}): call merge_and_unload() and save the model again."
    if re.search(r"adapter", name):
        return "Merge the adapter into the model and save it again, or give the model without it."
    return OTHER_LIBRARY
