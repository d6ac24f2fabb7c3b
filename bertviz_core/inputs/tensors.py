"""Tensor helpers that do not import torch at import time: the type for annotations, the device of float64 sums, and one
copy of many tensors to the host."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

__all__ = ["Tensor", "at_least_float32", "device_of_sums", "in_float64", "to_host"]

if TYPE_CHECKING:
    from torch import Tensor
else:
    Tensor = Any


@cache
def device_of_sums(device: str) -> str:
    """Where float64 sums are kept: on the device, or on the CPU where it lacks the type, as Apple's GPUs do."""
    import torch

    try:
        torch.zeros(1, device=device).double()
    except TypeError:
        return "cpu"
    return device


def in_float64(values: Tensor) -> Tensor:
    """Values of any shape in float64, on their device where it has this type, otherwise on the CPU."""
    return values.to(device_of_sums(str(values.device))).double()


def to_host(tensors: Sequence[Tensor]) -> list[np.ndarray]:
    """Tensors of one type, of any shapes, as arrays, by a single copy."""
    import torch

    if not tensors:
        return []
    if tensors[0].device.type == "cpu":
        return [tensor.numpy() for tensor in tensors]
    joined = torch.cat([tensor.reshape(-1) for tensor in tensors]).cpu().numpy()
    ends = np.cumsum([tensor.numel() for tensor in tensors])
    parts = np.split(joined, ends[:-1])
    return [part.reshape(tuple(tensor.shape)) for part, tensor in zip(parts, tensors, strict=True)]


def at_least_float32(values: Tensor) -> Tensor:
    """Values of any shape in float32, or unchanged if float64."""
    return values if values.dtype.itemsize > 4 else values.float()
