"""Copies a model in memory, so that what is observed leaves the caller's own as it is."""

from copy import deepcopy
from typing import Any

from bertviz_core.errors import SettingsError
from bertviz_core.models.devices import choose_device
from bertviz_core.models.dispatched import alignments, is_dispatched


def place_of_copy(model: Any, device: str) -> str | None:
    """The device of the copy of a model in memory; None for one in several places, where the copy is too."""
    if not is_dispatched(model):
        return str(next(model.parameters()).device) if device == "auto" else choose_device(device)
    if device != "auto":
        what = f"The model is in several places, and not moved to {device}"
        raise SettingsError(f"{what}.", hint='Give device="auto", under which it stays where it is.')
    return None


def copy_sharing_weights(model: Any) -> Any:
    """A copy that shares its weights, also those that wait elsewhere; without what accelerate has put around the model,
    unless that is in several places."""
    import torch

    from bertviz_core.models.torch_internals import remove_guards, restore_forward

    hooks = [hook for part in model.modules() for hook in alignments(part)]
    maps = [each for hook in hooks for each in (hook.weights_map, hook.tied_params_map) if each is not None]
    shared: dict[int, Any] = {id(each): each for each in maps}
    shared |= {id(each): torch.nn.Parameter(_data(each), requires_grad=False) for each in model.parameters()}
    copied = deepcopy(model, shared)
    take_off = remove_guards if is_dispatched(model) else restore_forward
    for part in copied.modules():
        take_off(part)
    return copied


def _data(parameter: Any) -> Any:
    """A parameter's data; of one that was made in inference mode a copy, through which gradients can pass."""
    return parameter.data.clone() if parameter.is_inference() else parameter.data


def cast_exactly(model: Any, device: str | None, dtype: Any) -> Any:
    """The model there, None for where it is, and in this type, but for rotary frequencies, which stay exact as in a
    model from files."""
    from bertviz_core.models.torch_internals import unsaved_buffers

    exact = [(part, name, buffer) for part in model.modules() for name, buffer in unsaved_buffers(part).items()]
    model.to(device=device, dtype=dtype)
    for part, name, buffer in exact:
        if name.endswith("inv_freq"):
            setattr(part, name, buffer if device is None else buffer.to(device))
    return model
