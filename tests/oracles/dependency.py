"""Dependency heads, literally: the release's rules as slow loops over words and heads, written from methods.md."""

import math

import numpy as np

from tests.oracles.uncertainty import effective_n, kish, t_quantile

DIRECTIONS = ("dependent->governor", "governor->dependent")


def head_guesses(attention, direction):
    """For each word the other word (from 1) with the most attention; 0-sized choice leaves the word itself."""
    size = len(attention)
    guesses = []
    for word in range(size):
        best, highest = word, -1.0
        for other in range(size):
            weight = attention[word, other] if direction == DIRECTIONS[0] else attention[other, word]
            if other != word and weight > highest:
                best, highest = other, weight
        guesses.append(best + 1)
    return guesses


def offset_guesses(size, offset):
    return [min(max(position + offset, 0), size) for position in range(1, size + 1)]


def score(sentences, guesses, possessives=()):
    """{relation: [right, words]}, "all" and "UAS" too, for guesses (from 1, 0 the root) of each sentence."""
    counts = {"all": [0, 0], "UAS": [0, 0]}
    for sentence, guessed in zip(sentences, guesses, strict=True):
        words = sentence["words"]
        for position, (governor, relation) in enumerate(zip(sentence["heads"], sentence["relns"], strict=True)):
            right = guessed[position] == governor
            marked = position + 1 < len(words) and words[position + 1].lower() in possessives
            if relation == "poss" and marked and guessed[position] != len(words):
                right = guessed[position + 1] == governor
            for name in {"all", relation} | (set() if relation.split(":")[0] == "punct" else {"UAS"}):
                entry = counts.setdefault(name, [0, 0])
                entry[0] += right
                entry[1] += 1
    return counts


def table(sentences, maps, relation, offsets, possessives=(), directions=DIRECTIONS):
    """The row of one relation, where heads compete in these directions, from maps[sentence][layer][head] (word, word):
    accuracies by loops, then the best."""
    layers, heads = len(maps[0]), len(maps[0][0])

    def accuracy(chosen, layer, head, direction):
        picked = [sentences[i] for i in chosen]
        guesses = [head_guesses(maps[i][layer][head], direction) for i in chosen]
        return score(picked, guesses, possessives).get(relation, [0, 0])

    every = [(d, la, h) for d in directions for la in range(layers) for h in range(heads)]
    everyone = range(len(sentences))
    scores = {key: accuracy(everyone, key[1], key[2], key[0]) for key in every}
    best = max(every, key=lambda key: scores[key][0])  # the first of equals
    halves = [[i for i in everyone if sentences[i]["number"] % 2 == parity] for parity in (0, 1)]
    pooled, both = [0, 0], True
    for pick, test in (halves, halves[::-1]):
        chosen = max(every, key=lambda key: accuracy(pick, key[1], key[2], key[0])[0])
        right, n = accuracy(test, chosen[1], chosen[2], chosen[0])
        pooled, both = [pooled[0] + right, pooled[1] + n], both and n > 0
    baselines = {}
    for offset in offsets:
        guesses = [offset_guesses(len(sentence["words"]), offset) for sentence in sentences]
        baselines[offset] = score(sentences, guesses, possessives)[relation]
    offset = max(offsets, key=lambda o: baselines[o][0])
    right, n = scores[best]
    return {
        "n": n,
        "head": f"{best[1] + 1}-{best[2] + 1}",
        "direction": best[0],
        "accuracy": right / n,
        "heldout_accuracy": pooled[0] / pooled[1] if both else math.nan,
        "baseline_offset": offset,
        "baseline_accuracy": baselines[offset][0] / n,
    }


def attended(maps, labels, label, causal=False):
    """(share, share under uniform attention, half-width by sentence, words) of the attention from words to words that
    goes to words of a label, from one head's maps[sentence] (word, word) and labels[sentence][word]."""
    given, total, uniform, words = [], [], 0.0, 0
    for attention, of in zip(maps, labels, strict=True):
        size = len(of)
        to_label = to_all = 0.0
        for i in range(size):
            seen = [j for j in range(size) if j <= i or not causal]
            for j in range(size):
                to_all += float(attention[i, j])
                if of[j] == label:
                    to_label += float(attention[i, j])
                    uniform += 1 / len(seen) if j in seen else 0.0
        given.append(to_label)
        total.append(to_all)
        words += sum(name == label for name in of)
    share = sum(given) / sum(total)
    effective = sum(total) ** 2 / sum(m * m for m in total)
    squares = sum((x - share * m) ** 2 for x, m in zip(given, total, strict=True))
    error = math.sqrt(squares * effective / (effective - 1)) / sum(total)
    everyone = sum(len(of) for of in labels)
    return share, uniform / everyone, t_quantile(effective - 1) * error, words


def matching_sentences(sentences, relation, which, minimum, searched, order):
    """Numbers of the sentences that match a reader's filters, in the order asked for, by sorting the whole list.

    Each of `sentences` is {"words", "governors" (from 1), "relations", "guesses" (from 0), "weights" (of 255)}.
    """
    rows = []
    for number, sentence in enumerate(sentences):
        counted = []
        for word, name in enumerate(sentence["relations"]):
            if relation in ("all", name) or (relation == "UAS" and name.split(":")[0] != "punct"):
                counted.append(word)
        right = [sentence["guesses"][word] + 1 == sentence["governors"][word] for word in counted]
        highest = max([sentence["weights"][word] for word in counted], default=None)
        if highest is None or highest / 255 < minimum:
            continue
        if (which == "right" and True not in right) or (which == "wrong" and False not in right):
            continue
        text = " ".join(word.lower() for word in sentence["words"])
        if searched and f" {' '.join(searched)} " not in f" {text} ":
            continue
        rows.append((highest, number))
    keys = {"most": lambda row: (-row[0], row[1]), "least": lambda row: row, "file": lambda row: row[1]}
    return [number for _, number in sorted(rows, key=keys[order.split()[0]])]


def causal_guess(attention, word, side):
    """The word (from 1) that a causal head guesses as the governor of `word` on one side; 0 where there is none."""
    best, highest = 0, -1.0
    for other in range(1, len(attention) + 1):
        if side == "earlier" and other < word and attention[word - 1, other - 1] > highest:
            best, highest = other, attention[word - 1, other - 1]
        if side == "later" and other > word and attention[other - 1, word - 1] > highest:
            best, highest = other, attention[other - 1, word - 1]
    return best


def causal_counts(sentences, maps, relation, offsets):
    """{side: (words, right guesses (layer, head), of each offset, of a random word)} over the words of a relation whose
    governor stands on that side, from maps[sentence][layer][head] (word, word)."""
    layers, heads = len(maps[0]), len(maps[0][0])
    counts = {}
    for side in ("earlier", "later"):
        words, right, by_offset, random = 0, np.zeros((layers, heads), dtype=int), dict.fromkeys(offsets, 0), 0.0
        for sentence, attention in zip(sentences, maps, strict=True):
            size = len(sentence["words"])
            for word in range(1, size + 1):
                governor, name = sentence["heads"][word - 1], sentence["relns"][word - 1]
                counted = relation in ("all", name) or (relation == "UAS" and name.split(":")[0] != "punct")
                if not counted or governor == 0 or (governor < word) != (side == "earlier"):
                    continue
                words += 1
                on_side = [
                    other for other in range(1, size + 1) if other != word and (other < word) == (governor < word)
                ]
                random += on_side.count(governor) / len(on_side)
                for layer in range(layers):
                    for head in range(heads):
                        right[layer, head] += causal_guess(attention[layer][head], word, side) == governor
                for offset in offsets:
                    by_offset[offset] += offset_guesses(size, offset)[word - 1] == governor
        counts[side] = (words, right, by_offset, random)
    return counts


def units_of(sentences, documents):
    """The number of each sentence's unit: of its document, [document of each sentence], where there are several."""
    return documents if len(set(documents)) > 1 else [sentence["number"] for sentence in sentences]


def interval_over_units(sentences, guesses, relation, units):
    """(low, high, units) of the accuracy of guesses (from 1) on a relation: Wilson's interval of the effective number
    of words, with Student's t."""
    by_unit = {}
    for sentence, guessed, unit in zip(sentences, guesses, units, strict=True):
        right, n = score([sentence], [guessed]).get(relation, [0, 0])
        if n:
            entry = by_unit.setdefault(unit, [0, 0])
            entry[0] += right
            entry[1] += n
    counts = [tuple(entry) for entry in by_unit.values()]
    share, size = sum(c for c, _ in counts) / sum(n for _, n in counts), effective_n(counts)
    t = t_quantile(kish([n for _, n in counts]) - 1)
    center = (share + t * t / (2 * size)) / (1 + t * t / size)
    half = t / (1 + t * t / size) * math.sqrt(share * (1 - share) / size + t * t / (4 * size * size))
    return center - half, center + half, len(counts)
