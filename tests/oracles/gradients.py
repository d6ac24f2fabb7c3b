"""Section 3 of the methods word for word: one segment, the library's eager maps, autograd over everything, loops."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def gradient(model: Any, ids: Sequence[int], types: Sequence[int] | None, labels: Sequence[int]) -> tuple[Any, ...]:
    """(A, dL/dA with its sign, L, tokens right) of one segment: maps (layer, head, query, key) float64."""
    import torch

    model.requires_grad_(True).eval()
    arguments = {"input_ids": torch.tensor([ids])}
    if types is not None:
        arguments["token_type_ids"] = torch.tensor([types])
    output = model(**arguments, output_attentions=True)
    for attention in output.attentions:
        attention.retain_grad()
    losses, right = [], 0
    for position, label in enumerate(labels):
        if label != -100:
            losses.append(-output.logits[0, position].log_softmax(-1)[label])
            right += int(output.logits[0, position].argmax() == label)
    loss = sum(losses) / len(losses)
    loss.backward()
    maps = np.stack([attention[0].detach().numpy() for attention in output.attentions]).astype(np.float64)
    slopes = np.stack([attention.grad[0].numpy() for attention in output.attentions]).astype(np.float64)
    model.zero_grad()
    return maps, slopes, loss.item(), right


def token_classes(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """The class of every token, by the original ids."""
    names = {tokenizer.sep_token: "sep", tokenizer.cls_token: "cls", ".": "punct", ",": "punct"}
    classes = [names.get(token.removeprefix("Ġ"), "other") for token in tokenizer.convert_ids_to_tokens(list(ids))]
    return classes if classes[0] in ("sep", "cls") else ["first", *classes[1:]]


def class_values(
    maps: np.ndarray, slopes: np.ndarray, classes: Sequence[str], name: str, hidden: np.ndarray
) -> dict[str, np.ndarray]:
    """(layer, head) `to_`, `_times_attention` and `attention_to_` of one class in a segment; {} where it is absent.

    hidden: (layer, query, key), whether the mask hides the key from the query.
    """
    layers, heads, n, _ = maps.shape
    columns = [j for j in range(n) if classes[j] == name]
    if not columns:
        return {}
    quantities = (f"to_{name}", f"to_{name}_times_attention", f"attention_to_{name}")
    values = {quantity: np.zeros((layers, heads)) for quantity in quantities}
    for layer, head in np.ndindex(layers, heads):
        slope = product = share = 0.0
        pairs = 0
        for i in range(n):
            for j in columns:
                if hidden[layer, i, j]:
                    continue
                pairs += 1
                slope += abs(slopes[layer, head, i, j])
                product += maps[layer, head, i, j] * abs(slopes[layer, head, i, j])
                share += maps[layer, head, i, j]
        for quantity, value in zip(quantities, (slope * n / pairs, product, share), strict=True):
            values[quantity][layer, head] = value / n
    return values


def masked_input(
    ids: Sequence[int], special: Sequence[int], vocabulary: Sequence[int], mask: int, seed: int, number: int
) -> tuple[list[int], list[int]]:
    """(ids, labels) of one segment, its `number` counted from 0: "The draw" of the methods, call by call."""
    generator = np.random.default_rng([seed % 2**64, number])
    positions = [i for i, token in enumerate(ids) if token not in special]
    k = min(max(1, round(0.15 * len(positions))), len(positions))
    selected = sorted(generator.choice(positions, k, replace=False).tolist())
    u = generator.random(k).tolist()
    tokens = generator.choice(sorted(set(vocabulary) - set(special)), k).tolist()
    masked, labels = list(ids), [-100] * len(ids)
    for position, share, token in zip(selected, u, tokens, strict=True):
        labels[position] = ids[position]
        if share < 0.8:
            masked[position] = mask
        elif share < 0.9:
            masked[position] = token
    return masked, labels
