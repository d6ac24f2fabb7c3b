"""Describes what the computation of a model in memory depends on besides its weights, so that equal models share
results, and finds code in it that cannot be described."""

import hashlib
import sys
import types
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import torch

from bertviz_core.errors import ModelError
from bertviz_core.models.dispatched import has_waiting_weights
from bertviz_core.models.torch_internals import (
    attention_implementation,
    computes_as_its_class,
    forward_before_accelerate,
    has_global_hooks,
    hooks,
    is_replaced_by_accelerate,
    own_attributes,
    unsaved_buffers,
)

KNOWN = ("torch", "transformers", "peft")  # packages whose code is that of their version
# Attributes that change no result of a model in evaluation mode.
VOLATILE = {*vars(torch.nn.Module()), "gradient_checkpointing", "name_or_path", "_is_hf_initialized"}
VOLATILE |= {"_output_capturing_hooks_installed", "warnings_issued", "generation_config", "hf_device_map"}
VOLATILE |= {"_compiled_call_impl", "_is_torch_compile", "_is_accelerate_prepared"}
# Classes that run the model inside them as it is, compiled or in several places, and where it is in them.
WRAPPERS = {"OptimizedModule": "_orig_mod", "DataParallel": "module", "DistributedDataParallel": "module"}
WHOLE = "Load the model with from_pretrained."
BEFORE = "Give the model that it was made of, before it was quantized."
OF_LONGEST_INPUT = ("inv_freq", "max_seq_len_cached")  # buffers of rotary positions that each input decides anew


def describe_parts(model: torch.nn.Module) -> list[Any]:
    """For each part of a model its class, its plain attributes and its buffers that are not saved, as JSON."""
    return [[name, _name_of(type(part)), _attributes(part)] for name, part in model.named_modules()]


def _attributes(part: torch.nn.Module) -> dict[str, Any]:
    if type(part).__module__ == "torch.nn.modules.dropout":  # Dropout does nothing in evaluation mode.
        return {}
    unsaved = unsaved_buffers(part)
    kinds = getattr(part, "rope_type", None)
    changing = OF_LONGEST_INPUT if any(kind in str(kinds) for kind in ("dynamic", "longrope")) else ()
    described = {}
    for name, value in (own_attributes(part) | unsaved).items():
        is_original = name.endswith("original_inv_freq")
        if name in VOLATILE or "dropout" in name or (name.endswith(changing) and not is_original):
            continue
        described[name] = _plain(value)
    return described


def _plain(value: object) -> Any:
    """A value as JSON, by what it is and not where it is; of an object of another kind its class alone."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, torch.Tensor):
        data = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        return [str(value.dtype), list(value.shape), hashlib.sha256(data).hexdigest()]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return _name_of(value if isinstance(value, types.FunctionType) else type(value))


def _name_of(kind: type | types.FunctionType) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def unknown_code(model: torch.nn.Module) -> str:
    """Which code of a model is not that of a known package, as a phrase: hooks, replaced functions, own classes; "" for
    none. Equal descriptions then do not mean equal results."""
    if has_global_hooks():
        return "hooks on all modules"
    classes = set()
    for name, part in model.named_modules():
        where = f"`{name}`" if name else "the model"
        if not all(map(_is_known, hooks(part))):
            return f"a hook on {where}"
        for attribute, value in own_attributes(part).items():
            if attribute == "forward" or (_is_function(value) and not _is_known(value)):
                return f"a function of its own (`{attribute}`) in {where}"
        if type(part) not in classes and not _has_known_code(type(part)):
            return f"the class {type(part).__qualname__} of {where}"
        classes.add(type(part))
    return ""


def _is_function(value: object) -> bool:
    return isinstance(value, types.FunctionType | types.MethodType | partial)


def _is_known(code: object) -> bool:
    """Whether a function, a method or a callable object is of a known package."""
    if isinstance(code, partial):
        return _is_known(code.func)
    module = getattr(code, "__module__", None) or type(code).__module__
    return module.partition(".")[0] in KNOWN


def _has_known_code(kind: type) -> bool:
    """Whether a class, with its bases, is of known packages, and none of its functions was replaced."""
    bases = [base for base in kind.__mro__ if base.__module__ not in ("builtins", "typing", "abc")]
    functions = (each for base in bases for each in vars(base).values() if isinstance(each, types.FunctionType))
    return all(map(_is_known, bases)) and all(map(_is_known, functions))


def check_copy(model: torch.nn.Module) -> None:
    """Raises ModelError where a copy of the model would compute with parts of the original: a replaced `forward`, or a
    hook, that refers to them."""
    parts = set(model.modules())
    for name, part in model.named_modules():
        for code in (*hooks(part), *filter(_is_function, own_attributes(part).values())):
            if any(each in parts for each in _modules_of(code)):
                what = f"A function that replaces code of `{name or type(model).__name__}` refers to the model itself"
                hint = "Write it as a method (types.MethodType), or as a hook that uses the module that it is given."
                raise ModelError(
                    f"{what}, so that a copy, which is analyzed, would compute with the original.", hint=hint
                )


def _modules_of(code: object) -> Iterator[torch.nn.Module]:
    """The modules that a plain function refers to; methods and partials are copied with theirs."""
    if not isinstance(code, types.FunctionType) or _is_known(code):
        return
    cells = [cell.cell_contents for cell in code.__closure__ or () if cell != types.CellType()]
    named = [code.__globals__[name] for name in code.__code__.co_names if name in code.__globals__]
    yield from _modules_among((*cells, *named, *(code.__defaults__ or ())))


def _modules_among(values: Iterable[object]) -> Iterator[torch.nn.Module]:
    for value in values:
        owner = value.__self__ if isinstance(value, types.MethodType) else value
        if isinstance(owner, torch.nn.Module):
            yield owner


def unwrapped(model: Any) -> Any:
    """The model inside one that is compiled or parallel, and inside one of PEFT's with its adapters.

    Raises:
        ModelError: The adapters are not in its layers.
    """
    model = _without_wrappers(model)
    inner = _without_peft(model)
    return model if inner is model else unwrapped(inner)


def with_adapters(model: Any) -> Any:
    """The model of PEFT inside one that is compiled or parallel; None where there is none."""
    model = _without_wrappers(model)
    return None if _without_peft(model) is model else model


def _without_wrappers(model: Any) -> Any:
    while type(model).__module__.startswith("torch.") and type(model).__name__ in WRAPPERS:
        model = getattr(model, WRAPPERS[type(model).__name__])
    return model


def _without_peft(model: Any) -> Any:
    """The model inside one of PEFT's, with its adapters; any other model itself."""
    peft = sys.modules.get("peft")
    if peft is None or not isinstance(model, peft.PeftModel | peft.PeftMixedModel):
        return model
    from peft.tuners.tuners_utils import BaseTuner

    tuner = model.base_model
    if not (isinstance(tuner, BaseTuner) and type(tuner).forward is BaseTuner.forward):
        why = "an adapter that is not in the layers of its model"
    elif not all(map(computes_as_its_class, (model, tuner))):
        why = "hooks or functions of its own around its model"
    else:
        return model.get_base_model()
    what = f"The {type(model).__name__} has {why}, which would be left out."
    raise ModelError(what, hint="Call merge_and_unload() where that can be done, or give the base model.")


def check_attention_functions(model: torch.nn.Module) -> None:
    """Raises ModelError where attention, or its mask, is computed by a function that was registered in transformers in
    place of its own, for this model or for all: a model's description does not have it, nor do our maps."""
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    for name in dict.fromkeys((attention_implementation(model), "eager")):
        for registered in (ALL_ATTENTION_FUNCTIONS, ALL_MASK_ATTENTION_FUNCTIONS):
            function = registered.get(name)
            if function is not None and not (_is_known(function) or function.__module__.startswith("bertviz_core.")):
                what = f"Attention is computed by the function {_plain(function)}, registered as {name!r}"
                hint = "Restore the function of transformers, or choose it with model.set_attn_implementation('eager')."
                raise ModelError(f"{what}: its maps cannot be known from the model.", hint=hint)


def check_parts(model: torch.nn.Module) -> None:
    """Raises ModelError for a model whose weights are not all there, or are not numbers that can be read as they are,
    and for one whose forward function was replaced so that it cannot be found again."""
    name = type(model).__name__
    unloaded = [weight for weight, values in model.named_parameters() if values.is_meta]
    if unloaded and not has_waiting_weights(model):
        what = f"Weights of the {name} are on the device `meta`, which holds no numbers"
        raise ModelError(f"{what} ({unloaded[0]} first).", hint=WHOLE)
    if getattr(model, "is_quantized", False):
        raise ModelError(f"The weights of the {name} are quantized.", hint=BEFORE)
    for path, part in model.named_modules():
        if type(part).__module__.startswith(("torch.ao.", "torchao.", "bitsandbytes.")):
            what = f"Parts of the {name} are quantized (`{path}` is a {type(part).__name__})"
            raise ModelError(f"{what}: its weights cannot be read.", hint=BEFORE)
        if is_replaced_by_accelerate(part) and forward_before_accelerate(part) is not type(part).forward:
            what = f"accelerate has replaced the forward of `{path or name}`, and the one before cannot be found"
            raise ModelError(f"{what}.", hint="Give accelerator.unwrap_model(model, keep_fp32_wrapper=False).")
