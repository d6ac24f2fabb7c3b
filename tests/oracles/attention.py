"""What a view of one input's attention is, in plain loops over Python floats; shares no code with the package.

`rows` is one head's map, rows[i][j]; `words` the word of each token; `special` and `sides` say so of each unit.
"""


def without_special(rows, special):
    """One head's map without the rows and columns of special units, each row divided by what is left of it."""
    units = [i for i in range(len(special)) if not special[i]]
    normalized = []
    for i in units:
        total = 0.0
        for j in units:
            total += float(rows[i][j])
        normalized.append([float(rows[i][j]) / total if total else 0.0 for j in units])
    return normalized


def between(rows, sides, here, there):
    """The part of one head's map from the units of the side `here` to the units of the side `there`."""
    return [
        [float(rows[i][j]) for j in range(len(sides)) if sides[j] == there]
        for i in range(len(sides))
        if sides[i] == here
    ]


def moved(before, after):
    """How far attention moved: half the sum of the absolute differences in a row, mean over rows."""
    total = 0.0
    for old, new in zip(before, after, strict=True):
        total += sum(abs(float(a) - float(b)) for a, b in zip(old, new, strict=True)) / 2
    return total / len(before)


def largest_of_patches(rows, patches):
    """The largest weight of each of patches x patches runs; run p of n begins at floor(p n / patches)."""
    n = len(rows)
    begins = [p * n // patches for p in range(patches)] + [n]
    return [
        [
            max(float(rows[i][j]) for i in range(begins[p], begins[p + 1]) for j in range(begins[q], begins[q + 1]))
            for q in range(patches)
        ]
        for p in range(patches)
    ]


def heads_from_to(maps, i, j):
    """[layer, head, weight, rank of the head, rank of j among what i looks at] of every head, the highest weight first;
    maps[layer][head][i][j], layers and heads from 1; of equal weights the first head comes first."""
    cells = [(layer, head, maps[layer][head]) for layer in range(len(maps)) for head in range(len(maps[layer]))]
    rows = []
    for layer, head, rows_of_head in cells:
        weight = float(rows_of_head[i][j])
        higher = sum(1 for *_, other in cells if float(other[i][j]) > weight)
        earlier = sum(1 for a, b, other in cells if float(other[i][j]) == weight and (a, b) < (layer, head))
        before = sum(1 for other in rows_of_head[i] if float(other) > weight)
        rows.append([layer + 1, head + 1, weight, 1 + higher + earlier, 1 + before])
    return sorted(rows, key=lambda row: row[3])
