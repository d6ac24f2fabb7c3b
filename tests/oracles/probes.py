"""Probes, literally: scores as loops over heads, words and dimensions, written from methods.md, section 8."""

import math


def attention_only(maps, cls, sep, w, u, root):
    """scores[j][i], candidate 0 being ROOT, from maps[k][x][y] (x attends to y).

    cls[k] and sep[k] are (to, from): to[j] = A[j,CLS], from[j] = A[CLS,j]. root[r][k] weighs A[j,CLS], A[CLS,j],
    A[j,SEP], A[SEP,j] in this order. A word never governs itself.
    """
    heads, size = len(maps), len(maps[0])
    scores = []
    for j in range(size):
        at_root = 0.0
        for k in range(heads):
            rows = (cls[k][0][j], cls[k][1][j], sep[k][0][j], sep[k][1][j])
            at_root += sum(root[r][k] * rows[r] for r in range(4))
        row = [at_root]
        for i in range(size):
            total = sum(w[k] * maps[k][i][j] + u[k] * maps[k][j][i] for k in range(heads))
            row.append(-math.inf if i == j else total)
        scores.append(row)
    return scores


def paper_attention_only(maps, cls, sep, w, u, scales):
    """The release: ROOT is scored with the words' own weights on scales[0] * CLS + scales[1] * SEP."""
    heads, size = len(maps), len(maps[0])
    scores = []
    for j in range(size):
        row = [0.0]
        for k in range(heads):
            from_root = scales[0] * cls[k][1][j] + scales[1] * sep[k][1][j]
            to_root = scales[0] * cls[k][0][j] + scales[1] * sep[k][0][j]
            row[0] += w[k] * from_root + u[k] * to_root
        for i in range(size):
            row.append(sum(w[k] * maps[k][i][j] + u[k] * maps[k][j][i] for k in range(heads)))
        scores.append(row)
    return scores


def attention_and_words(maps, cls, sep, vectors, big_w, big_u, bias_w, bias_u, scales, misaligned):
    """The release's attention and words: w_k = W_k.(v_i + v_j) + b over the concatenation, built in full for each pair.

    big_w[k] and big_u[k] have twice the vectors' length. v_ROOT is 0; misaligned, see word_pairs.
    """
    heads, size = len(maps), len(maps[0])
    pairs = word_pairs(vectors, misaligned)
    scores = []
    for j in range(size):
        row = []
        for i in range(size + 1):
            pair = [*pairs[j][i][0], *pairs[j][i][1]]
            total = 0.0
            for k in range(heads):
                w = sum(a * b for a, b in zip(big_w[k], pair, strict=True)) + bias_w[k]
                u = sum(a * b for a, b in zip(big_u[k], pair, strict=True)) + bias_u[k]
                if i == 0:
                    ahead = scales[0] * cls[k][1][j] + scales[1] * sep[k][1][j]
                    back = scales[0] * cls[k][0][j] + scales[1] * sep[k][0][j]
                else:
                    ahead, back = maps[k][i - 1][j], maps[k][j][i - 1]
                total += w * ahead + u * back
            row.append(total)
        scores.append(row)
    return scores


def word_pairs(vectors, misaligned):
    """pairs[j][i] = (the candidate's vector, the dependent's), candidate 0 being ROOT, v_ROOT = 0.

    Misaligned, as the release: the pairs of all words with the dependent, in order, and then one of nothing but zeros,
    while the maps have ROOT at the front.
    """
    nothing = [0.0] * len(vectors[0])
    table = []
    for dependent in vectors:
        words = [(candidate, dependent) for candidate in vectors]
        table.append([*words, (nothing, nothing)] if misaligned else [(nothing, dependent), *words])
    return table


def distance_features(size):
    """features[j][i] for dependent j and candidate i, 0 being ROOT."""
    table = []
    for j in range(1, size + 1):
        row = [[0.0] * 7 + [1.0]]
        for i in range(1, size + 1):
            d = j - i
            near = [float(d == offset) for offset in (0, -1, 1, -2, 2)]
            row.append([max(d, 0) / size, max(-d, 0) / size, *near, 0.0])
        table.append(row)
    return table


def distances_and_words(vectors, first, second, third, bias, out, misaligned=False, itself=False):
    """One hidden layer of tanh units over [v_i, v_j, features]; first, second, third: unit x inputs.

    itself: a word may govern itself, as in the release.
    """
    size = len(vectors)
    features, pairs = distance_features(size), word_pairs(vectors, misaligned)
    scores = []
    for j in range(size):
        row = []
        for i, (v, dependent) in enumerate(pairs[j]):
            total = 0.0
            for unit in range(len(out)):
                value = bias[unit]
                value += sum(a * b for a, b in zip(first[unit], v, strict=True))
                value += sum(a * b for a, b in zip(second[unit], dependent, strict=True))
                value += sum(a * b for a, b in zip(third[unit], features[j][i], strict=True))
                total += out[unit] * math.tanh(value)
            row.append(-math.inf if i == j + 1 and not itself else total)
        scores.append(row)
    return scores


def right_branching(size):
    """The word to the right; the last word's guess is ROOT."""
    return [word + 1 if word < size else 0 for word in range(1, size + 1)]


def uas(trees, guesses, punctuation):
    """trees: (governors, relations) by sentence; with `punctuation` every word counts."""
    right = total = 0
    for (governors, relations), guessed in zip(trees, guesses, strict=True):
        for governor, relation, guess in zip(governors, relations, guessed, strict=True):
            if punctuation or relation.split(":")[0] != "punct":
                total += 1
                right += governor == guess
    return right / total


def cross_entropy(scores, governors):
    """Summed over words, nats."""
    total = 0.0
    for row, governor in zip(scores, governors, strict=True):
        total += math.log(sum(math.exp(score) for score in row)) - row[governor]
    return total


def tree_distance(governors, a, b):
    """Edges between words a and b (from 1) of a tree."""

    def above(word):
        path = [word]
        while word:
            word = governors[word - 1]
            path.append(word)
        return path

    first, second = above(a), above(b)
    return min(first.index(x) + second.index(x) for x in first if x in second)


def spanning_tree_edges(apart):
    """Prim's: edges (lower, higher) of the minimum spanning tree, from 0."""
    inside, edges = {0}, set()
    while len(inside) < len(apart):
        a, b = min(
            ((a, b) for a in inside for b in range(len(apart)) if b not in inside), key=lambda e: apart[e[0]][e[1]]
        )
        inside.add(b)
        edges.add((min(a, b), max(a, b)))
    return edges


def structural_loss(states, matrix, governors):
    """sum over pairs of |tree distance - squared distance under B|, divided by n^2; matrix: dimension x rank."""
    size, total = len(states), 0.0
    for a in range(size):
        for b in range(size):
            gap = [x - y for x, y in zip(states[a], states[b], strict=True)]
            image = [sum(gap[d] * matrix[d][r] for d in range(len(gap))) for r in range(len(matrix[0]))]
            total += abs(tree_distance(governors, a + 1, b + 1) - sum(v * v for v in image))
    return total / size**2
