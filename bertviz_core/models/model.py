"""A model that can be observed, through its attention weights or through norms.

Norm-based attention says how much of what a token receives comes from where (Kobayashi et al. 2020): through a head,
token j passes A[i, j] f(x_j) to token i, with f(x) = (x W_V + b_V) W_O^h and W_O^h the head's own rows of the output
projection, whose bias is left out. Definitions: docs/methods.md, section 11.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bertviz_core.errors import ModelError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.tokens import Tokens
from bertviz_core.settings import Weights

if TYPE_CHECKING:
    from torch import Tensor

CPU_BATCH_TOKENS = 512  # past this a CPU's caches overflow
GPU_BATCH_TOKENS = 65_536
BERT = "encoder.layer.{}.attention.output.dense"
LLAMA = "layers.{}.self_attn.o_proj"
OUTPUTS = {  # family -> name, in the encoder, of the output projection of a layer's attention
    "bert": BERT,
    "camembert": BERT,
    "distilbert": "transformer.layer.{}.attention.out_lin",
    "electra": BERT,
    "roberta": BERT,
    "xlm-roberta": BERT,
    "gpt2": "h.{}.attn.c_proj",
    **dict.fromkeys(("llama", "mistral", "mixtral", "qwen2", "qwen3", "smollm3"), LLAMA),
}


@dataclass
class AttentionModel:
    """An encoder with per-head attention, in evaluation mode, its parameters frozen.

    Attributes:
        observable: The family calls the registered attention function; otherwise maps come the ordinary way.
        causal: A token sees only itself and what stands before it.
        language_model: The model with the head that predicts masked or next words, of which `encoder` is the base; None
            where it was not asked for.
        factors: What norms need of each layer, see `output_factors`; None where attention weights are observed.
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
    language_model: Any = None
    factors: tuple[Tensor, ...] | None = None

    @property
    def batch_tokens(self) -> int:
        return CPU_BATCH_TOKENS if self.device == "cpu" else GPU_BATCH_TOKENS


def check_norms(checkpoint: Checkpoint, weights: Weights) -> None:
    """Raises ModelError where norms are asked for and the family's output projection is not known."""
    family = checkpoint.config.get("model_type")
    if weights == "norms" and family not in OUTPUTS:
        raise ModelError(
            f"Norms are not known for models of the family {str(family)!r}, such as {checkpoint.name!r}.",
            hint=f"Choose attention weights, or a model of one of these families: {', '.join(OUTPUTS)}.",
        )


def observing(model: AttentionModel, weights: Weights) -> AttentionModel:
    """A model that is observed through attention weights or through norms; raises ModelError as `check_norms` does."""
    check_norms(model.checkpoint, weights)
    return replace(model, factors=output_factors(model) if weights == "norms" else None)


def output_factors(model: AttentionModel) -> tuple[Tensor, ...]:
    """Factor R^T of every layer, (head, width, width), with W_O^hT = Q R: |v W_O^h| = |v R^T| for any v, without the
    vector."""
    import torch

    factors = []
    for layer in range(model.layers):
        name = OUTPUTS[model.encoder.config.model_type].format(layer)
        module = model.encoder.get_submodule(name)
        transposed = hasattr(module, "nf")  # in GPT-2's kind of linear layer
        weight = (module.weight.T if transposed else module.weight).float()  # (hidden, head and width)
        by_head = weight.unflatten(1, (model.heads, -1)).movedim(1, 0)  # (head, hidden, width)
        factors.append(torch.linalg.qr(by_head, mode="r").R.mT.contiguous())
    return tuple(factors)


def vector_norms(value: Tensor, factor: Tensor) -> Tensor:
    """(batch, head, key): |f(x_j)|, from the values (batch, head, key, width) and one layer's factors."""
    return (value.to(factor.dtype) @ factor).norm(dim=-1)


def norm_logits(logits: Tensor, norms: Tensor) -> Tensor:
    """Scores (batch, head, query, key) whose softmax is N[i, j] = A[i, j] |f(x_j)| / sum_k A[i, k] |f(x_k)|: those of A
    and log |f(x_j)|. A masked score, the lowest number that there is, stays as it is."""
    import torch

    return logits + norms.clamp(min=torch.finfo(norms.dtype).tiny).log()[:, :, None]
