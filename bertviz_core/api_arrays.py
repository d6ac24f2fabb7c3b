"""Plain arrays as pictures: attention weights as lines, values of heads as a map. Neither needs a model or torch."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bertviz_core.api_results import AttentionLines, HeadValues, choose_heads
from bertviz_core.errors import InputError
from bertviz_core.heads import Head, HeadLike
from bertviz_core.inputs.labels import Units
from bertviz_core.text_display import visible
from bertviz_core.viewer.input_attention import InputAttention

TOLERANCE = 0.01  # of sums of weights: what bfloat16 rounds
# Tokens that models add, which are drawn in gray; none is a word.
SPECIAL = re.compile(r"\[(CLS|SEP|PAD)\]|</?s>|<(bos|eos|cls|sep|pad)>|<\|\w+\|>")


def attention_lines(
    tokens: Sequence[str],
    weights: Any,
    *,
    keys: Sequence[str] | None = None,
    head: HeadLike | None = None,
    heads: Sequence[HeadLike] | None = None,
    name: str = "",
) -> AttentionLines:
    """Show attention weights that you have already, from any library, as lines between tokens.

    Args:
        tokens: Labels of the tokens that attend.
        weights: (layer, head, query, key), (head, query, key) or (query, key), from 0 to 1: a numpy array, a torch
            tensor, nested lists, or the `attentions` of a transformers model for one input.
        keys: Labels of the tokens attended to, where they are others, as in cross-attention.
        head, heads: The head shown first and those to choose from, as in `attention`; one map is head 1-1.
        name: Of the model or the input, for the title.

    Returns:
        The lines. Their caption says which rows do not sum to 1, and whether no token attends to later ones.

    Raises:
        BertvizError: The shapes do not fit, or weights are not numbers from 0 to 1; the message says where.

    Examples:
        >>> import bertviz_core as bv
        >>> bv.attention_lines(["The", "cat"], [[1.0, 0.0], [0.25, 0.75]]).caption
        'Weights from left to right sum to 1. No token attends to later ones. Layers and heads count from 1.'
    """
    maps = _maps(weights)
    queries = _units(tokens, "tokens")
    attended = queries if keys is None else _units(keys, "keys")
    _check_sizes(maps, queries, attended)
    _check_weights(maps, queries, attended)
    attention = InputAttention(queries, attended, maps.astype(np.float32))
    # The default is a previous-token head, for which keys have to be the queries' own tokens.
    if keys is not None and head is None:
        head = heads[0] if heads is not None and len(heads) else "1-1"
    first, offered = choose_heads(attention, head, heads)
    caption = f"{_sums(maps)}{_direction(maps, keys is None)} Layers and heads count from 1."
    return AttentionLines(attention=attention, head=first, heads=offered, model=name, caption=caption)


def head_map(values: Any, *, name: str = "", limits: tuple[float, float] | None = None) -> HeadValues:
    """Show a value of every head, from any library, as a map with layers from left to right and heads downward.

    Args:
        values: (layer, head) numbers, NaN for heads that have none: a numpy array, a torch tensor or nested lists.
        name: What they are, such as "UAS".
        limits: Ends of the color scale. By default from 0 to the highest value; with negative values from minus the
            largest size to plus it, in two colors.

    Raises:
        BertvizError: These are not (layer, head) numbers, or the limits are no interval.

    Examples:
        >>> import bertviz_core as bv
        >>> bv.head_map([[0.1, 0.9], [0.3, 0.2]], name="UAS").limits
        (0.0, 0.9)
    """
    array = _array(values, "values")
    if array.ndim != 2 or not array.size:
        hint = "Give an array with axes (layer, head); `values[None]` makes one layer of an array of heads."
        raise InputError(f"Values of shape {array.shape} are no map of heads.", hint=hint)
    infinite = np.isinf(array)
    if infinite.any():
        where = f"head {_head(*np.argwhere(infinite)[0])}"
        raise InputError(f"{infinite.sum():,} values are infinite.", where=where, hint="Use NaN for heads without one.")
    if np.isnan(array).all():
        raise InputError("No head has a value: all are NaN.", hint="Give a number for one head at least.")
    return HeadValues(array.copy(), name, _limits(array, limits))


def _limits(values: np.ndarray, limits: tuple[float, float] | None) -> tuple[float, float]:
    if limits is None:
        lowest, highest = float(np.nanmin(values)), float(np.nanmax(values))
        return (min(lowest, -highest), max(highest, -lowest)) if lowest < 0 else (0.0, highest or 1.0)
    low, high = map(float, limits)
    if not (np.isfinite([low, high]).all() and low < high):
        raise InputError(
            f"Limits from {low} to {high} are no interval.", hint="Give the lower one first, as in (0, 1)."
        )
    return low, high


def _array(values: Any, what: str) -> np.ndarray:
    """Numbers of any kind as a numpy array of floats, in their own precision where numpy has it."""
    try:
        array = _to_numpy(values)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"they are of type {array.dtype}")
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        what = f"The {what} cannot be read as an array of numbers ({error})."
        raise InputError(what, hint="Give a numpy array, a torch tensor or nested lists of equal lengths.") from error


def _to_numpy(values: Any) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):  # What is masked is missing.
        return np.ma.filled(values.astype(np.float64), np.nan)
    if hasattr(values, "detach"):  # a torch tensor: it may have a gradient, another device, or a type numpy lacks
        return _of_tensor(values.detach())
    if isinstance(values, list | tuple) and any(hasattr(value, "detach") or _has_tensors(value) for value in values):
        return np.stack([_to_numpy(value) for value in values])
    return np.asarray(values)


def _has_tensors(value: Any) -> bool:
    """Whether a list has tensors in it, at any depth."""
    return isinstance(value, list | tuple) and any(hasattr(each, "detach") or _has_tensors(each) for each in value)


def _check_is_attention(weights: Any) -> None:
    """Raise InputError for what models return in place of attention, with what to do to have it."""
    if hasattr(weights, "keys") or hasattr(weights, "attentions"):
        hint = "Give its `attentions`, after a call with output_attentions=True."
        raise InputError(f"An output of type {type(weights).__name__} is no attention.", hint=hint)
    layers = [None] if weights is None else weights
    if not isinstance(layers, list | tuple):
        return
    if any(isinstance(layer, str) for layer in layers):  # Other libraries take the weights first.
        raise InputError("The weights are texts.", hint="Tokens come first: attention_lines(tokens, weights).")
    if not len(layers) or any(layer is None for layer in layers):
        hint = (
            'Load the model with attn_implementation="eager", since its other kernels return no weights, and call it '
            "with output_attentions=True."
        )
        raise InputError("The model has returned no attention weights (None).", hint=hint)
    if all(isinstance(step, tuple) for step in weights) and hasattr(weights[0][0], "detach"):
        hint = "Give those of one forward pass over the whole text: model(ids, output_attentions=True).attentions."
        raise InputError("These are the weights of each step of `generate`, of other lengths.", hint=hint)


def _of_tensor(tensor: Any) -> np.ndarray:
    """The numbers of a torch tensor; raises TypeError for one that has none."""
    if getattr(tensor, "is_meta", False):
        raise TypeError("the tensor is on the device meta, which holds no numbers: run the model on a real one")
    if getattr(tensor, "is_nested", False):
        return np.stack([_of_tensor(part) for part in tensor.unbind()])
    tensor = tensor.cpu()
    return np.asarray(tensor.float() if tensor.is_floating_point() else tensor)


def _maps(weights: Any) -> np.ndarray:
    """Weights of any of the documented shapes as (layer, head, query, key)."""
    _check_is_attention(weights)
    array = _array(weights, "weights")
    if array.ndim == 5 and array.shape[1] == 1:  # transformers gives (batch, head, query, key) for each layer
        array = array[:, 0]
    if array.ndim == 5:
        hint = "Choose one, as in `[layer[:1] for layer in attentions]`."
        raise InputError(f"The weights are of {array.shape[1]:,} inputs (shape {array.shape}).", hint=hint)
    if array.ndim not in (2, 3, 4) or not array.size:
        hint = "Give (layer, head, query, key), (head, query, key) or (query, key)."
        raise InputError(f"Weights of shape {array.shape} are no attention.", hint=hint)
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def _units(labels: Sequence[str], what: str) -> Units:
    given = list(labels) if isinstance(labels, Iterable) else [labels]
    if isinstance(labels, str) or not all(isinstance(label, str) for label in given):
        kind = "a string" if isinstance(labels, str) else "not all strings"
        hint = "Give a list of strings; `tokenizer.convert_ids_to_tokens(ids)` makes one of ids."
        raise InputError(f"The {what} are {kind}.", hint=hint)
    special = np.array([SPECIAL.fullmatch(label) is not None for label in given], dtype=bool)
    count = len(given)
    return Units(tuple(visible(str(label)) for label in given), special, np.zeros(count, np.int64), np.arange(count))


def _check_sizes(maps: np.ndarray, queries: Units, keys: Units) -> None:
    expected = len(queries), len(keys)
    if maps.shape[2:] == expected:
        return
    counts = f"{expected[0]:,} tokens" if queries is keys else f"{expected[0]:,} tokens and {expected[1]:,} keys"
    raise InputError(
        f"There are {counts}, but the weights are from {maps.shape[2]:,} tokens to {maps.shape[3]:,}.",
        hint="Give a label for each, with special tokens and padding; `keys` names the second axis where it differs.",
    )


def _check_weights(maps: np.ndarray, queries: Units, keys: Units) -> None:
    """Raise InputError for what cannot be the weights of attention."""
    checks = (
        (~np.isfinite(maps), "are not finite numbers", "Leave out padding, or set the weights of its rows to 0."),
        (maps < 0, "are negative", "These may be scores: apply a softmax over the last axis first."),
        (maps > 1 + TOLERANCE, "are above 1", "Divide each row by its sum, or all weights by the largest."),
    )
    for wrong, problem, hint in checks:
        if wrong.any():
            layer, head, query, key = np.argwhere(wrong)[0]
            ends = f"{queries.labels[query]!r} ({query + 1}) to {keys.labels[key]!r} ({key + 1})"
            where = f"head {_head(layer, head)}, from {ends}"
            raise InputError(f"{wrong.sum():,} of {maps.size:,} weights {problem}.", where=where, hint=hint)


def _head(layer: int, head: int) -> str:
    return Head(int(layer), int(head)).key()


def _sums(maps: np.ndarray) -> str:
    """A sentence on the sums of the rows."""
    sums = maps.sum(-1, dtype=np.float64)
    wrong = sums[abs(sums - 1) > TOLERANCE]
    if not wrong.size:
        return "Weights from left to right sum to 1."
    sentence = f"The weights of {wrong.size:,} of {sums.size:,} rows do not sum to 1, but to "
    sentence += f"{wrong.min():.2f}" + (f" to {wrong.max():.2f}" if wrong.max() - wrong.min() >= 0.005 else "") + "."
    if (abs(maps.sum(-2, dtype=np.float64) - 1) <= TOLERANCE).all():
        sentence += " Those of each column do: the axes may be (key, query); swap the last two."
    return sentence


def _direction(maps: np.ndarray, same_tokens: bool) -> str:
    """A sentence on maps that look in one direction, as those of a decoder do."""
    if not same_tokens or maps.shape[-1] < 2 or np.triu(maps, 1).any():
        return ""
    return " No token attends to later ones."
