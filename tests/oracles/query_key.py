"""Why a token attends where it does, in plain loops over Python floats; shares no code with the package."""

import math


def score(query, key, scale):
    total = 0.0
    for d in range(len(query)):
        total += query[d] * key[d]
    return scale * total


def weights(logits, sink=None):
    largest = max(logits)
    total = sum(math.exp(logit - largest) for logit in logits)
    if sink is not None:
        total += math.exp(sink - largest)
    return [math.exp(logit - largest) / total for logit in logits]


def shares(embeddings, gain, epsilon):
    """Of each of the summed embeddings, its part in the layer normalization of the sum, without the bias."""
    whole = [sum(column) for column in zip(*embeddings, strict=True)]
    mean = sum(whole) / len(whole)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in whole) / len(whole) + epsilon)
    parts = []
    for vector in embeddings:
        own = sum(vector) / len(vector)
        parts.append([(x - own) / deviation * g for x, g in zip(vector, gain, strict=True)])
    return parts


def linear(weight, vector):
    return [sum(w * x for w, x in zip(row, vector, strict=True)) for row in weight]
