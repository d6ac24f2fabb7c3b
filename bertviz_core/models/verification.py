"""Verification, when a model is loaded, that the maps read from it are the model's own (docs/models.md)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.inputs.tensors import at_least_float32, device_of_sums
from bertviz_core.models.attention import LayerAttention, forward, register
from bertviz_core.models.model import AttentionModel

EXACT = torch.float32, torch.float64
TOLERANCE = 1e-5  # largest error of weights and of the sums of rows
# In bfloat16, where depth amplifies rounding (measured in docs/models.md):
ROUNDED = 2.0**-5  # largest error of any weight
MOVED = 0.05  # mean share of a row that padding may move
MAX_VERIFIED_MODELS = 100
WAY_OUT = (
    "Choose a model of another family; docs/models.md lists them. `bv.attention_lines` draws weights that you have "
    "already; docs/models.md says what an attention of your own has to do."
)


@dataclass(frozen=True)
class MapReading:
    """How a model's maps can be read.

    Attributes:
        causal: Whether a token attends only to itself and to earlier ones.
        observable: Whether it calls the registered attention function; else it returns its maps.
    """

    layers: int
    heads: int
    causal: bool
    observable: bool

    def apply(self, model: AttentionModel) -> AttentionModel:
        """The model, set to be read in this way."""
        model.encoder.set_attn_implementation(register() if self.observable else "eager")
        return replace(model, **vars(self))


# Readings of the last MAX_VERIFIED_MODELS models in memory that this process has verified.
_known: dict[Any, MapReading] = {}


def verify_once(model: AttentionModel) -> AttentionModel:
    """As `verify`; not again where the same weights in the same class and type were verified on this device before."""
    encoder = model.encoder
    key = (model.checkpoint.fingerprint(), type(encoder), encoder.dtype, model.device)
    if key not in _known:
        found = verify(model)
        if len(_known) >= MAX_VERIFIED_MODELS:
            _known.pop(next(iter(_known)))
        _known[key] = MapReading(found.layers, found.heads, found.causal, found.observable)
    return _known[key].apply(model)


def verify(model: AttentionModel) -> AttentionModel:
    """The model with its shape and the way in which its maps can be read, inside the layers or as it returns them,
    tried on two short inputs.

    Raises:
        ModelError: Its maps cannot be read; the error says why, or what the model raises.
    """
    examples = _examples(model)
    model.encoder.set_attn_implementation("eager")
    has_both = model.encoder.config.is_encoder_decoder and hasattr(model.encoder, "decoder")
    if has_both:
        what = f"The model {model.checkpoint.name!r} is a pair of encoder and decoder, whose maps are of two texts."
        raise ModelError(what, hint="Choose an encoder or a decoder; of T5 in memory give T5EncoderModel.")
    expected = [_returned(model, example) for example in examples]
    if not expected[0]:
        what = f"The model {model.checkpoint.name!r} exposes no attention maps."  # It returns none for a single text.
        raise ModelError(what, hint="Choose an encoder or a decoder with attention.")
    causal = all(bool((maps.triu(1) == 0).all()) for layers in expected for maps in layers)
    model = replace(model, layers=len(expected[0]), heads=len(expected[0][0]), causal=causal)
    for observable in (True, False):
        tried = replace(model, observable=observable)
        try:
            model.encoder.set_attn_implementation(register() if observable else "eager")
            problem = _problem(tried, examples, expected)
        except Exception as error:  # The model's own code may raise anything.
            cause = error.__cause__ or error
            problem = f"{type(cause).__name__}: {str(cause)[:150]}"
        if not problem:
            return tried
    what = f"The attention maps of {model.checkpoint.name!r} cannot be used: {problem}."
    raise ModelError(what, hint=WAY_OUT)


def _examples(model: AttentionModel) -> list[Encoded]:
    """Two inputs of ordinary tokens in the tokenizer's own frame, the longer one first."""
    before, after = model.tokens.single
    examples = []
    ordinary = model.tokens.ordinary
    for number, length in enumerate((24, 13)):
        longest = min(length, (model.checkpoint.max_length or length) - number)
        count = max(1, longest - len(before) - len(after))
        chosen = np.arange(1, count + 1) * 7919 * (number + 1) % len(ordinary)
        ids = np.array([*before, *ordinary[chosen], *after], dtype=np.int64)
        examples.append(Encoded(number, "", ids, np.zeros_like(ids)))
    return examples


def _returned(model: AttentionModel, example: Encoded) -> list[Tensor]:
    """Each layer's map, (head, query, key)."""
    with torch.inference_mode():
        inputs = model.inputs(collate([example], model.tokens, model.device))
        output = model.encoder(**inputs, output_attentions=True)
    return [at_least_float32(maps)[0] for maps in getattr(output, "attentions", None) or () if maps is not None]


def _problem(model: AttentionModel, examples: Sequence[Encoded], expected: Sequence[list[Tensor]]) -> str:
    """What is wrong with the maps, read as `model` says, of inputs alone and in a padded batch; "" where nothing is."""
    exact = model.encoder.dtype in EXACT
    alone = []
    for example, maps in zip(examples, expected, strict=True):
        alone.append(_observed(model, [example]))
        for layer, returned in zip(alone[-1], maps, strict=True):
            if problem := _problem_of_layer(model, layer, returned, len(example), TOLERANCE if exact else ROUNDED):
                return problem
    moved = _moved(model, examples, alone)
    if model.encoder.dtype == torch.float32 and not moved <= TOLERANCE:
        with unrounded(model) as exact_model:
            moved = _moved(exact_model, examples, [_observed(exact_model, [example]) for example in examples])
    if not moved <= (TOLERANCE if exact else MOVED):
        return f"weights change by up to {moved:.2g} when an input is padded beside a longer one"
    return ""


@contextmanager
def unrounded(model: AttentionModel) -> Iterator[AttentionModel]:
    """The model without rounding, which layers amplify, where its device has float64, else on the CPU; the way back is
    exact."""
    encoder = model.encoder
    experts = getattr(encoder.config, "_experts_implementation", None)
    if experts:  # Some kernels of experts have no float64.
        encoder.set_experts_implementation("eager")
    device = device_of_sums(model.device)
    if device != model.device:
        encoder.to(device)
    encoder.double()
    try:
        yield replace(model, device=device)
    finally:
        encoder.float()
        if device != model.device:
            encoder.to(model.device)
        if experts:
            encoder.set_experts_implementation(experts)


def _problem_of_layer(model: AttentionModel, layer: LayerAttention, returned: Tensor, n: int, tolerance: float) -> str:
    """What is wrong with the observed weights of an input of n tokens, compared with those that the model returns."""
    weights = layer.weights[0]
    if returned.shape != (model.heads, n, n) or weights.shape != returned.shape:
        return f"those of {n} tokens are {' x '.join(map(str, returned.shape))}, not {model.heads} x {n} x {n}"
    if not weights.isfinite().all():
        return "weights are not finite numbers"
    if weights.min() < 0:
        return f"weights are as low as {weights.min():.3g}"
    low, high = map(float, weights.sum(-1).aminmax())
    has_sink = model.observable and layer.logits is None  # A learned sink takes a part of each row.
    if high > 1 + tolerance or (low < 1 - tolerance and not has_sink):
        return f"rows sum to {low:.3g} to {high:.3g}, not to 1"
    gap = float((weights - returned).abs().max())
    return "" if gap <= tolerance else f"weights differ by up to {gap:.2g} from those that the model returns"


def _moved(model: AttentionModel, examples: Sequence[Encoded], alone: Sequence[list[LayerAttention]]) -> float:
    """How far padding moves weights from those of each example `alone`: the largest change; in types of fewer bits the
    largest mean share of a row."""
    moved = []
    padded = _observed(model, examples)
    for row, (example, layers) in enumerate(zip(examples, alone, strict=True)):
        size = len(example)
        for layer, unpadded in zip(padded, layers, strict=True):
            gap = layer.weights[row, :, :size].clone()
            gap[..., :size] -= unpadded.weights[0]
            gap = gap.abs()
            moved.append(gap.max() if model.encoder.dtype in EXACT else gap.sum(-1).mean() / 2)
    return float(torch.stack(moved).max())


def _observed(model: AttentionModel, examples: Sequence[Encoded]) -> list[LayerAttention]:
    layers: list[LayerAttention] = []
    forward(model, collate(examples, model.tokens, model.device), layers.append)
    return layers
