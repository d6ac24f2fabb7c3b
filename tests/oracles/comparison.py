"""Differences of two runs, in plain loops over Python floats; shares no code with the package."""

import math


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
