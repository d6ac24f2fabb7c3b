"""A slow, literal oracle for coreference heads, written from the definitions with plain loops in float64.

A document is a dict: "words", "sentences" (first words), "mentions" ((start, end), end not included, chain), "tags" and
"governors" (lists or None), "pieces" (a list of ids for each word), "number".
"""

import math

import numpy as np

BREAKS = """
    about above across after against along among around as at before behind below beneath beside between beyond by
    despite down during except for from in inside into like near of off on onto out outside over past since through
    throughout till to toward towards under until up upon via with within without that which who whom whose where
    when ,
"""
INDEFINITE = """
all another any anybody anyone anything both each either enough everybody everyone everything few many more most much
neither nobody none nothing others people several some somebody someone something such
"""
PRONOUNS = """
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves this that these those who whom whose which one oneself
"""
TYPES = ("pronoun", "proper", "nominal")


def head_word(document: dict, start: int, end: int) -> int:
    if document["governors"]:
        for word in range(start, end):
            governor = document["governors"][word]
            if governor < start or governor >= end:
                return word
    last = end - 1
    for word in range(end - 1, start, -1):
        if document["words"][word].lower() in BREAKS.split():
            last = word - 1
    while last > start:
        text = document["words"][last]
        if text in ("'s", "’s") or not any(letter.isalnum() for letter in text):
            last -= 1
        else:
            break
    return last


def in_order(document: dict) -> list[tuple[int, int, int]]:
    return sorted(document["mentions"], key=lambda mention: (mention[0], -mention[1]))


def windows(document: dict, budget: int, paper: bool) -> list[tuple[int, int]]:
    """(first word, one past the last) of each window of at most `budget` pieces."""
    sizes = [len(piece) for piece in document["pieces"]]
    if paper:
        end = 0
        edges = [*document["sentences"][1:], len(sizes)]
        for edge in edges:
            if sum(sizes[:edge]) <= budget:
                end = edge
        if end == 0:
            while sum(sizes[: end + 1]) <= budget:
                end += 1
        return [(0, end)]
    spans = []
    first = 0
    while True:
        end = first
        while end < len(sizes) and sum(sizes[first : end + 1]) <= budget:
            end += 1
        spans.append((first, end))
        if end == len(sizes):
            return spans
        begin = first
        while sum(sizes[begin:first]) < budget // 2:
            first += 1


def items(document: dict, budget: int, paper: bool, causal: bool = False) -> list[dict]:
    """Every scored mention: its window, head, candidates and antecedents (mentions as (head, chain, place)); for a
    causal model candidates stand before it."""
    spans = windows(document, budget, paper)
    mentions = [m for m in in_order(document) if not paper or m[1] <= spans[0][1]]
    heads = [head_word(document, start, end) for start, end, _ in mentions]
    scored = []
    for number, (_, _, chain) in enumerate(mentions):
        showing = [span for span in spans if span[0] <= heads[number] < span[1]]
        window = max(showing, key=lambda span: heads[number] - span[0])
        candidates = [
            other for other in range(number) if heads[other] != heads[number] and window[0] <= heads[other] < window[1]
        ]
        if causal:
            candidates = [other for other in candidates if heads[other] < heads[number]]
        antecedents = [other for other in candidates if mentions[other][2] == chain]
        if antecedents:
            scored.append(
                {
                    "window": window,
                    "head": heads[number],
                    "candidates_in_order": [heads[other] for other in candidates],
                    "candidate_heads": {heads[other] for other in candidates},
                    "antecedent_heads": {heads[other] for other in antecedents},
                    "type": mention_type(document, heads[number]),
                    "bin": distance_bin(min(abs(heads[number] - heads[other]) for other in antecedents)),
                }
            )
    return scored


def distance_bin(words: int) -> str:
    for last, name in ((5, "1-5"), (10, "6-10"), (20, "11-20"), (40, "21-40"), (80, "41-80")):
        if words <= last:
            return name
    return "81+"


def mention_type(document: dict, head: int) -> str:
    if document["tags"]:
        tag = document["tags"][head]
        if tag in ("PRP", "PRP$", "PRON"):
            return "pronoun"
        return "proper" if tag in ("NNP", "NNPS", "PROPN") else "nominal"
    word = document["words"][head]
    if word.lower() in PRONOUNS.split():
        return "pronoun"
    if head in document["sentences"] and (word.lower() in document["words"] or word.lower() in INDEFINITE.split()):
        return "nominal"
    return "proper" if word[0].isupper() else "nominal"


def word_attention(matrix: np.ndarray, owners: list[int], source: int, target: int, first_piece: bool) -> float:
    """Mean over the source word's pieces (or its first) of the sum over the target word's pieces."""
    rows = [token for token, word in enumerate(owners) if word == source]
    if first_piece:
        rows = rows[:1]
    total = 0.0
    for row in rows:
        for column, word in enumerate(owners):
            if word == target:
                total += float(matrix[row, column])
    return total / len(rows)


def right_guesses(documents: list[dict], maps, budget: int, paper: bool, causal: bool = False) -> dict:
    """(direction, candidates, type, fold, layer, head) -> right guesses, and (type, fold) -> items under "n"; the same
    with "bin" before and the bin of the nearest antecedent's distance in place of the fold.

    maps(ids) gives (layer, head, query, key) for `[CLS] pieces [SEP]`, float64; for a causal model for `<s> pieces`.
    """
    counts: dict = {}
    for document in documents:
        fold = document["number"] % 2
        known: dict = {}
        for item in items(document, budget, paper, causal):
            first, end = item["window"]
            if (first, end) not in known:
                ids = [i for piece in document["pieces"][first:end] for i in piece]
                known[first, end] = maps(ids)
            attention = known[first, end]
            owners = [-1]
            for word in range(first, end):
                owners += [word] * len(document["pieces"][word])
            owners += [] if causal else [-1]
            for key in (("n", item["type"], fold), ("bin", "n", item["type"], item["bin"])):
                counts[key] = counts.get(key, 0) + 1
            others = [word for word in range(first, item["head"] if causal else end) if word != item["head"]]
            for name, allowed in (("mentions", sorted(item["candidate_heads"])), ("words", others)):
                for layer in range(attention.shape[0]):
                    for head in range(attention.shape[1]):
                        matrix = attention[layer, head]
                        for direction in (0, 1):
                            best, guess = -1.0, None
                            for word in allowed:
                                pair = (item["head"], word) if direction == 0 else (word, item["head"])
                                weight = word_attention(matrix, owners, *pair, paper)
                                if weight > best:
                                    best, guess = weight, word
                            right = guess in item["antecedent_heads"]
                            for key in (
                                (direction, name, item["type"], fold, layer, head),
                                ("bin", direction, name, item["type"], item["bin"], layer, head),
                            ):
                                counts[key] = counts.get(key, 0) + right
    return counts


def best_head(counts: dict, layers: int, heads: int, types: tuple[str, ...] = TYPES) -> dict:
    """Table 2's head: candidates are mentions of these types, read from the mention to its antecedent."""

    def right(layer: int, head: int, folds: tuple) -> int:
        total = 0
        for key, count in counts.items():
            if (
                key[0] == 0
                and key[1] == "mentions"
                and key[2] in types
                and key[3] in folds
                and key[4:] == (layer, head)
            ):
                total += count
        return total

    def first_best(folds: tuple) -> tuple[int, int]:
        highest, best = -1, (0, 0)
        for layer in range(layers):
            for head in range(heads):
                if right(layer, head, folds) > highest:
                    highest, best = right(layer, head, folds), (layer, head)
        return best

    of_folds = [sum(counts.get(("n", kind, fold), 0) for kind in types) for fold in (0, 1)]
    n = sum(of_folds)
    layer, head = first_best((0, 1))
    share = right(layer, head, (0, 1)) / n
    heldout = right(*first_best((1,)), (0,)) + right(*first_best((0,)), (1,))
    return {
        "head": f"{layer + 1}-{head + 1}",
        "direction": "mention->antecedent",
        "accuracy": share,
        "heldout_accuracy": heldout / n if all(of_folds) else math.nan,
    }


def baselines(documents: list[dict], budget: int, paper: bool, causal: bool = False) -> dict:
    """Right guesses by type of the baselines that need no lists: the last candidate, and the last one whose head word
    is the item's, which is no guess at all, and wrong, where no candidate has it."""
    names = ("nearest", "head match", "head match, else nearest")
    counts = {name: dict.fromkeys(TYPES, 0) for name in names}
    for document in documents:
        for item in items(document, budget, paper, causal):
            nearest = item["candidates_in_order"][-1]
            match = None
            for head in item["candidates_in_order"]:
                if document["words"][head].lower() == document["words"][item["head"]].lower():
                    match = head
            for name, guess in zip(names, (nearest, match, nearest if match is None else match), strict=True):
                if guess is not None and guess in item["antecedent_heads"]:
                    counts[name][item["type"]] += 1
    return counts


def chance(documents: list[dict], budget: int, paper: bool, causal: bool = False) -> dict:
    """(measure, candidates, type) -> the sum over the items of 1 / candidates, and of antecedents / candidates."""
    sums: dict = {}
    for document in documents:
        for item in items(document, budget, paper, causal):
            first, end = item["window"]
            others = {word for word in range(first, item["head"] if causal else end) if word != item["head"]}
            for name, allowed in (("mentions", item["candidate_heads"]), ("words", others)):
                right = len([word for word in allowed if word in item["antecedent_heads"]])
                for measure, share in (("one", 1 / len(allowed)), ("any", right / len(allowed))):
                    key = (measure, name, item["type"])
                    sums[key] = sums.get(key, 0.0) + share
    return sums


def passages(sentences: list[int], words: int, most: int) -> list[tuple[int, int]]:
    """Whole sentences, one after the other, as long as they are `most` words together; for sentences of no more."""
    spans, current = [], []
    for place, start in enumerate(sentences):
        end = sentences[place + 1] if place + 1 < len(sentences) else words
        if current and end - current[0] > most:
            spans.append((current[0], start))
            current = []
        current = current or [start]
    return [*spans, (current[0], words)]


def chosen_guesses(rows: list[tuple], which: str, minimum: float) -> list[tuple]:
    """Those of (mention, guessed, weight, right) that a reader asks for."""
    return [row for row in rows if row[2] >= minimum and which in ("all", "right" if row[3] else "wrong")]


def listed_passages(every: list[dict], which: str, minimum: float, searched: tuple, order: str) -> list[dict]:
    """The passages that a reader asks for, in their order, by sorting the whole list.

    Each is {"name", "words", "guesses" as in `chosen_guesses`}; weights are compared in steps of 1/255.
    """
    rows = []
    for place, one in enumerate(every):
        chosen = chosen_guesses(one["guesses"], which, minimum)
        if not chosen:
            continue
        texts = [" ".join(one["words"]).casefold(), one["name"].casefold()]
        if searched and not any(f" {' '.join(searched)} " in f" {text} " for text in texts):
            continue
        rows.append((max(round(row[2] * 255) for row in chosen), place))
    keys = {"most": lambda row: (-row[0], row[1]), "least": lambda row: row, "file": lambda row: row[1]}
    return [every[place] for _, place in sorted(rows, key=keys[order.split(maxsplit=1)[0]])]
