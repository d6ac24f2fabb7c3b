"""A training's numbers as plain loops: the masked-word loss token by token, best and followed heads by counting."""

import math
from typing import Any


def masked_word_loss(model: Any, inputs: list[dict[str, list[int]]]) -> tuple[float, float]:
    """(loss, share right) of a checkpoint: each input's mean over its masked tokens, then the mean over inputs; and
    the masked tokens guessed right, of all. Every input runs alone, without padding."""
    import torch

    losses, right, masked = [], 0, 0
    for example in inputs:
        with torch.no_grad():
            output = model(
                input_ids=torch.tensor([example["input_ids"]]), token_type_ids=torch.tensor([example["token_type_ids"]])
            )
        total, count = 0.0, 0
        for position, label in enumerate(example["labels"]):
            if label == -100:
                continue
            scores = [float(score) for score in output.logits[0, position]]
            top = max(scores)
            total += top + math.log(sum(math.exp(score - top) for score in scores)) - scores[label]
            right += scores.index(top) == label
            count += 1
        losses.append(total / count)
        masked += count
    return sum(losses) / len(losses), right / masked


def best_accuracy(correct: Any, n: list[int]) -> float:
    """The highest share of one relation: correct[fold][direction][layer][head], n[fold]."""
    return max(_shares(correct, n).values())


def best_head(correct: Any, n: list[int]) -> tuple[int, int, int]:
    """(direction, layer, head) of the highest share, the first of equals."""
    shares = _shares(correct, n)
    return max(shares, key=lambda head: (shares[head], [-part for part in head]))


def accuracy_of(correct: Any, n: list[int], head: tuple[int, int, int]) -> float:
    return _shares(correct, n)[head]


def _shares(correct: Any, n: list[int]) -> dict[tuple[int, int, int], float]:
    shares = {}
    for direction in range(len(correct[0])):
        for layer in range(len(correct[0][0])):
            for head in range(len(correct[0][0][0])):
                right = sum(int(correct[fold][direction][layer][head]) for fold in range(len(correct)))
                shares[direction, layer, head] = right / sum(int(count) for count in n)
    return shares
