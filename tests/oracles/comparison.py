"""Differences of two runs, in plain loops over Python floats; shares no code with the package."""

from __future__ import annotations

import math


def p_value(difference, error):
    """Two-sided, of a normal distribution, by the integral of its density (Simpson's rule)."""
    z, steps = abs(difference) / error, 4000
    width = z / steps
    heights = [math.exp(-((k * width) ** 2) / 2) for k in range(steps + 1)]
    inside = heights[0] + heights[-1] + sum((4 if k % 2 else 2) * heights[k] for k in range(1, steps))
    return max(0.0, 1 - 2 * inside * width / 3 / math.sqrt(2 * math.pi))


def holm_rejects(p, alpha):
    """Holm's procedure as it is written: step down from the smallest p until one is not under alpha / (m - k + 1)."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    rejected = set()
    for k, i in enumerate(order):
        if p[i] > alpha / (len(p) - k):
            break
        rejected.add(i)
    return rejected


def wilson(right, n, z=1.959963984540054):
    """Both roots of (x - p)^2 = z^2 x (1 - x) / n, found by bisection."""
    p = right / n

    def excess(x):
        return (x - p) ** 2 - z**2 * x * (1 - x) / n

    def root(inside, outside):
        for _ in range(200):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if excess(middle) <= 0 else (inside, middle)
        return inside

    return root(p, 0.0), root(p, 1.0)


def newcombe(right_a, n_a, right_b, n_b, z=1.959963984540054):
    """The interval of b - a by Newcombe's method 10."""
    a, b = right_a / n_a, right_b / n_b
    (low_a, high_a), (low_b, high_b) = wilson(right_a, n_a, z), wilson(right_b, n_b, z)
    low = b - a - math.sqrt((b - low_b) ** 2 + (high_a - a) ** 2)
    high = b - a + math.sqrt((high_b - b) ** 2 + (a - low_a) ** 2)
    return low, high


def mean_and_error(values):
    """Mean, and its standard error: the sample's standard deviation over the root of n."""
    mean = sum(values) / len(values)
    variance = sum((x - mean) ** 2 for x in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))
