"""Clustering, written from section 9 of the methods with plain loops, in float64; shares no code with the product."""

import math
from collections.abc import Sequence

import numpy as np


def entropy(p: Sequence[float]) -> float:
    """-sum p log p, 0 log 0 = 0."""
    return -sum(x * math.log(x) for x in p if x > 0)


def js(p: Sequence[float], q: Sequence[float]) -> float:
    """H((P + Q) / 2) - (H(P) + H(Q)) / 2."""
    middle = [(x + y) / 2 for x, y in zip(p, q, strict=True)]
    return entropy(middle) - (entropy(p) + entropy(q)) / 2


def js_by_ratios(p: Sequence[float], q: Sequence[float]) -> float:
    """The same as half the sum of two relative entropies, by log1p: no cancellation, for rows that nearly agree."""
    total = 0.0
    for x, y in zip(p, q, strict=True):
        total += x * math.log1p((x - y) / (x + y)) if x > 0 else 0.0
        total += y * math.log1p((y - x) / (x + y)) if y > 0 else 0.0
    return total / 2


def sums(segments: Sequence[np.ndarray], smoothed: bool = False, form=js) -> tuple[np.ndarray, int]:
    """(head, head) sums over all tokens of all segments, and the number of tokens.

    segments: (layer, head, query, key) maps of each, without padding.
    """
    layers, heads = segments[0].shape[:2]
    totals, tokens = np.zeros((layers * heads, layers * heads)), 0
    for maps in segments:
        n = maps.shape[-1]
        tokens += n
        for a in range(layers * heads):
            for b in range(layers * heads):
                for i in range(n):
                    p = [float(x) for x in maps[a // heads, a % heads, i]]
                    q = [float(x) for x in maps[b // heads, b % heads, i]]
                    if smoothed:
                        p = [0.001 / n + 0.999 * x for x in p]
                        q = [0.001 / n + 0.999 * x for x in q]
                    totals[a, b] += form(p, q)
    return totals, tokens


def behavior(values: dict[str, float], thresholds: dict[str, float]) -> str:
    """The last that applies wins; what a model has not is missing from the values."""
    name = "other"
    if values.get("next", 0) > thresholds["next"]:
        name = "next"
    if values["previous"] > thresholds["previous"]:
        name = "previous"
    if values["entropy"] > thresholds["entropy"]:
        name = "broad"
    if values.get("to_cls", 0) > thresholds["to_cls"]:
        name = "to_cls"
    if values.get("to_sep", 0) > thresholds["to_sep"]:
        name = "to_sep"
    if values["to_punct"] > thresholds["to_punct"]:
        name = "to_punct"
    if "to_cls" not in values and values["to_first"] > thresholds["to_first"]:
        name = "to_first"
    return name


def closeness(divergence: np.ndarray, heads: int) -> tuple[float, float]:
    """Mean over pairs of heads of one layer, and over pairs of different layers."""
    within, between = [], []
    for a in range(len(divergence)):
        for b in range(a + 1, len(divergence)):
            (within if a // heads == b // heads else between).append(divergence[a, b])
    return sum(within) / len(within), sum(between) / len(between)


def stress(divergence: np.ndarray, points: np.ndarray) -> float:
    """Kruskal's stress-1."""
    wrong, all_squares = 0.0, 0.0
    for a in range(len(points)):
        for b in range(a + 1, len(points)):
            distance = math.dist(points[a], points[b])
            wrong += (distance - divergence[a, b]) ** 2
            all_squares += distance**2
    return math.sqrt(wrong / all_squares)
