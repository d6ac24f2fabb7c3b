"""Uncertainty by document word for word (docs/methods.md): plain loops over Python floats; shares no code with the
package."""

import math


def kish(sizes):
    """The number of documents of equal size that say as much."""
    return sum(sizes) ** 2 / sum(size * size for size in sizes)


def by_document(documents):
    """(mean, standard error, effective number) of values in lists, one for each document; empty lists do not count. The
    error is wider where the documents are skewed."""
    documents = [values for values in documents if values]
    total = sum(len(values) for values in documents)
    mean = sum(sum(values) for values in documents) / total
    if len(documents) < 2:
        return mean, math.nan, math.nan
    squares = cubes = 0.0
    for values in documents:
        residual = sum(value - mean for value in values)
        squares += residual**2
        cubes += residual**3
    effective, count = kish([len(values) for values in documents]), len(documents)
    error = math.sqrt(effective / (effective - 1) * squares) / total
    if count < 3 or squares < 1e-12:
        return mean, error, effective
    skewness = count**2 / (count - 1) / (count - 2) * cubes / (error * total) ** 3
    t = t_quantile(max(effective - 1, 2))
    return mean, error * (1 + skewness**2 * (t**4 + 2 * t**2 - 3) / 18), effective


def t_tails(t, freedom):
    """P(|T| > t) for Student's t, by the integral of its density (Simpson's rule)."""
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    steps = 1000
    width = t / steps

    def density(x):
        return math.exp(log_scale - (freedom + 1) / 2 * math.log1p(x * x / freedom))

    inside = density(0) + density(t) + sum((4 if k % 2 else 2) * density(k * width) for k in range(1, steps))
    return max(0.0, 1 - 2 * inside * width / 3)


def t_quantile(freedom, alpha=0.05):
    """The t beyond which the two tails have an area of alpha."""
    low, high = 0.0, 1.0
    while t_tails(high, freedom) > alpha:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tails(middle, freedom) > alpha else (low, middle)
    return low


def welch(variance_a, freedom_a, variance_b, freedom_b):
    """Welch's degrees of freedom of a difference."""
    return (variance_a + variance_b) ** 2 / (variance_a**2 / freedom_a + variance_b**2 / freedom_b)


def effective_n(documents):
    """Right guesses and items of documents, [(right, items)] -> how many independent items say as much."""
    right, n = sum(c for c, _ in documents), sum(m for _, m in documents)
    p, effective = right / n, kish([m for _, m in documents])
    if p in (0, 1):
        return effective
    variance = effective / (effective - 1) * sum((c - p * m) ** 2 for c, m in documents) / n**2
    design_effect = variance / (p * (1 - p) / n)
    return n / max(design_effect, 1.0)


def share_interval(documents):
    """(low, high) of the share of items that are right, of documents [(right, items)]: Wilson's, by their effective
    number, with Student's t."""
    share = sum(c for c, _ in documents) / sum(m for _, m in documents)
    size = effective_n(documents)
    t = t_quantile(kish([m for _, m in documents]) - 1)
    center = (share + t * t / (2 * size)) / (1 + t * t / size)
    half = t / (1 + t * t / size) * math.sqrt(share * (1 - share) / size + t * t / (4 * size * size))
    return center - half, center + half
