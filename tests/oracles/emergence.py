"""A training's numbers as plain loops: the masked-word loss token by token, best and followed heads by counting."""

from typing import Any


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
