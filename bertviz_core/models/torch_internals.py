"""Private names of PyTorch and transformers: what a module runs besides its own code, its buffers that are not
saved, and the function that computes a model's attention."""

from typing import Any

from torch import Tensor, nn
from torch.nn.modules import module as modules

OF_ACCELERATE = ("forward", "_original_forward", "_old_forward", "_hf_hook")
MOVING = ("to", "cuda", "npu", "xpu", "mlu", "sdaa", "musa", "neuron")  # methods that accelerate guards


def hooks(module: nn.Module) -> list[Any]:
    """Functions that run before or after a module's forward."""
    return [*module._forward_pre_hooks.values(), *module._forward_hooks.values()]


def has_global_hooks() -> bool:
    """Whether functions run before or after the forward of every module."""
    return bool(modules._global_forward_pre_hooks or modules._global_forward_hooks)


def computes_as_its_class(module: nn.Module) -> bool:
    """Whether nothing but its class decides what a module computes: no hook, no replaced forward but accelerate's."""
    return not hooks(module) and "forward" not in own_attributes(module)


def is_replaced_by_accelerate(module: nn.Module) -> bool:
    """Whether accelerate has put a forward of its own around that of the module's class: for another precision, or to
    move inputs between devices."""
    attributes = vars(module)
    replaced = attributes.get("forward")
    code = getattr(replaced, "__func__", None) or getattr(replaced, "func", None) or replaced
    return str(getattr(code, "__module__", "")).partition(".")[0] == "accelerate"


def forward_before_accelerate(module: nn.Module) -> Any:
    """The function that accelerate has put its own around."""
    attributes = vars(module)
    original = attributes.get("_original_forward", attributes.get("_old_forward"))
    return getattr(original, "__func__", None)


def own_attributes(module: nn.Module) -> dict[str, Any]:
    """A module's attributes, without what accelerate has added around the forward of its class, and around methods that
    move it."""
    if not is_replaced_by_accelerate(module) or forward_before_accelerate(module) is not type(module).forward:
        return vars(module)
    added = {*OF_ACCELERATE, *_guards(module)}
    return {name: value for name, value in vars(module).items() if name not in added}


def _guards(module: nn.Module) -> list[str]:
    """The names of a module's methods that accelerate has replaced by functions that guard them."""
    scopes = {name: getattr(vars(module).get(name), "__globals__", {}) for name in MOVING}
    return [name for name, scope in scopes.items() if str(scope.get("__name__")).startswith("accelerate.")]


def remove_guards(module: nn.Module) -> None:
    """Let a module be moved by the methods of its class again: the functions of accelerate would move the one that it
    was copied from."""
    for name in _guards(module):
        delattr(module, name)


def restore_forward(module: nn.Module) -> None:
    """Remove from a module what accelerate has added around the forward of its class."""
    for name in vars(module).keys() - own_attributes(module).keys():
        delattr(module, name)


def unsaved_buffers(module: nn.Module) -> dict[str, Tensor]:
    """A module's own buffers, of any shape, that are not in its files, such as rotary frequencies, by name."""
    return {name: module._buffers[name] for name in module._non_persistent_buffers_set}  # type: ignore[misc]


def unsplit_classes(model: Any) -> tuple[str, ...]:
    """The names of classes whose modules transformers says must be on one device."""
    return tuple(model._no_split_modules or ())


def attention_implementation(model: Any) -> str:
    """The name under which a model of transformers looks up its attention function, such as "sdpa"."""
    return model.config._attn_implementation


def compute_eagerly(config: Any) -> Any:
    """A configuration of transformers, set to eager attention: one that a file names would have the last word."""
    config._attn_implementation = "eager"
    return config


def is_known_by(auto: Any, config: Any) -> bool:
    """Whether one of transformers' classes that choose a class of models has one for a configuration."""
    return type(config) in auto._model_mapping


def matches_images(config: Any) -> bool:
    """Whether a model of this configuration compares texts with images, as CLIP does."""
    import transformers

    return is_known_by(transformers.AutoModelForZeroShotImageClassification, config)


def class_of(config: Any) -> Any:
    """The class of transformers that has a model of this configuration, without further heads where there is one; None
    where none does."""
    import transformers

    pairs = (transformers.AutoModelForSeq2SeqLM, transformers.AutoModelForImageTextToText)
    for auto in (transformers.AutoModel, *pairs, transformers.AutoModelForSpeechSeq2Seq):
        if is_known_by(auto, config):
            kind: Any = auto._model_mapping[type(config)]
            return kind[0] if isinstance(kind, tuple) else kind
    return None
