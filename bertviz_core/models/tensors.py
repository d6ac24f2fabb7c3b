"""The type of PyTorch's tensors, for modules that are imported where PyTorch is not, as by pages of stored results."""

from typing import TYPE_CHECKING, Any

__all__ = ["Tensor"]

if TYPE_CHECKING:
    from torch import Tensor
else:
    Tensor = Any
