"""Predictions of a model whose heads are ablated (docs/methods.md, section 12)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import torch
from torch import Tensor

from bertviz_core.corpora import Skipped
from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import Batch, collate, encode_words
from bertviz_core.inputs.tensors import at_least_float32, device_of_sums, in_float64
from bertviz_core.models.dispatched import check_gradients, device_of, reread_weights
from bertviz_core.models.loss import Labels, Predictions, predict_words
from bertviz_core.models.model import OTHER_FAMILY, AttentionModel, running

RunLayer = Callable[..., Any]  # (a layer's own forward function, hidden states, *others) -> what the layer returns


@dataclass
class AblatedAttention:
    """Replaces the product of weights and values for one forward pass, for which a new object is made: by zeros, by
    `mean`, by the mean of the values that the query sees, or by the product without the weights to `keys`, where the
    other weights are not renormalized.

    Attributes:
        heads: (row, layer, head) bool, the heads that are ablated; on the CPU, since it decides what is computed.
        keys: (row, token) bool, the keys whose weights are left out; None to replace the whole product.
        mean: (layer, head, width of a head) what replaces the product; None for zeros.
        uniform: Whether the query attends equally to all that it sees instead.
        layer: The layer that is computed next, from 0.
        affected: For each layer whether a head of it is ablated.
    """

    heads: Tensor
    keys: Tensor | None = None
    mean: Tensor | None = None
    layer: int = 0
    uniform: bool = False

    def __post_init__(self) -> None:
        self.affected: list[bool] = self.heads.any(0).any(-1).tolist()

    def __call__(self, weights: Tensor, value: Tensor) -> Tensor:
        layer = self.layer
        self.layer += 1
        if not self.affected[layer]:
            return weights @ value
        off = self.heads[:, layer, :, None, None].to(value.device)  # (row, head, 1, 1)
        if self.keys is not None:
            return weights.masked_fill(off & self.keys[:, None, None].to(value.device), 0) @ value
        output = weights @ value
        if self.uniform:
            return output.where(~off, uniform_weights(weights) @ value)
        if self.mean is None:
            return output.masked_fill(off, 0)
        return output.where(~off, self.mean[layer, None, :, None].to(output))


def uniform_weights(weights: Tensor) -> Tensor:
    """(batch, 1, query, key) equal weights of all keys that a query sees, of maps (batch, head, query, key): a mask
    gives a weight of 0 in all heads, see `mask_of_maps`."""
    is_visible = (weights > 0).any(1, keepdim=True).to(weights)
    return is_visible / is_visible.sum(-1, keepdim=True).clamp(min=1)


class Restart:
    """Runs a model from the input of any layer.

    It replaces the layers' `forward` meanwhile, around that of accelerate where it has put one: no other thread may use
    the model. Raises ModelError unless each module of a list calls attention once (ALBERT reuses its modules).

    Attributes:
        modules: Its layers.
    """

    def __init__(self, model: AttentionModel) -> None:
        self.model = model
        batch = collate([encode_words(["a", "b", "c"], model.tokens, 0, "", Skipped())], model.tokens, model.device)
        for entry in model.encoder.modules() if model.observable else ():
            self.modules = list(dict.fromkeys(entry)) if isinstance(entry, torch.nn.ModuleList) else []
            if self.modules and self._are_layers(batch):
                return
        what = f"The heads of {model.checkpoint.name!r} cannot be ablated"
        raise ModelError(f"{what}: its family of models computes attention in a way of its own.", hint=OTHER_FAMILY)

    def _are_layers(self, batch: Batch) -> bool:
        """Whether each of the modules calls attention once, and they are as many as the layers."""
        attentions = list[Any]()
        counts = list[int]()  # how many attentions have been computed after each module

        def count_after(forward: RunLayer, *args: Any, **kwargs: Any) -> Any:
            output = forward(*args, **kwargs)
            counts.append(len(attentions))
            return output

        with torch.inference_mode(), self.layers_run_by(count_after), running(self.model, batch.ids):
            self.model.encoder(**self.model.inputs(batch), observer=attentions.append)
        return counts == list(range(1, self.model.layers + 1))

    @contextmanager
    def layers_run_by(self, run_layer: RunLayer) -> Iterator[None]:
        """Have a function run each layer in a `with` block: it gets the layer's own forward function first."""
        before = [vars(module).get("forward") for module in self.modules]
        for module in self.modules:
            module.forward = partial(run_layer, module.forward)
        try:
            yield
        finally:
            for module, replaced in zip(self.modules, before, strict=True):
                if replaced is None:
                    del module.forward
                else:
                    module.forward = replaced

    def on_its_device(self, layer: int, inputs: Tensor) -> Tensor:
        """The input of a layer, (row, token, width), where the layer runs: a model may be on several devices."""
        if len(self.modules) < self.model.layers:  # Layers that share modules share their device.
            return inputs
        return inputs.to(device_of(self.modules[layer]) or inputs.device)


@dataclass(frozen=True)
class WholeModel:
    """One batch run with no head ablated.

    Attributes:
        inputs: The input of each layer, (row, token, width).
        estimates: For each layer (row, head) the mean over tokens of |output . dL/d output|, L the row's loss, in nats.
    """

    predictions: Predictions
    inputs: list[Tensor]
    estimates: list[Tensor]


def predict_whole(restart: Restart, batch: Batch, labels: Labels) -> WholeModel:
    """One pass forward and one back of labeled segments, with no head ablated (docs/methods.md, section 12).

    Args:
        restart: Runs the model from the input of any layer.
        batch: The segments, with their masks.
    """
    inputs: list[Tensor] = []
    outputs: list[Tensor] = []

    def record(forward: RunLayer, hidden_states: Tensor, *args: Any, **kwargs: Any) -> Any:
        inputs.append(restart.on_its_device(len(inputs), hidden_states.detach()))
        return forward(hidden_states, *args, **kwargs)

    def combine(weights: Tensor, value: Tensor) -> Tensor:
        output = weights @ value
        outputs.append(output if outputs else output.requires_grad_())  # parameters are frozen: the graph begins here
        return output

    check_gradients(restart.model.language_model, restart.model.device)
    rereading = reread_weights(restart.model.language_model)
    with torch.enable_grad(), restart.layers_run_by(record), rereading:
        total, predictions, _ = predict_words(restart.model, batch, labels, combine=combine)
        gradients = torch.autograd.grad(total, outputs)
    estimates = []
    for output, gradient in zip(outputs, gradients, strict=True):
        size = (at_least_float32(output.detach()) * gradient).sum(-1).abs()  # (row, head, token)
        size = size.to(batch.row_weights.device)
        estimates.append((size * batch.row_weights[:, None]).sum(-1))
    return WholeModel(predictions, inputs, estimates)


def predict_recorded(restart: Restart, batch: Batch, labels: Labels) -> tuple[Predictions, list[Tensor]]:
    """One pass with no head ablated: the predictions, and the input of each layer, (row, token, width)."""
    inputs: list[Tensor] = []

    def record(forward: RunLayer, hidden_states: Tensor, *args: Any, **kwargs: Any) -> Any:
        inputs.append(restart.on_its_device(len(inputs), hidden_states))
        return forward(hidden_states, *args, **kwargs)

    with torch.inference_mode(), restart.layers_run_by(record):
        return predict_words(restart.model, batch, labels, combine=torch.matmul)[1], inputs


def mean_outputs(model: AttentionModel, batches: Iterable[Batch]) -> Tensor:
    """(layer, head, width of a head): the mean output of each head over the tokens of batches."""
    where = device_of_sums(model.device)
    total = torch.zeros((), dtype=torch.float64, device=where)
    tokens = 0
    for batch in batches:
        sums = list[Tensor]()
        real = batch.mask[:, None, :, None]

        def combine(weights: Tensor, value: Tensor, real: Tensor = real, sums: list[Tensor] = sums) -> Tensor:
            output = weights @ value  # (batch, head, query, width)
            of_batch = (in_float64(output) * in_float64(real.to(output.device))).sum((0, 2))
            sums.append(of_batch.to(where))
            return output

        with torch.inference_mode(), running(model, batch.ids):
            model.encoder(**model.inputs(batch), combine=combine)
        total = total + torch.stack(sums)
        tokens = tokens + batch.tokens()
    return (total / tokens).float().to(model.device)


def predict_without(
    restart: Restart,
    batch: Batch,
    labels: Labels,
    inputs: Sequence[Tensor],
    heads: Tensor,
    *,
    keys: Tensor | None = None,
    mean: Tensor | None = None,
    uniform: bool = False,
    batch_tokens: int,
) -> Iterator[Predictions]:
    """Predict a batch's words without each of several sets of heads (docs/methods.md, section 12).

    Args:
        restart: Runs the model from the input of any layer.
        batch: The inputs, with their masks.
        inputs: The input of each layer, as of `predict_whole`.
        heads: (set, layer, head) bool, on the CPU.
        keys: (row, token) bool, the keys whose weights are left out; None to replace the heads' whole output.
        mean: (layer, head, width of a head) what replaces the output; None for zeros.
        uniform: Whether the heads attend equally to all that each query sees instead.
        batch_tokens: As many sets go through the model together as fit into so many tokens.
    """
    first = int(heads.any(0).any(-1).nonzero()[0])
    names = ("ids", "types", "mask", "cls", "sep", "punctuation", "special")
    with torch.inference_mode():
        for chosen in heads.split(max(1, batch_tokens // batch.ids.numel())):
            size = len(chosen)
            repeated = replace(batch, **{name: getattr(batch, name).repeat(size, 1) for name in names})
            off = chosen.repeat_interleave(len(batch.ids), 0)  # (set and row, layer, head)
            combine = AblatedAttention(off, None if keys is None else keys.repeat(size, 1), mean, first, uniform)
            with restart.layers_run_by(_start_at(first, inputs[first].repeat(size, 1, 1))):
                predictions = predict_words(restart.model, repeated, labels.repeat(size), combine=combine)[1]
            for parts in zip(*(value.chunk(size) for value in vars(predictions).values()), strict=True):
                yield Predictions(*parts)


def _start_at(first: int, hidden: Tensor) -> RunLayer:
    """A function that runs no layer below the `first`, and gives that one the input `hidden`."""
    layers = count()

    def run(forward: RunLayer, hidden_states: Tensor, *args: Any, **kwargs: Any) -> Any:
        layer = next(layers)
        if layer < first:
            return hidden_states
        return forward(hidden if layer == first else hidden_states, *args, **kwargs)

    return run
