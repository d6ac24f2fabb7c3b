"""Private names of PyTorch and transformers: what a module runs besides its own code, its buffers that are not
saved, and the function that computes a model's attention."""

from typing import Any

from torch import Tensor, nn
from torch.nn.modules import module as modules


def hooks(module: nn.Module) -> list[Any]:
    """Functions that run before or after a module's forward."""
    return [*module._forward_pre_hooks.values(), *module._forward_hooks.values()]


def has_global_hooks() -> bool:
    """Whether functions run before or after the forward of every module."""
    return bool(modules._global_forward_pre_hooks or modules._global_forward_hooks)


def computes_as_its_class(module: nn.Module) -> bool:
    """Whether nothing but its class decides what a module computes: no hook, no replaced forward."""
    return not hooks(module) and "forward" not in vars(module)


def unsaved_buffers(module: nn.Module) -> dict[str, Tensor]:
    """A module's own buffers, of any shape, that are not in its files, such as rotary frequencies, by name."""
    return {name: module._buffers[name] for name in module._non_persistent_buffers_set}  # type: ignore[misc]


def attention_implementation(model: Any) -> str:
    """The name under which a model of transformers looks up its attention function, such as "sdpa"."""
    return model.config._attn_implementation


def compute_eagerly(config: Any) -> Any:
    """A configuration of transformers, set to eager attention: one that a file names would have the last word."""
    config._attn_implementation = "eager"
    return config
