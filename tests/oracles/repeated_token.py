"""Attention to earlier occurrences of the same token, in plain loops; shares no code with the example.

`rows` is one head's map, rows[i][j]; `ids` and `special` say of each token which it is, and whether it is CLS or SEP.
"""


def repeated_token(rows, ids, special, causal=False):
    """The two quantities of one segment, None where no token occurs twice."""
    attention, chance, count = 0.0, 0.0, 0
    for i in range(len(ids)):
        earlier = [j for j in range(i) if ids[j] == ids[i]]
        if special[i] or not earlier:
            continue
        count += 1
        for j in earlier:
            attention += float(rows[i][j])
        chance += len(earlier) / (i + 1 if causal else len(ids))
    return {"earlier": attention / count if count else None, "uniform": chance / count if count else None}
