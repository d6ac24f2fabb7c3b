"""Slow, literal versions of every quantity, written from the definitions alone; they share no code with the package.

A segment is a list of its tokens' kinds ("cls", "sep", "punct" or "other"), without padding; its maps are nested
sequences `maps[layer][head][i][j]`. Everything is a plain loop over Python floats (64 bits).
"""

import math

NAN = math.nan


# -- surface patterns (sections 3.1 and 3.2) -------------------------------------------------------------------------


def surface_patterns(rows, kinds, causal=False):
    """One head's quantities in one segment; NaN for one that the segment does not have."""
    n = len(kinds)
    current = previous = following = to_cls = to_sep = to_punct = 0.0
    sep_rows, other_rows = [], []
    for i in range(n):
        sums = {"cls": 0.0, "sep": 0.0, "punct": 0.0, "other": 0.0}
        for j in range(n):
            sums[kinds[j]] += float(rows[i][j])
        current += float(rows[i][i])
        if i > 0:
            previous += float(rows[i][i - 1])
        if i < n - 1:
            following += float(rows[i][i + 1])
        to_cls += sums["cls"]
        to_sep += sums["sep"]
        to_punct += sums["punct"]
        (sep_rows if kinds[i] == "sep" else other_rows).append(sums["sep"])
    has_sep = "sep" in kinds
    return {
        "current": current / n,
        "previous": previous / n,
        "next": NAN if causal else following / n,
        "to_cls": to_cls / n if "cls" in kinds else NAN,
        "to_sep": to_sep / n if has_sep else NAN,
        "to_punct": to_punct / n,
        "sep_to_sep": sum(sep_rows) / len(sep_rows) if has_sep else NAN,
        "other_to_sep": sum(other_rows) / len(other_rows) if has_sep and other_rows else NAN,
        "to_first": sum(float(rows[i][0]) for i in range(1, n)) / (n - 1) if n > 1 else NAN,
    }


# -- entropy (section 3.3) -------------------------------------------------------------------------------------------


def row_entropy(row, smoothed=False):
    """-sum a log a in nats, 0 log 0 = 0; `smoothed` puts 0.9999 a + 0.0001 / n in place of a."""
    total = 0.0
    for value in row:
        a = float(value)
        if smoothed:
            a = 0.9999 * a + 0.0001 / len(row)
        if a > 0:
            total -= a * math.log(a)
    return total


def entropy(rows, kinds, smoothed=False, causal=False, sees=None):
    """One head's quantities in one segment; NaN for one that the segment does not have. `sees(i, j)` says whether row i
    sees token j, where a window leaves it less than all tokens or, if causal, all earlier ones."""
    n = len(kinds)
    entropies = [row_entropy(rows[i][:n], smoothed) for i in range(n)]
    of_cls = [entropies[i] for i in range(n) if kinds[i] == "cls"]
    largest = [max(float(rows[i][j]) for j in range(n)) for i in range(n)]
    seen = sees or (lambda i, j: not causal or j <= i)
    uniform = [math.log(sum(seen(i, j) for j in range(n))) for i in range(n)]
    return {
        "entropy": sum(entropies) / n,
        "from_cls": sum(of_cls) / len(of_cls) if of_cls else NAN,
        "max_weight": sum(largest) / n,
        "uniform": sum(uniform) / n,
    }


# -- document averages -----------------------------------------------------------------------------------------------


def document_average(values):
    """(mean, standard error, count) over segments; a segment whose value is NaN is left out."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return NAN, NAN, 0
    mean = sum(known) / len(known)
    if len(known) == 1:
        return mean, 0.0, 1
    variance = sum((value - mean) ** 2 for value in known) / (len(known) - 1)
    return mean, math.sqrt(variance / len(known)), len(known)


def corpus(measure, segments, quantity):
    """[layer][head] document averages of one quantity; segments are (maps, kinds) pairs."""
    layers, heads = len(segments[0][0]), len(segments[0][0][0])
    return [
        [
            document_average([measure(maps[layer][head], kinds)[quantity] for maps, kinds in segments])[0]
            for head in range(heads)
        ]
        for layer in range(layers)
    ]


def kinds_of(tokens, cls, sep, marks=(".", ",")):
    """The kind of each token, from the tokens' names and what the model calls its special tokens."""
    kinds = []
    for token in tokens:
        if cls is not None and token == cls:
            kinds.append("cls")
        elif sep is not None and token == sep:
            kinds.append("sep")
        elif token.lstrip("Ġ▁") in marks:
            kinds.append("punct")
        else:
            kinds.append("other")
    return kinds


# -- segments (section 1) --------------------------------------------------------------------------------------------


def chunks(documents, budget):
    """Runs of lines (lists of tokens) that become a segment each: at least two lines and the budget, or the end."""
    runs = []
    for document in documents:
        chunk = []
        for line in document:
            chunk.append(line)
            if len(chunk) >= 2 and sum(len(tokens) for tokens in chunk) >= budget:
                runs.append(chunk)
                chunk = []
        if chunk:
            runs.append(chunk)
    return runs


def released_chunks(lines, budget):
    """The runs of lines that the release makes a segment of each, from a file's lines: tokens, [] for an empty line."""
    runs, document = [], []
    for line in lines:
        if not line:
            runs += _released_document(document, budget)
            document = []
        else:
            document.append(line)
    return runs  # what no empty line follows is never looked at


def _released_document(document, budget):
    runs, chunk, length = [], [], 0
    for i in range(len(document)):
        chunk.append(document[i])
        length += len(document[i])
        if i == len(document) - 1 or length >= budget:
            if len(chunk) == 1:
                break
            runs.append(chunk)
            chunk, length = [], 0
    return runs


def final_lengths(first, second, budget):
    """Every pair of lengths that dropping one token at a time from the longer side can end in."""
    ends, open_pairs = set(), {(first, second)}
    while open_pairs:
        a, b = open_pairs.pop()
        if a + b <= budget:
            ends.add((a, b))
        elif a > b:
            open_pairs.add((a - 1, b))
        elif b > a:
            open_pairs.add((a, b - 1))
        else:
            open_pairs |= {(a - 1, b), (a, b - 1)}
    return ends


def is_run(part, whole):
    """Whether `part` stands in `whole` without a gap."""
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def possible_pair(first, second, chunk, budget):
    """Whether some cut between the chunk's lines, and some choice of dropped tokens, gives these two sides."""
    for cut in range(1, len(chunk)):
        a = [token for line in chunk[:cut] for token in line]
        b = [token for line in chunk[cut:] for token in line]
        fits = (len(first), len(second)) in final_lengths(len(a), len(b), budget)
        if fits and is_run(first, a) and is_run(second, b):
            return True
    return False


# -- word-level maps (section 4.1) -----------------------------------------------------------------------------------


def word_level(rows, owners, first_piece=False):
    """Attention between words: the sum over the pieces of the word attended to, the mean over the pieces of the word
    that attends (the first piece alone in mode "as in the paper"). A special token, owner -1, is a word of its own."""
    words = []
    for position, owner in enumerate(owners):
        if owner >= 0 and position > 0 and owners[position - 1] == owner:
            words[-1].append(position)
        else:
            words.append([position])
    result = []
    for source in words:
        row = []
        for target in words:
            sums = [sum(float(rows[i][j]) for j in target) for i in source]
            row.append(sums[0] if first_piece else sum(sums) / len(sums))
        result.append(row)
    return result
