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
