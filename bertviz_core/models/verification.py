"""Whether the maps that are read of a model are the model's own, tried when it is loaded.

Two short inputs go through the model in one padded batch, as in an analysis, and one by one through the model's own
eager attention. Where the two agree, maps are read inside the layers; else those that the model returns are used, where
they pass the same test; else the model is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

import numpy as np

from bertviz_core.errors import ModelError
from bertviz_core.models.attention import REGISTERED, LayerAttention, at_least_float32, forward
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.encoding import Encoded, collate
from bertviz_core.settings import default_folder

if TYPE_CHECKING:
    from torch import Tensor

    from bertviz_core.models.model import AttentionModel

FORMAT = 1  # raise it where the ways of reading maps change
LENGTHS = 24, 13  # tokens of the two inputs
TOLERANCE = 1e-5  # of any weight, and of a row's sum
LOW_PRECISION = 0.05  # in types of fewer bits: of the weight that rows move, on average, and of a row's sum
ROUNDING = 1e-5  # what so small a relative change of the embeddings changes in weights is no difference,
AT_MOST = 1e-3  # up to so much


@dataclass(frozen=True, slots=True)
class Maps:
    """What is found of a model's maps.

    Attributes:
        observable: They are read inside the layers; otherwise the model returns them.
        layers: Number of layers with attention.
        heads: Query heads of each.
        causal: A token sees only itself and what stands before it.
    """

    observable: bool
    layers: int
    heads: int
    causal: bool


def no_maps(checkpoint: Checkpoint) -> ModelError:
    """The answer to a model without attention maps of one text."""
    return ModelError(
        f"The model {checkpoint.name!r} exposes no attention maps.",
        hint="Choose an encoder or a decoder with attention.",
    )


def maps_of(model: AttentionModel) -> Maps:
    """What `verify` finds, or found before of the same files, dtype and device; `model.encoder` is set to it."""
    import torch
    import transformers

    versions = FORMAT, torch.__version__, transformers.__version__
    key = repr((model.checkpoint.fingerprint(), str(model.encoder.dtype), model.device, versions))
    path = default_folder() / "verified" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
    in_memory = model.checkpoint.folder == Path()  # whose weights may change at any moment
    maps = None if in_memory else _stored(path)
    if maps is None:
        maps = verify(model)
        if not in_memory:
            _store(path, maps)
    model.encoder.set_attn_implementation(REGISTERED if maps.observable else "eager")
    return maps


def _stored(path: Path) -> Maps | None:
    with suppress(OSError, ValueError, TypeError):
        return Maps(**json.loads(path.read_bytes()))
    return None


def _store(path: Path, maps: Maps) -> None:
    """Write the outcome into the store's folder, where there is one; two processes may do so at once."""
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        with NamedTemporaryFile("w", dir=path.parent, delete=False) as stream:
            json.dump(asdict(maps), stream)
        Path(stream.name).replace(path)


def verify(model: AttentionModel) -> Maps:
    """Find the way in which a model's maps can be read. Raises ModelError where there is none; a model that cannot be
    run at all raises what it raises."""
    examples = _examples(model)
    model.encoder.set_attn_implementation("eager")
    expected = [_returned(model, example) for example in examples]
    if not expected[0]:
        raise no_maps(model.checkpoint)
    causal = all(bool((maps.triu(1) == 0).all()) for layers in expected for maps in layers)
    for observable in (True, False) if model.observable else (False,):
        model.encoder.set_attn_implementation(REGISTERED if observable else "eager")
        found = Maps(observable, len(expected[0]), len(expected[0][0]), causal)
        tried = replace(model, observable=observable, layers=found.layers, heads=found.heads)
        problem = _problem(tried, examples, expected)
        if not problem:
            return found
    raise ModelError(
        f"The attention maps of {model.checkpoint.name!r} cannot be used: {problem}.",
        hint="Choose a model of another family; docs/models.md lists them.",
    )


def _examples(model: AttentionModel) -> list[Encoded]:
    """Two inputs of ordinary tokens in the tokenizer's own frame, the longer one first."""
    before, after = model.tokens.single
    ordinary = np.setdiff1d(sorted(model.tokens.tokenizer.get_vocab().values()), model.tokens.special)
    examples = []
    for number, length in enumerate(LENGTHS):
        room = min(length, (model.checkpoint.max_length or length) - number) - len(before) - len(after)
        chosen = np.arange(1, max(room, 1) + 1) * 7919 * (number + 1) % len(ordinary)
        ids = np.array([*before, *ordinary[chosen], *after], dtype=np.int64)
        examples.append(Encoded(number, "", ids, np.zeros(len(ids), dtype=np.int64)))
    return examples


def _returned(model: AttentionModel, example: Encoded) -> list[Tensor]:
    """The maps (head, query, key) that the model returns for one input, one for each layer."""
    import torch

    with torch.inference_mode():
        inputs = collate([example], model.tokens, model.device).inputs(model)
        output = model.encoder(**inputs, output_attentions=True)
    return [at_least_float32(maps)[0] for maps in getattr(output, "attentions", None) or () if maps is not None]


def _problem(model: AttentionModel, examples: Sequence[Encoded], expected: Sequence[list[Tensor]]) -> str:
    """What is wrong with the maps of a padded batch, read as `model` says; "" where nothing is."""
    try:
        layers = _observed(model, examples)
    except Exception as error:  # what a family does here is anyone's guess
        return f"{type(error).__name__}: {str(error)[:150]}"
    tolerance, difference = _tolerance(model), 0.0
    for row, maps in enumerate(expected):
        for layer, own in zip(layers, maps, strict=True):
            weights, queries = layer.weights[row], len(examples[row])
            if own.shape != (model.heads, queries, queries) or len(weights) != model.heads:
                return f"those of {queries} tokens are {_shape(own)}, not {model.heads} x {queries} x {queries}"
            has_sink = model.observable and layer.logits is None
            if problem := _problem_of_rows(weights[:, :queries], tolerance, has_sink):
                return problem
            padded = own.new_zeros(weights[:, :queries].shape)
            padded[..., :queries] = own
            gaps = (weights[:, :queries] - padded).abs()
            difference = max(difference, float(gaps.max() if tolerance == TOLERANCE else gaps.sum(-1).mean() / 2))
    if difference > tolerance and difference > _noise(model, examples[0]):
        return f"weights change by up to {difference:.2g} when an input is padded beside a longer one"
    return ""


def _problem_of_rows(weights: Tensor, tolerance: float, has_sink: bool) -> str:
    """What is wrong with weights (head, query, key) as distributions; a learned sink takes a part of each row."""
    low, high, least = (float(value) for value in (weights.sum(-1).min(), weights.sum(-1).max(), weights.min()))
    if not weights.isfinite().all():
        return "weights are not finite numbers"
    if least < 0:
        return f"weights are as low as {least:.3g}"
    if high > 1 + tolerance or (low < 1 - tolerance and not has_sink):
        return f"rows sum to {low:.3g} to {high:.3g}, not to 1"
    return ""


def _observed(model: AttentionModel, examples: Sequence[Encoded]) -> list[LayerAttention]:
    layers: list[LayerAttention] = []
    forward(model, collate(examples, model.tokens, model.device), layers.append)
    return layers


def _tolerance(model: AttentionModel) -> float:
    import torch

    return TOLERANCE if model.encoder.dtype in (torch.float32, torch.float64) else LOW_PRECISION


def _noise(model: AttentionModel, example: Encoded) -> float:
    """How far weights may differ by rounding alone: as they do where the last digits of embeddings change."""
    import torch

    def change(_module: object, _inputs: object, embedded: Tensor) -> Tensor:
        return embedded * (1 + torch.linspace(-ROUNDING, ROUNDING, embedded.size(-1)).to(embedded))

    before = _observed(model, [example])
    embeddings = [module for module in model.encoder.modules() if isinstance(module, torch.nn.Embedding)]
    hooks = [module.register_forward_hook(change) for module in embeddings]
    pairs = zip(before, _observed(model, [example]), strict=True)
    for hook in hooks:
        hook.remove()
    return min(AT_MOST, max(float((one.weights - two.weights).abs().max()) for one, two in pairs))


def _shape(maps: Tensor) -> str:
    return " x ".join(map(str, maps.shape))
