"""Compares what a model's files say with what transformers computes with, and reports what is not used."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from bertviz_core.errors import ModelError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.checkpoint_files import read_weights
from bertviz_core.models.model import LM_HEAD_CLASSES, classes, missing_lm_head
from bertviz_core.models.unused_weights import way_out
from bertviz_core.numbers import plural

# Arrays that are computed anew, not learned: old versions of transformers saved them.
BUFFERS = re.compile(
    r"(^|\.)(position_ids|causal_mask|token_type_ids|masked_bias|inv_freq|cos_cached|sin_cached|_float_tensor|embed_positions\.weights)$"
)
CAUSAL_MASK = re.compile(r"(^|\.)(attn|attention)\.bias$")  # only where the weight has four axes
POOLER = "pooler."  # It comes after the last layer, so that it changes no map.
# Names of settings that are about attention; a number among them, such as a rate of dropout, is none to mention.
OF_ATTENTION = re.compile(r"attention|attn|position|rotary|alibi|window|softcap|relative")
# Settings of what a model returns, or of the kernel that computes its attention: they change no map.
OF_KERNELS = re.compile(r"^output_attentions$|attn_impl|flash|sdpa|xformers|memory_efficient|backend")


def compare(checkpoint: Checkpoint, model: Any, info: Mapping[str, Any]) -> tuple[str, ...]:
    """What of the files is not used and changes no map, in sentences.

    Args:
        checkpoint: What the model was loaded from.
        model: As transformers has loaded it, with its head or without.
        info: What `from_pretrained` says of the loading.

    Raises:
        ModelError: Weights inside the encoder are missing, of another shape or not used, or a setting of attention is
            ignored; the error names the first one.
    """
    base = "" if model.base_model is model else f"{model.base_model_prefix}."
    _check_missing(checkpoint, base, info, computed=_computed(model))
    _check_shapes(checkpoint, base, info["mismatched_keys"])
    outside = _check_unused(checkpoint, model, info["unexpected_keys"])
    return (*_ignored_settings(checkpoint, model.config), *_unused_head(checkpoint, outside))


def _computed(model: Any) -> set[str]:
    """Names of weights that the model computes itself, positions of sines and cosines, which some files leave out."""
    tables = (name for name, part in model.named_modules() if "Sinusoidal" in type(part).__name__)
    return {f"{name}.weight" for name in tables}


def _check_missing(checkpoint: Checkpoint, base: str, info: Mapping[str, Any], *, computed: Collection[str]) -> None:
    """Raises ModelError for weights that would be drawn at random; only a pooler, or what is `computed`, may be
    missing."""
    learned = (name for name in info["missing_keys"] if name not in computed)
    missing = sorted(name for name in learned if not name.removeprefix(base).startswith(POOLER))
    inside = [name for name in missing if name.startswith(base)]
    if inside:
        what = f"The model {checkpoint.name!r} cannot be loaded: {len(inside):,} weights are not in the files, "
        raise ModelError(f"{what}{inside[0]} first.", hint=_named_otherwise(inside, info["unexpected_keys"]))
    if missing:
        raise missing_lm_head(checkpoint, f"missing weights: {', '.join(missing[:3])}")


def _named_otherwise(missing: Collection[str], unused: Iterable[str]) -> str:
    """A hint from the names of the files' weights: a prefix of all, or an adapter's layers around them."""
    unused = sorted(unused)
    if around := next((name for name in unused if re.search(r"\.(base_layer|lora_[AB])\.", name)), None):
        return f"The files have the layers of an adapter ({around}): call merge_and_unload() and save the model again."
    for name in unused:
        ending = next((each for each in missing if name.endswith(f".{each}")), None)
        prefix = name.removesuffix(ending).split(".")[0] + "." if ending else ""
        if prefix and all(each.startswith(prefix) for each in unused):
            return f"In the files all names begin with `{prefix}`: remove that, or save the model that is inside."
    if unused:
        return f"The files have other names, such as {unused[0]}: config.json may be of another model."
    return "Save the whole model again with save_pretrained."


def _check_shapes(checkpoint: Checkpoint, base: str, mismatched: Iterable[tuple[str, Any, Any]]) -> None:
    """Raises ModelError for a weight whose shape in the files is not that of the configuration."""
    wrong = sorted((name, tuple(saved), tuple(built)) for name, saved, built in mismatched)
    wrong = [each for each in wrong if not each[0].removeprefix(base).startswith(POOLER)]
    if not wrong:
        return
    name, saved, built = wrong[0]
    shapes = f"{name} is {_by(saved)} in the files and {_by(built)} by config.json"
    if not name.startswith(base):
        raise missing_lm_head(checkpoint, shapes)
    hint = "Save model and configuration together with save_pretrained."
    if any((checkpoint.config.get("pruned_heads") or {}).values()):
        hint = "Heads were pruned from it (`pruned_heads`), which is not supported: give the model from before pruning."
    raise ModelError(f"The model {checkpoint.name!r} cannot be loaded: {shapes}.", hint=hint)


def _by(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _check_unused(checkpoint: Checkpoint, model: Any, unused: Iterable[str]) -> list[str]:
    """Names of unused weights outside the encoder; raises ModelError for one inside it that may change maps."""
    encoder = model.base_model
    parts = {name.split(".")[0] for name, _ in (*encoder.named_children(), *encoder.named_parameters())}
    shapes = read_weights(checkpoint.folder)
    inside, outside = list[str](), list[str]()
    for name in sorted(unused):
        inner = name.removeprefix(f"{encoder.base_model_prefix}.")
        is_mask = CAUSAL_MASK.search(name) and len(shapes.get(name, ())) == 4
        if not (BUFFERS.search(name) or is_mask or inner.startswith(POOLER)):
            (inside if inner.split(".")[0] in parts else outside).append(name)
    if not inside:
        return outside
    what = f"The model {checkpoint.name!r} would not be loaded as it was saved: transformers does not use "
    what += f"{inside[0]}" + (f" and {plural(len(inside) - 1, 'further weights')} of its files" if inside[1:] else "")
    raise ModelError(f"{what}, so its maps would be of another model.", hint=way_out(checkpoint.config, inside[0]))


def _ignored_settings(checkpoint: Checkpoint, config: Any) -> Iterable[str]:
    """Settings of attention that transformers does not know for this family; positions were read with the files."""
    text = config.get_text_config()
    for entries in (checkpoint.config, checkpoint.config.get("text_config") or {}):
        for name, value in entries.items():
            is_known = any(name in {*each.__dataclass_fields__, *each.attribute_map} for each in (config, text))
            is_harmless = name.startswith("_") or value == "absolute" or OF_KERNELS.search(name)
            if is_known or is_harmless or not OF_ATTENTION.search(name):
                continue
            if value is True or (value and isinstance(value, str | dict)):
                yield (
                    f"transformers does not know the setting {name} of config.json ({value}) and does not use it: if "
                    "the model was trained with it, these maps are not its own."
                )


def _unused_head(checkpoint: Checkpoint, outside: list[str]) -> Iterable[str]:
    """Weights outside the encoder; a head that predicts words is not mentioned, since losses and ablation use it."""
    if outside and not any(name.endswith(LM_HEAD_CLASSES) for name in classes(checkpoint)):
        kind = ", ".join(classes(checkpoint)) or "a model with a head"
        more = f" and {len(outside) - 1:,} more" if outside[1:] else ""
        yield f"Saved as {kind}: its weights outside the encoder ({outside[0]}{more}) change no map and are not used."
