"""What heads, MLPs, embeddings and biases add to the logit of a next token (docs/methods.md, section 20)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import nan
from threading import get_ident
from typing import Any, Self

import torch
from torch import Tensor, nn

from bertviz_core.inputs.tensors import at_least_float32


@dataclass(frozen=True)
class FrozenNorm:
    """A layer or RMS norm, which is a linear map once its scale is that of one input.

    Attributes:
        gain: (width,) what each dimension is multiplied by.
        bias: (width,) what is added to it.
        is_centered: Whether the mean is subtracted before.
        scale_of_zeros: What it multiplies a vector of zeros by, which no output tells; NaN where that is not known.
    """

    module: nn.Module
    gain: Tensor
    bias: Tensor
    is_centered: bool
    scale_of_zeros: float

    @classmethod
    def of(cls, module: nn.Module, like: Tensor) -> Self:
        """Read a norm off its outputs for zeros, and for alternating signs, whose mean is 0 and whose variance is 1.

        Args:
            like: (width,) a tensor of its width, type and device.
        """
        signs = torch.ones_like(like)
        signs[1::2] = -1
        tried = (torch.zeros_like(like), signs, signs + 1)
        zero, one, shifted = (at_least_float32(module(each)).to(like.device) for each in tried)
        is_centered = bool((shifted - one).abs().max() < 0.01 * (one - zero).abs().max())
        epsilon = getattr(module, "eps", None) or getattr(module, "variance_epsilon", None)
        return cls(module, (one - zero) * signs, zero, is_centered, epsilon**-0.5 if epsilon else nan)

    def before(self, directions: Tensor, inputs: Tensor, outputs: Tensor) -> Tensor:
        """(row, width) the directions before the norm along which one moves along `directions` after it.

        Args:
            directions: (row, width) directions.
            inputs: (row, width) what the norm got.
            outputs: (row, width) what it gave, from which its scale follows.
        """
        if self.is_centered:
            inputs = inputs - inputs.mean(-1, keepdim=True)
        scaled = inputs * self.gain
        squares = scaled.square().sum(-1, keepdim=True)
        inverse = (scaled * (outputs - self.bias)).sum(-1, keepdim=True) / squares
        inverse = inverse.masked_fill(squares == 0, self.scale_of_zeros)
        moved = directions * self.gain * inverse
        return moved - moved.mean(-1, keepdim=True) if self.is_centered else moved


@dataclass
class Written:
    """What one pass over a batch writes into the residual stream, (batch, token, width) each.

    Attributes:
        embedded: What the first layer gets.
        heads: For each layer the outputs of its heads side by side, before the output projection.
        attention: For each layer with a norm after attention what that got and gave, by the layer's number.
        mlps: What each layer's MLP adds; empty unless it is asked for.
        final: What the last norm got and gave.
    """

    embedded: Tensor | None = None
    heads: list[Tensor] = field(default_factory=list)
    attention: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)
    mlps: list[Tensor] = field(default_factory=list)
    final: tuple[Tensor, Tensor] | None = None


@dataclass(frozen=True)
class LogitParts:
    """What adds up to a logit above the mean of the vocabulary's, of several predictions.

    Attributes:
        logits: (prediction,) their sum, as the model has it.
        heads: (layer, prediction, head) the parts of heads.
        mlps: (layer, prediction) the parts of MLPs.
        embeddings: (prediction,) that of what the first layer gets.
        biases: (prediction,) those of attention, of the last norm and of the unembedding.
    """

    logits: Tensor
    heads: Tensor
    mlps: Tensor
    embeddings: Tensor
    biases: Tensor

    def total(self) -> Tensor:
        """(prediction,) the sum of the parts."""
        return self.heads.sum((0, 2)) + self.mlps.sum(0) + self.embeddings + self.biases


@dataclass(frozen=True)
class ResidualStream:
    """The modules of a decoder that write into its residual stream, and how logits are read from it.

    Attributes:
        first: The first layer.
        projections: Each layer's output projection of attention.
        matrices: (width, head and width of a head) its matrix.
        offsets: (width,) its bias.
        norms: The norm after each layer's attention, by its number, where a family has one.
        mlps: The module of each layer whose output is the MLP's.
        final: The norm before the unembedding.
        unembedding: (word of the vocabulary, width) rows u_t.
        unembedding_bias: (word of the vocabulary,) what is added to logits.
        mean: (width,) the mean row.
        heads: The number of heads of a layer.
        scale: What the model multiplies its logits by.
        cap: The size beyond which it caps them afterwards; None where it does not.
    """

    first: nn.Module
    projections: tuple[nn.Module, ...]
    matrices: tuple[Tensor, ...]
    offsets: tuple[Tensor, ...]
    norms: dict[int, FrozenNorm]
    mlps: tuple[nn.Module, ...]
    final: FrozenNorm
    unembedding: Tensor
    unembedding_bias: Tensor
    mean: Tensor
    heads: int
    scale: float = 1.0
    cap: float | None = None

    @contextmanager
    def recorded(self, *, mlps: bool = False) -> Iterator[Written]:
        """Record what the pass of a `with` block writes, with MLPs where they are asked for; passes of other threads,
        which may use the model meanwhile, are not recorded."""
        written = Written()
        device = self.mean.device  # A model may be on several.

        def embed(_module: Any, args: Any, kwargs: Any) -> None:
            written.embedded = (args[0] if args else kwargs["hidden_states"]).clone().to(device)

        def project(_module: Any, args: Any) -> None:
            written.heads.append(args[0].to(device))

        def add_mlp(_module: Any, _args: Any, output: Any) -> None:
            value = output[0] if isinstance(output, tuple) else output
            written.mlps.append(value.clone().to(device))  # Falcon adds to it in place.

        def end(_module: Any, args: Any, output: Any) -> None:
            written.final = (args[0].to(device), output.to(device))

        with ExitStack() as hooks:
            hooks.enter_context(hooked(self.first.register_forward_pre_hook(of_this_thread(embed), with_kwargs=True)))
            for projection in self.projections:
                hooks.enter_context(hooked(projection.register_forward_pre_hook(of_this_thread(project))))
            for layer, norm in self.norms.items():

                def rescale(_module: Any, args: Any, output: Any, layer: int = layer) -> None:
                    written.attention[layer] = (args[0].to(device), output.to(device))

                hooks.enter_context(hooked(norm.module.register_forward_hook(of_this_thread(rescale))))
            for module in self.mlps if mlps else ():
                hooks.enter_context(hooked(module.register_forward_hook(of_this_thread(add_mlp))))
            hooks.enter_context(hooked(self.final.module.register_forward_hook(of_this_thread(end))))
            yield written

    def directions(self, ids: Tensor) -> Tensor:
        """(prediction, width) u_t minus the mean row, times the scale of logits, of (prediction,) tokens."""
        return (at_least_float32(self.unembedding[ids]) - self.mean) * self.scale

    def head_parts(self, written: Written, at: tuple[Tensor, Tensor], ids: Tensor) -> tuple[Tensor, Tensor]:
        """What each head adds to the logits of tokens at some places, and these logits.

        Args:
            at: (prediction,) rows of the batch and positions in them.
            ids: (prediction,) tokens.

        Returns:
            (layer, prediction, head) parts, and (prediction,) logits above the mean of the vocabulary's.
        """
        before, logits = self._ahead_of_norm(written, at, ids)
        parts = [self._by_head(written, layer, at, before)[0] for layer in range(len(written.heads))]
        return torch.stack(parts), logits

    def parts(self, written: Written, at: tuple[Tensor, Tensor], ids: Tensor) -> LogitParts:
        """All that adds up to the logits of (prediction,) tokens, of a pass that was recorded with MLPs; arguments as
        of `head_parts`."""
        before, logits = self._ahead_of_norm(written, at, ids)
        shape = written.heads[0].shape[:2]
        of_layers = [self._by_head(written, layer, at, before) for layer in range(len(written.heads))]
        mlps = [(self._at(each.reshape(*shape, -1), at) * before).sum(-1) for each in written.mlps]
        assert written.embedded is not None, "a pass was recorded"
        last = self.directions(ids) @ self.final.bias + self.scale * self._centered_bias(ids)
        return LogitParts(
            logits=logits,
            heads=torch.stack([heads for heads, _ in of_layers]),
            mlps=torch.stack(mlps),
            embeddings=(self._at(written.embedded, at) * before).sum(-1),
            biases=torch.stack([bias for _, bias in of_layers]).sum(0) + last,
        )

    def _ahead_of_norm(self, written: Written, at: tuple[Tensor, Tensor], ids: Tensor) -> tuple[Tensor, Tensor]:
        """(prediction, width) what the residual stream is multiplied by, and (prediction,) the logits."""
        assert written.final is not None, "a pass was recorded to its end"
        directions = self.directions(ids)
        inputs, outputs = (self._at(each, at) for each in written.final)
        logits = (directions * outputs).sum(-1) + self.scale * self._centered_bias(ids)
        return self.final.before(directions, inputs, outputs), logits

    def _by_head(
        self, written: Written, layer: int, at: tuple[Tensor, Tensor], before: Tensor
    ) -> tuple[Tensor, Tensor]:
        """(prediction, head) the parts of a layer's heads, and (prediction,) that of its attention's biases."""
        bias = torch.zeros_like(before[:, 0])
        if layer in self.norms:
            norm = self.norms[layer]
            bias = before @ norm.bias
            before = norm.before(before, *(self._at(each, at) for each in written.attention[layer]))
        values = self._at(written.heads[layer], at) * (before @ at_least_float32(self.matrices[layer]))
        return values.unflatten(-1, (self.heads, -1)).sum(-1), bias + before @ self.offsets[layer]

    def _centered_bias(self, ids: Tensor) -> Tensor:
        return self.unembedding_bias[ids] - self.unembedding_bias.mean()

    @staticmethod
    def _at(values: Tensor, at: tuple[Tensor, Tensor]) -> Tensor:
        return at_least_float32(values[at])


def of_this_thread(hook: Callable[..., None]) -> Callable[..., None]:
    """A hook that does nothing in other threads."""
    owner = get_ident()

    def run(*args: Any) -> None:
        if get_ident() == owner:
            hook(*args)

    return run


@contextmanager
def hooked(handle: Any) -> Iterator[None]:
    """Remove a hook at the end of a `with` block."""
    try:
        yield
    finally:
        handle.remove()
