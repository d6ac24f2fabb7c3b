"""Models in several places: their layers are on several devices, or their weights wait in memory or on the disk until a
layer runs. accelerate's hooks move inputs and weights there (`_hf_hook` of a module); what is observed comes back to
one device, that of the embeddings, so that analyses see a model as if it were whole."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from bertviz_core.errors import ModelError
from bertviz_core.inputs.tensors import Tensor


def alignments(module: Any) -> list[Any]:
    """The hooks of accelerate that move a module's inputs and weights; none of any other module."""
    hook = vars(module).get("_hf_hook")
    return [each for each in getattr(hook, "hooks", (hook,)) if type(each).__name__ == "AlignDevicesHook"]


def device_of(module: Any) -> str | None:
    """Where accelerate runs a module; None where it does not decide that."""
    import torch

    devices = [hook.execution_device for hook in alignments(module) if hook.execution_device is not None]
    return str(torch.device(devices[-1])) if devices else None


def has_waiting_weights(model: Any) -> bool:
    """Whether weights are elsewhere until the module that has them runs."""
    return any(hook.offload for part in model.modules() for hook in alignments(part))


def is_dispatched(model: Any) -> bool:
    """Whether a model is in several places."""
    return has_waiting_weights(model) or len({device_of(part) for part in model.modules()} - {None}) > 1


def main_device(model: Any) -> str:
    """The device of a model's embeddings, of a model that accelerate has dispatched."""
    for part in (model.get_input_embeddings(), *model.modules()):
        if (device := device_of(part)) is not None:
            return device
    return str(next(model.parameters()).device)


def read_weight(model: Any, name: str) -> Tensor:
    """A weight of any shape, by its name in a model or a module, also where it waits elsewhere; in its own type.

    Raises:
        ModelError: It is on the device `meta`, and no hook knows its values.
    """
    path = name.split(".")
    value: Tensor = getattr(model.get_submodule(".".join(path[:-1])), path[-1])
    if not value.is_meta:
        return value.detach()
    for depth in range(len(path) - 1, -1, -1):
        for hook in alignments(model.get_submodule(".".join(path[:depth]))):
            with suppress(KeyError):
                if hook.offload:
                    return hook.weights_map[".".join(path[depth:])].to(value.dtype)
    raise ModelError(
        f"The weight {name} is on the device `meta`, which holds no numbers.", hint="Load the model whole."
    )


def weight_of(module: Any, device: Any, name: str = "weight") -> Tensor | None:
    """A module's own weight of any shape, on a device; None where the module has none of this name."""
    return None if getattr(module, name, None) is None else read_weight(module, name).to(device)


def gather_outputs(module: Any, device: str) -> None:
    """Let a module of a dispatched model give its outputs on one device."""

    def gather(_module: Any, _args: Any, output: Any) -> Any:
        return move(output, device)

    module.register_forward_hook(gather)


def move(values: Any, device: str) -> Any:
    """Tensors on a device, also those in what a model of transformers returns."""
    import torch

    if isinstance(values, torch.Tensor):
        return values.to(device)
    if isinstance(values, dict):  # The outputs of transformers are dictionaries that are filled by their fields.
        for name, value in values.items():
            values[name] = move(value, device)
        return values
    return tuple(move(each, device) for each in values) if isinstance(values, tuple) else values


def check_copies(model: Any, name: str) -> None:
    """Raises ModelError for a model in several places, of which another one of its size finds no room."""
    if is_dispatched(model):
        what = f"{name!r} is in several places, and the random control is a second model of its size"
        raise ModelError(f"{what}.", hint="Choose --dtype bfloat16, in which it may fit one, or a smaller model.")


def check_gradients(model: Any, device: str) -> None:
    """Raises ModelError for weights of 4 bits on a CPU, where bitsandbytes gives wrong gradients without a word."""
    if device == "cpu" and getattr(model, "is_loaded_in_4bit", False):
        what = "bitsandbytes computes no gradients through weights of 4 bits on a CPU"
        raise ModelError(f"{what}.", hint="Choose --dtype int8, or a GPU.")


@contextmanager
def reread_weights(model: Any) -> Iterator[None]:
    """Let the graph of the passes of a `with` block refer to waiting weights, in place of holding those of all layers:
    the pass back, also after the block, reads them again."""
    import torch

    current: list[Any] = [None]  # the module with waiting weights that began last

    def begin(module: Any, _args: Any) -> None:
        current[0] = module

    def pack(tensor: Tensor) -> Any:
        weights = current[0]._parameters if current[0] is not None and not tensor.requires_grad else {}
        for name, weight in weights.items():
            if weight is not None and not weight.is_meta and weight.data_ptr() == tensor.data_ptr():
                return current[0], name, tensor.device, (tensor.size(), tensor.stride())
        return tensor

    def unpack(packed: Any) -> Tensor:
        if isinstance(packed, torch.Tensor):
            return packed
        module, name, device, layout = packed
        return read_weight(module, name).to(device).as_strided(*layout)

    with ExitStack() as hooks:
        for part in model.modules():
            if any(hook.offload for hook in alignments(part)):
                hooks.callback(part.register_forward_pre_hook(begin).remove)
        if has_waiting_weights(model):
            hooks.enter_context(torch.autograd.graph.saved_tensors_hooks(pack, unpack))
        yield
