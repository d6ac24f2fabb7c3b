"""Dependency heads against the release's per-sentence Python loops, on the same maps, in one run; CPU seconds.

    python -m benchmarks.dependency_heads [TREEBANK] [--sentences 120] [--turns 3]

The maps are softmaxed noise in BERT-base's shape (12 layers, 12 heads) over the sentences of a treebank: the time does
not depend on the weights. Then the whole way, reading included, for the treebank on the demo model.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from itertools import islice
from statistics import median
from typing import Any, cast

import bertviz_core  # noqa: F401  (first: it sets what torch must find in the environment)

import numpy as np  # isort: skip
import torch  # isort: skip

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.measure import RelationSums
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.files import find_source
from bertviz_core.corpora.source import Source
from bertviz_core.inputs.annotated_words import EncodedSentence, Sentences
from bertviz_core.inputs.encoding import Batch, Encoded, buckets, collate, membership, word_of
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.models.loading import load_tokens
from bertviz_core.settings import Settings

LAYERS, HEADS = 12, 12
REQUIRED = {"word-level maps": 20, "scoring all heads": 5}
Groups = list[tuple[Batch, torch.Tensor]]  # maps: (layer, batch, head, query, key)


def release_word_level(attention: np.ndarray, words: list[list[int]]) -> np.ndarray:
    """One head's map: columns of a split word added, its first row kept, the others deleted."""
    merged = np.array(attention)
    others: list[int] = []
    for word in words:
        others += word[1:]
    for word in words:
        merged[:, word[0]] = merged[:, word].sum(axis=-1)
    merged = np.delete(merged, others, -1)
    for word in words:
        merged[word[0]] = np.mean(merged[word], axis=0)
    return np.delete(merged, others, 0)


def release_scores(sentences: list[Any], maps: list[np.ndarray]) -> dict[tuple, Counter]:
    """Right guesses by relation for each head and direction, counted word by word."""
    scores = {}
    for direction in DIRECTIONS:
        for layer in range(LAYERS):
            for head in range(HEADS):
                right: Counter = Counter()
                for sentence, attention in zip(sentences, maps, strict=True):
                    attn = np.array(attention[layer][head])
                    attn = attn.T if direction == DIRECTIONS[1] else attn
                    attn[range(len(attn)), range(len(attn))] = 0
                    guesses = np.argmax(attn[1:-1, 1:-1], axis=-1) + 1
                    for guess, governor, relation in zip(guesses, sentence.governors, sentence.relations, strict=True):
                        right[relation] += guess == governor
                        right["all"] += guess == governor
                scores[direction, layer, head] = right
    return scores


def our_scores(groups: Groups) -> RelationSums:
    """The product's accumulator over batches of word-level maps, which lose their diagonals."""
    counts = RelationSums(LAYERS, HEADS, "cpu")
    for batch, maps in groups:
        part = counts.new_empty()
        part.open(batch)
        for layer in range(LAYERS):
            part.score(maps[layer])
        counts.merge(part)
    counts.complete()
    return counts


def noise(examples: list[Encoded], tokens: Any) -> Groups:
    """Maps of like-sized batches, padding keys 0."""
    generator = torch.Generator().manual_seed(0)
    groups = []
    for group in buckets(examples, 512):
        batch = collate(group, tokens, "cpu")
        width = batch.ids.shape[1]
        logits = torch.randn(LAYERS, len(group), HEADS, width, width, generator=generator)
        groups.append((batch, logits.masked_fill(~batch.mask[:, None, None], -1e9).softmax(-1)))
    return groups


def apart(groups: Groups) -> tuple[list[EncodedSentence], list[np.ndarray]]:
    """The same maps sentence by sentence, (layer, head, query, key), as the release keeps them."""
    examples, maps = [], []
    for batch, values in groups:
        for row, example in enumerate(batch.examples):
            examples.append(example)
            maps.append(values[:, row, :, : len(example), : len(example)].numpy())
    return examples, maps  # type: ignore[return-value]


def pieces_of(example: Encoded) -> list[list[int]]:
    """Token positions of each word, the special tokens being words of their own."""
    assert example.words is not None
    inner = [np.flatnonzero(example.words == word).tolist() for word in range(int(example.words.max()) + 1)]
    return [[0], *inner, [len(example) - 1]]


def seconds(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def compare(name: str, theirs: Callable[[], Any], ours: Callable[[], Any], turns: int) -> None:
    """Both sides in turns; the ratio is the median of the turns' ratios."""
    pairs = [(seconds(theirs), seconds(ours)) for _ in range(turns)]
    ratio = median(a / b for a, b in pairs)
    verdict = "" if ratio >= REQUIRED[name] else "  TOO SLOW"
    slow, fast = (median(times) for times in zip(*pairs, strict=True))
    print(f"{name}: release {slow:.2f} s, here {fast:.3f} s, {ratio:.0f} times{verdict}")


def same_maps(source: Source, count: int, turns: int) -> None:
    """Both sides on the same maps, after a check that they agree."""
    tokens = load_tokens(find_checkpoint("demo"))
    groups = noise(list(islice(Sentences(source, tokens, Settings()), count)), tokens)
    examples, maps = apart(groups)
    words = [pieces_of(example) for example in examples]

    def theirs() -> list[np.ndarray]:
        return [
            np.stack([[release_word_level(head, its) for head in layer] for layer in one])
            for one, its in zip(maps, words, strict=True)
        ]

    def ours() -> None:
        for batch, values in groups:
            member = membership([word_of(example, special=True) for example in batch.examples], "cpu")
            for layer in range(LAYERS):
                member.maps(values[layer])

    compare("word-level maps", theirs, ours, turns)
    worded = [(batch, word_level(batch, values, special=False)) for batch, values in groups]
    framed = [(batch, word_level(batch, values, special=True)) for batch, values in groups]
    sentences = [example.sentence for example in examples]
    their_maps = [
        maps[:, row, :, : len(example.sentence) + 2, : len(example.sentence) + 2].numpy()
        for batch, maps in framed
        for row, example in enumerate(cast(tuple[EncodedSentence, ...], batch.examples))
    ]
    _agree(our_scores(worded), release_scores(sentences, their_maps))
    compare("scoring all heads", lambda: release_scores(sentences, their_maps), lambda: our_scores(worded), turns)


def word_level(batch: Batch, maps: torch.Tensor, special: bool) -> torch.Tensor:
    """(layer, batch, head, word, word)"""
    member = membership([word_of(example, special=special) for example in batch.examples], "cpu")
    return torch.stack([member.maps(layer) for layer in maps])


def _agree(counts: RelationSums, scores: dict[tuple, Counter]) -> None:
    for (view, relation), row in counts.counts.names.items():
        if view != "as-is":
            continue
        total = counts.counts.sums["correct"][row].sum(0)  # (direction, layer, head)
        for (direction, layer, head), right in scores.items():
            assert total[DIRECTIONS.index(direction), layer, head] == right[relation], relation


def end_to_end(source: Source) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    result = compute(Request("dependency_heads", find_checkpoint("demo"), source), None)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"end to end: {result.provenance['sentences']:,} sentences, CPU {cpu:.1f} s, wall {wall:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", nargs="?", default="treebank", help="a file or the sample")
    parser.add_argument("--sentences", type=int, default=120, help="how many the release's loops are given")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(2)
    source = find_source(options.treebank)
    same_maps(source, options.sentences, options.turns)
    end_to_end(source)


if __name__ == "__main__":
    main()
