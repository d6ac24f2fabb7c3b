"""A model that can be observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.tokens import Tokens

if TYPE_CHECKING:
    from torch import Tensor

CPU_BATCH_TOKENS = 512  # past this a CPU's caches overflow
GPU_BATCH_TOKENS = 65_536


@dataclass
class AttentionModel:
    """An encoder with per-head attention, in evaluation mode, its parameters frozen.

    Attributes:
        observable: The family calls the registered attention function; otherwise maps come the ordinary way.
        causal: A token sees only itself and what stands before it.
        masked_lm: The model with its masked-word head, of which `encoder` is the base; None where it was not asked for.
        factors: What norms need of each layer, see `norms.output_factors`; None where attention weights are observed.
    """

    checkpoint: Checkpoint
    encoder: Any
    tokens: Tokens
    device: str
    layers: int
    heads: int
    has_types: bool
    observable: bool = True
    causal: bool = False
    masked_lm: Any = None
    factors: tuple[Tensor, ...] | None = None

    @property
    def batch_tokens(self) -> int:
        return CPU_BATCH_TOKENS if self.device == "cpu" else GPU_BATCH_TOKENS
