"""Slow, literal versions of how a head's numbers are placed among those of all heads."""

import math


def middle(numbers):
    """The median: of an even count the mean of the two in the middle."""
    ordered = sorted(numbers)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def score(own, numbers):
    """Robust standard deviations from the median; of the mean distance where half of the heads are at the median."""
    known = [number for number in numbers if not math.isnan(number)]
    center = middle(known)
    distances = [abs(number - center) for number in known]
    scale = 1.4826 * middle(distances)
    if scale == 0:
        scale = 1.2533 * sum(distances) / len(distances)
    return (own - center) / scale if scale else 0.0


def rank(own, numbers):
    """One more than the heads with a higher number."""
    return 1 + sum(number > own for number in numbers if not math.isnan(number))


def quantile(share, numbers):
    """Linear between the two numbers in order that are nearest."""
    ordered = sorted(number for number in numbers if not math.isnan(number))
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def salience(own, numbers, limits):
    """The distance from the median as a share of the scale, over the number of heads as far out on its side."""
    known = [number for number in numbers if not math.isnan(number)]
    center = middle(known)
    beyond = [number for number in known if (number >= own if own >= center else number <= own)]
    return abs(own - center) / (limits[1] - limits[0]) / len(beyond)
