"""What surrounds a call in the caller's program, such as autocast, changes no number: passes run as if it were not."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def standard_arithmetic() -> Iterator[None]:
    """Let PyTorch compute as it does by default in a `with` block; afterwards everything is as it was.

    There is no autocast, the types are those of the tensors, gradients are computed where they are asked for, products
    of float32 have its precision, new tensors are on the CPU, and no operation is refused for being nondeterministic.
    """
    import torch

    with ExitStack() as stack:
        for device in ("cpu", "cuda", "mps"):
            if torch.is_autocast_enabled(device):
                stack.enter_context(torch.autocast(device, enabled=False))
        if torch.is_inference_mode_enabled():
            stack.enter_context(torch.inference_mode(False))
        if not torch.is_grad_enabled():
            stack.enter_context(torch.enable_grad())
        _restore_after(stack, torch.get_default_dtype(), torch.float32, torch.set_default_dtype)
        backends: Any = torch.backends  # Its modules have members that mypy does not see.
        for products in (backends.cuda.matmul, backends.mkldnn.matmul):
            if products.fp32_precision in ("tf32", "bf16"):  # The precision that "medium" and "high" set, too.
                stack.callback(setattr, products, "fp32_precision", products.fp32_precision)
                products.fp32_precision = "ieee"
        level = torch.get_deterministic_debug_mode()
        _restore_after(stack, level, 0, torch.set_deterministic_debug_mode)
        if torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        yield


def _restore_after(stack: ExitStack, now: R, standard: R, set_to: Callable[[R], object]) -> None:
    """Set what is set for the whole process to its standard, until the stack ends; touch nothing that has it."""
    if now != standard:
        set_to(standard)
        stack.callback(set_to, now)


def in_standard_arithmetic(function: Callable[P, R]) -> Callable[P, R]:
    """A function that computes in `standard_arithmetic`."""

    @wraps(function)
    def computing(*args: P.args, **kwargs: P.kwargs) -> R:
        with standard_arithmetic():
            return function(*args, **kwargs)

    return computing
