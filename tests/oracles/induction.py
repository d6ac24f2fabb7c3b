"""Section 15 of the methods word for word: the library's eager maps of one input, loops over positions."""

import math
from typing import Any

import numpy as np


def of_input(model: Any, ids: list[int], before: int, n: int) -> np.ndarray:
    """(3, layer, head): attention from the second half to the token after the first occurrence, to it, and to the
    previous token; `before` tokens stand before the sequence of `n`."""
    import torch

    with torch.no_grad():
        maps = [each[0].numpy() for each in model(input_ids=torch.tensor([ids]), output_attentions=True).attentions]
    found = np.zeros((3, len(maps), len(maps[0])))
    for layer, heads in enumerate(maps):
        for head, weights in enumerate(heads):
            for place in range(n):
                token = before + n + place
                for kind, target in enumerate((before + place + 1, before + place, token - 1)):
                    found[kind, layer, head] += weights[token][target] / n
    return found


def losses_of_input(model: Any, ids: list[int], before: int, n: int) -> list[list[float]]:
    """[copy][place] what tokens 2 to n of both copies cost a model with its head, nats."""
    import torch

    with torch.no_grad():
        scores = model(input_ids=torch.tensor([ids])).logits[0].double().tolist()
    return [
        [
            math.log(sum(map(math.exp, scores[token - 1]))) - scores[token - 1][ids[token]]
            for token in range(start + 1, start + n)
        ]
        for start in (before, before + n)
    ]
