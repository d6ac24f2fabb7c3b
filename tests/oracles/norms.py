"""What a weight moves, with every vector built in plain loops over Python floats; shares no code with the package."""

import math


def passed_on(states, value_weight, value_bias, output_weight, heads):
    """[head][token][dimension]: f(x) = (x W_V + b_V) W_O^h. Weights as torch keeps them, [out][in]."""
    hidden, width = len(output_weight), len(value_bias) // heads
    vectors = []
    for head in range(heads):
        rows = range(head * width, (head + 1) * width)
        of_head = []
        for x in states:
            v = [value_bias[r] + sum(value_weight[r][k] * x[k] for k in range(len(x))) for r in rows]
            of_head.append([sum(output_weight[d][r] * v[r - head * width] for r in rows) for d in range(hidden)])
        vectors.append(of_head)
    return vectors


def length(vector):
    return math.sqrt(sum(x * x for x in vector))


def shares(rows, vectors):
    """[i][j] of one head: |A_ij f(x_j)| over the sum of these over j."""
    normalized = []
    for weights in rows:
        lengths = [length([weight * x for x in vector]) for weight, vector in zip(weights, vectors, strict=True)]
        normalized.append([size / sum(lengths) for size in lengths])
    return normalized


def block_output(maps, vectors, bias):
    """[i][dimension]: the sum over heads and tokens of A_ij f(x_j), and the output projection's bias."""
    outputs = []
    for i in range(len(maps[0])):
        total = list(bias)
        for rows, of_head in zip(maps, vectors, strict=True):
            for j, vector in enumerate(of_head):
                for d, x in enumerate(vector):
                    total[d] += rows[i][j] * x
        outputs.append(total)
    return outputs


def ranks(values):
    """Ranks of the values, from 1; equal values share the mean of their ranks."""
    return [
        1 + sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]


def spearman(first, second):
    """Pearson's correlation of the ranks; NaN where either does not vary."""
    a, b = ranks(first), ranks(second)
    mean = (len(a) + 1) / 2
    covariance = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    spread = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    return covariance / math.sqrt(spread) if spread else math.nan


def surface(rows, lengths, kinds):
    """Mean length of each class of tokens, and the correlation of length with the mean weight received."""
    columns = {}
    for kind in ("cls", "sep", "punct", "other"):
        chosen = [size for size, token in zip(lengths, kinds, strict=True) if token == kind]
        columns[f"norm_{kind}"] = sum(chosen) / len(chosen) if chosen else math.nan
    received = [sum(row[j] for row in rows) / len(rows) for j in range(len(rows))]
    columns["norm_correlation"] = spearman(lengths, received)
    return columns
