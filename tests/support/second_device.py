"""A second device in torch, "sim", that computes on the CPU but refuses what a GPU refuses: operations that mix
devices, numpy on its tensors, and float64 where it is told so, as on Apple's GPUs. What waits for a GPU is counted.

With BERTVIZ_TEST_DEVICE=cuda the tests that use it run on that GPU in its place; waits are not counted there.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = os.environ.get("BERTVIZ_TEST_DEVICE", "sim")
SIMULATED = NAME == "sim"
if SIMULATED:  # beside a real device, a second backend breaks autograd
    _setup_privateuseone_for_python_backend("sim")
    torch.sim.empty_cache = lambda: None
DEVICE = torch.device("sim", 0) if SIMULATED else torch.device(NAME)
aten = torch.ops.aten
MOVES = {aten._to_copy.default, aten.copy_.default, aten._local_scalar_dense.default}
INDEXED = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}
# The size of what they return depends on values, so the host waits for these.
SIZED_BY_VALUES = {aten.nonzero.default, aten.masked_select.default, aten._unique2.default, aten.equal.default}
NO_NUMPY = "can't convert sim:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
waits: Counter[str] = Counter()  # by what the host waited for, since `active` began
_has_float64 = True


class Sim(torch.Tensor):
    """A tensor of the device; `raw` has its values on the CPU."""

    raw: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, raw: torch.Tensor, requires_grad: bool = False) -> Any:
        if isinstance(raw, Sim) or raw.is_meta:  # accelerate makes parameters by the class of those before
            return torch.nn.Parameter(raw, requires_grad=requires_grad)
        if raw.dtype == torch.float64 and not _has_float64:
            raise TypeError("Cannot convert a sim Tensor to float64 dtype as the framework doesn't support float64.")
        layout = {"strides": raw.stride(), "storage_offset": raw.storage_offset()}
        tensor = torch.Tensor._make_wrapper_subclass(cls, raw.shape, dtype=raw.dtype, device=DEVICE, **layout)
        tensor.raw = raw
        return tensor

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return dispatch(function, args, dict(kwargs or {}))

    def __repr__(self, **_: Any) -> str:
        return f"Sim({self.raw})"

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError(NO_NUMPY)

    __array__ = numpy

    def tolist(self) -> Any:
        waits["tolist"] += 1
        return self.raw.tolist()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Sim":
        return memo.setdefault(id(self), Sim(self.raw.clone()))

    def data_ptr(self) -> int:
        return self.raw.data_ptr()

    def new_tensor(self, data: Any, **options: Any) -> torch.Tensor:
        return torch.tensor(data, dtype=options.get("dtype") or self.dtype).to(DEVICE)


class _Factories(TorchDispatchMode):
    """Copies to the device, and tensors that begin there, in which no tensor of the device takes part."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return dispatch(function, args, dict(kwargs or {}))


class _Literals(torch.overrides.TorchFunctionMode):
    """`torch.tensor` and `torch.as_tensor` with a device: made on the CPU, then copied."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        device = kwargs.get("device")
        if function in (torch.tensor, torch.as_tensor) and device is not None and torch.device(device).type == "sim":
            return function(*args, **{**kwargs, "device": None}).to(DEVICE)
        return function(*args, **kwargs)


@contextmanager
def active(float64: bool = True) -> Iterator[Counter[str]]:
    """Code in which the device can be used; gives what the host has waited for."""
    global _has_float64  # noqa: PLW0603
    if not SIMULATED:
        yield waits
        return
    inference_mode = torch.autograd.grad_mode.inference_mode
    entered = inference_mode.__enter__
    overwrite = torch.__future__.get_overwrite_module_params_on_conversion()
    torch.__future__.set_overwrite_module_params_on_conversion(True)  # a wrapper's data cannot be replaced
    # Wrappers of inference tensors have no versions. By the class, because functions were decorated with it before.
    inference_mode.__enter__ = _enter_no_grad
    _has_float64 = float64
    waits.clear()
    try:
        with _Literals(), _Factories():
            yield waits
    finally:
        _has_float64 = True
        inference_mode.__enter__ = entered
        torch.__future__.set_overwrite_module_params_on_conversion(overwrite)


def _enter_no_grad(context: torch.inference_mode) -> None:
    context._inference_mode_context = torch.set_grad_enabled(not context.mode)
    context._inference_mode_context.__enter__()


def dispatch(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Compute on the CPU; raises RuntimeError as a GPU does where devices are mixed."""
    tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    ours = [each for each in tensors if isinstance(each, Sim)]
    device = kwargs.get("device")
    to_sim = bool(ours) if device is None else torch.device(device).type == "sim"
    if ours:
        _check(function, args, tensors)
        _count(function, args, kwargs, to_sim)
    if function is aten.copy_.default:
        _raw(args[0]).copy_(_raw(args[1]))
        return args[0]
    if device is not None and to_sim:
        kwargs["device"] = torch.device("cpu")
    known = {id(each.raw): each for each in ours}
    result = function(*tree_map(_raw, args), **tree_map(_raw, kwargs))

    def wrapped(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return known.get(id(value)) if id(value) in known else Sim(value) if to_sim else value

    return tree_map(wrapped, result)


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, Sim) else value


def _check(function: Any, args: Any, tensors: list[torch.Tensor]) -> None:
    """A GPU takes numbers, and indices of its own tensors, from the host; nothing else."""
    if function in MOVES:
        return
    foreign = [each for each in tensors if not isinstance(each, Sim) and each.dim() > 0]
    if function in INDEXED and isinstance(args[0], Sim):
        foreign = [each for each in foreign if each.dtype not in (torch.int64, torch.bool)]
    if foreign:
        what = "Expected all tensors to be on the same device, but found at least two devices, sim:0 and cpu!"
        raise RuntimeError(f"{what} ({function})")


def _count(function: Any, args: Any, kwargs: dict[str, Any], to_sim: bool) -> None:
    is_copy = function is aten._to_copy.default and not to_sim
    is_copy |= function is aten.copy_.default and not isinstance(args[0], Sim)
    if is_copy:
        source = args[1] if function is aten.copy_.default else args[0]
        if source.dtype != kwargs.get("dtype", source.dtype) == torch.float64 and not _has_float64:
            raise TypeError("The framework doesn't support float64, even on the way to the CPU.")
        waits["copy"] += 1
    by_mask = function in INDEXED and any(
        isinstance(each, torch.Tensor) and each.dtype == torch.bool for each in args[1]
    )
    if by_mask or function in SIZED_BY_VALUES or function is aten._local_scalar_dense.default:
        waits[str(function)] += 1
