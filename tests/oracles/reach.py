"""Slow, literal versions of the quantities of reach: plain loops over Python floats, from the definitions alone.

A segment is a list of its tokens' kinds, as in the reference; `rows[i][j]` is one head's map, and `outputs[head][i]`
the vector that each head of a layer gives token i. `sees(i, j)` says whether row i sees token j, where a window leaves
it less than all tokens or, if causal, all earlier ones.
"""

import hashlib
import math

NAN = math.nan
FAR = 10


def seen_by(i, n, causal, sees=None):
    """The tokens that row i of n sees."""
    return [j for j in range(n) if (sees(i, j) if sees else not causal or j <= i)]


def quantities(rows, kinds, causal=False, sees=None):
    """One head's quantities in one segment, but `output`; NaN for one that the segment does not have."""
    n = len(kinds)
    total = far = mean = 0.0
    uniform = []
    for i in range(n):
        for j in range(n):
            total += float(rows[i][j])
            mean += float(rows[i][j]) * abs(i - j)
            if abs(i - j) > FAR:
                far += float(rows[i][j])
        seen = seen_by(i, n, causal, sees)
        uniform.append(sum(abs(i - j) for j in seen) / len(seen))
    mean /= total
    variance = 0.0
    for i in range(n):
        for j in range(n):
            variance += float(rows[i][j]) * (abs(i - j) - mean) ** 2 / total
    first = [0] if kinds[0] not in ("cls", "sep") else []
    places = {name: [j for j in range(n) if kinds[j] == name] for name in ("sep", "cls")}
    return {
        "distance": mean,
        "spread": math.sqrt(variance),
        "beyond": far / total,
        "sink_sep": is_sink(rows, places["sep"], causal, sees),
        "sink_cls": is_sink(rows, places["cls"], causal, sees),
        "sink_first": is_sink(rows, first, causal, sees),
        "distance_ordinary": between_ordinary(rows, kinds, causal),
        "uniform": sum(uniform) / n,
        "uniform_ordinary": between_ordinary(uniform_rows(n, causal, sees), kinds, causal),
    }


def uniform_rows(n, causal, sees=None):
    rows = []
    for i in range(n):
        seen = seen_by(i, n, causal, sees)
        rows.append([1 / len(seen) if j in seen else 0.0 for j in range(n)])
    return rows


def between_ordinary(rows, kinds, causal):
    """The mean |i - j| of the weights between two different ordinary tokens; NaN where these are next to nothing."""
    ordinary = [j for j in range(1, len(kinds)) if kinds[j] not in ("cls", "sep")]
    weight = far = 0.0
    for i in ordinary:
        for j in ordinary:
            if i != j and not (causal and j > i):
                weight += float(rows[i][j])
                far += float(rows[i][j]) * abs(i - j)
    return far / weight if weight > 1e-30 else NAN


def share_of(rows, places, causal, sees=None):
    """The mean of what these tokens get together, over the rows that see one of them."""
    n = len(rows)
    received = []
    for i in range(n):
        if any(j in places for j in seen_by(i, n, causal, sees)):
            received.append(sum(float(rows[i][j]) for j in places))
    return sum(received) / len(received)


def is_sink(rows, places, causal, sees=None):
    if not places:
        return NAN
    return 1.0 if share_of(rows, places, causal, sees) > 0.3 else 0.0


def offsets(rows, causal=False):
    """The shares of attention by j - i: under -10, -10 to 10, over 10; NaN for later keys of a causal model."""
    n = len(rows)
    sums = {}
    for i in range(n):
        for j in range(n):
            bin_ = max(-FAR - 1, min(FAR + 1, j - i))
            sums[bin_] = sums.get(bin_, 0.0) + float(rows[i][j])
    total = sum(sums.values())
    shares = []
    for bin_ in range(-FAR - 1, FAR + 2):
        shares.append(NAN if causal and bin_ > 0 else sums.get(bin_, 0.0) / total)
    return shares


def relative_outputs(outputs):
    """For each head of a layer the mean length of its vectors over the mean of these means."""
    means = []
    for vectors in outputs:
        lengths = [math.sqrt(sum(float(x) ** 2 for x in vector)) for vector in vectors]
        means.append(sum(lengths) / len(lengths))
    layer = sum(means) / len(means)
    return [mean / layer for mean in means]


def act(rows, kinds, causal=False):
    """(weight, query, key) of the largest weight between two different ordinary tokens; None without two of them."""
    best = None
    ordinary = [j for j in range(1, len(kinds)) if kinds[j] not in ("cls", "sep")]
    for i in ordinary:
        for j in ordinary:
            if i != j and not (causal and j > i) and (best is None or float(rows[i][j]) > best[0]):
                best = (float(rows[i][j]), i, j)
    return best


def drawn(numbers, seed, count):
    """The numbers of the inputs that are kept of these."""

    def draw(number):
        return hashlib.blake2b(f"{seed}:{number}".encode(), digest_size=6).digest()

    return sorted(numbers, key=draw)[:count]


def token_sums(inputs, causal=False, sees=None):
    """What every token receives and gives: (share, token) -> unit -> [n under uniform attention, s of the head].

    Each input is (unit, names of its tokens, their kinds, one head's map).
    """
    sums = {}

    def count(share, name, unit, n, s):
        cell = sums.setdefault((share, name), {}).setdefault(unit, [0.0, 0.0])
        cell[0] += n
        cell[1] += s

    for unit, names, kinds, rows in inputs:
        size = len(kinds)
        special = [kind in ("cls", "sep") for kind in kinds]
        for j in range(size):
            name = "(first token)" if j == 0 and not special[0] else names[j]
            uniform = 0.0
            for i in range(size):
                seen = seen_by(i, size, causal, sees)
                uniform += 1 / len(seen) if j in seen else 0.0
            count("received", name, unit, uniform, sum(float(rows[i][j]) for i in range(size)))
            if j > 0 and not special[j]:
                seen = seen_by(j, size, causal, sees)
                others = [k for k in seen if k != j and k > 0 and not special[k]]
                count("given", name, unit, len(others) / len(seen), sum(float(rows[j][k]) for k in others))
    return sums


def ratio(by_unit):
    """(s / n, its standard error over units, Kish's effective number of units)."""
    pairs = list(by_unit.values())
    n, s = (sum(pair[index] for pair in pairs) for index in (0, 1))
    value = s / n
    effective = n * n / sum(pair[0] ** 2 for pair in pairs)
    squares = sum((pair[1] - value * pair[0]) ** 2 for pair in pairs)
    return value, math.sqrt(effective / (effective - 1) * squares) / n, effective
