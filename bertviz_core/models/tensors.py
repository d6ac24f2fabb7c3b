"""The type of PyTorch's tensors, for modules that describe what is on a device but are read without PyTorch: a page
whose result is stored opens before PyTorch could have been imported."""

from typing import TYPE_CHECKING, Any

__all__ = ["Tensor"]

if TYPE_CHECKING:
    from torch import Tensor
else:
    Tensor = Any
