"""Section 12 of the methods word for word: hooks on the library's own eager model, one segment and one set of heads at
a time, always through the whole model."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

Heads = set[tuple[int, int]]

# Family -> (path of a layer's output projection, path of its value projection); "{}" is the number of the layer.
PROJECTIONS = {
    "bert": ("bert.encoder.layer.{}.attention.output.dense", "bert.encoder.layer.{}.attention.self.value"),
    "roberta": ("roberta.encoder.layer.{}.attention.output.dense", "roberta.encoder.layer.{}.attention.self.value"),
    "electra": ("electra.encoder.layer.{}.attention.output.dense", "electra.encoder.layer.{}.attention.self.value"),
    "distilbert": (
        "distilbert.transformer.layer.{}.attention.out_lin",
        "distilbert.transformer.layer.{}.attention.v_lin",
    ),
    "albert": (
        "albert.encoder.albert_layer_groups.0.albert_layers.0.attention.dense",
        "albert.encoder.albert_layer_groups.0.albert_layers.0.attention.value",
    ),
    "gpt2": ("transformer.h.{}.attn.c_proj", "transformer.h.{}.attn.c_attn"),
    "llama": ("model.layers.{}.self_attn.o_proj", "model.layers.{}.self_attn.v_proj"),
    "modernbert": ("model.layers.{}.attn.Wo", "model.layers.{}.attn.Wqkv"),
}


class Ablated:
    """An eager model that predicts words, whose heads can be switched off by hooks."""

    def __init__(self, model: Any, family: str, layers: int, heads: int) -> None:
        self.model, self.layers, self.heads = model.requires_grad_(False).eval(), layers, heads
        outputs, values = PROJECTIONS[family]
        self.shared = "{}" not in outputs
        self.outputs = [model.get_submodule(outputs.format(layer)) for layer in range(layers)]
        self.values = [model.get_submodule(values.format(layer)) for layer in range(layers)]
        output = self.outputs[0]  # GPT-2's has its weights transposed
        self.width = getattr(output, "in_features", output.weight.shape[0]) // heads

    @contextmanager
    def hooked(self, modules: list[Any], attach: str, act: Callable[[int, Any], Any]) -> Any:
        """act(layer, tensor) for the input ("pre") or output ("post") of each layer's projection."""
        calls = [0]

        def layer_of(own: int) -> int:
            calls[0] += 1
            return (calls[0] - 1) % self.layers if self.shared else own

        handles = []
        for own, module in enumerate(modules[:1] if self.shared else modules):
            if attach == "pre":
                hook = lambda _m, arguments, own=own: (act(layer_of(own), arguments[0]),)  # noqa: E731
                handles.append(module.register_forward_pre_hook(hook))
            else:
                after = lambda _m, _arguments, output, own=own: act(layer_of(own), output)  # noqa: E731
                handles.append(module.register_forward_hook(after))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def inputs(self, example: dict[str, list[int]], has_types: bool) -> dict[str, Any]:
        import torch

        names = ("input_ids", "token_type_ids") if has_types else ("input_ids",)
        return {name: torch.tensor([example[name]]) for name in names}

    def run(self, example: dict[str, list[int]], has_types: bool) -> tuple[Any, int, int]:
        """(loss with its graph, tokens right, tokens asked for) of one segment."""
        logits = self.model(**self.inputs(example, has_types)).logits[0]
        losses, right = [], 0
        for position, label in enumerate(example["labels"]):
            if label != -100:
                losses.append(-logits[position].log_softmax(-1)[label])
                right += int(logits[position].argmax() == label)
        return sum(losses) / len(losses), right, len(losses)

    def without(
        self, example: dict[str, list[int]], has_types: bool, off: Heads, mean: Any = None
    ) -> tuple[float, float]:
        """(loss, share right) with the outputs of the heads `off` replaced by zeros, or by their mean."""

        def replace(layer: int, mixed: Any) -> Any:
            mixed = mixed.clone()
            for head in range(self.heads):
                if (layer, head) in off:
                    part = slice(head * self.width, (head + 1) * self.width)
                    mixed[..., part] = 0.0 if mean is None else mean[layer][part]
            return mixed

        with self.hooked(self.outputs, "pre", replace):
            loss, right, count = self.run(example, has_types)
        return float(loss), right / count

    def without_keys(
        self, example: dict[str, list[int]], has_types: bool, keys: Sequence[int], off: tuple[int, int]
    ) -> tuple[float, float]:
        """(loss, share right) with one head's weights to the positions `keys` set to 0: what these add to the head's
        output in the whole model is taken away."""
        values: dict[int, Any] = {}

        def keep(layer: int, value: Any) -> Any:
            values[layer] = value.reshape(-1, value.shape[-1])
            return value

        with self.hooked(self.values, "post", keep):
            attention = self.model(**self.inputs(example, has_types), output_attentions=True).attentions[off[0]][0]
        value, part = values[off[0]], slice(off[1] * self.width, (off[1] + 1) * self.width)
        if value.shape[-1] == 3 * self.heads * self.width:  # of a fused one the last third
            own = value[:, 2 * self.heads * self.width :][:, part]
        else:
            groups = value.shape[-1] // self.width
            start = off[1] * groups // self.heads * self.width
            own = value[:, start : start + self.width]

        def replace(layer: int, mixed: Any) -> Any:
            mixed = mixed.clone()
            if layer == off[0]:
                for key in keys:
                    mixed.view(len(own), -1)[:, part] -= attention[off[1]][:, key, None] * own[key]
            return mixed

        with self.hooked(self.outputs, "pre", replace):
            loss, right, count = self.run(example, has_types)
        return float(loss), right / count

    def mean_outputs(self, examples: list[dict[str, list[int]]], has_types: bool) -> Any:
        """[layer] the mean over all tokens of all segments of what the heads give to the output projection."""
        import torch

        rows: list[list[Any]] = [[] for _ in range(self.layers)]

        def keep(layer: int, mixed: Any) -> Any:
            rows[layer] += list(mixed.reshape(-1, mixed.shape[-1]))
            return mixed

        with self.hooked(self.outputs, "pre", keep):
            for example in examples:
                self.run(example, has_types)
        return [torch.stack(layer).mean(0) for layer in rows]

    def estimates(self, example: dict[str, list[int]], has_types: bool) -> np.ndarray:
        """(layer, head) mean over tokens of |out . dL/d out|."""
        import torch

        outputs: dict[int, Any] = {}

        def keep(layer: int, mixed: Any) -> Any:
            outputs[layer] = mixed.clone().requires_grad_()
            return outputs[layer]

        with torch.enable_grad(), self.hooked(self.outputs, "pre", keep):
            loss, _, _ = self.run(example, has_types)
            slopes = torch.autograd.grad(loss, [outputs[layer] for layer in range(self.layers)])
        totals = np.zeros((self.layers, self.heads))
        for layer in range(self.layers):
            out, slope = (x.detach().reshape(-1, self.heads, self.width) for x in (outputs[layer], slopes[layer]))
            for head in range(self.heads):
                for token in range(len(out)):
                    totals[layer, head] += abs(float((out[token, head] * slope[token, head]).sum())) / len(out)
        return totals
