"""Dependency heads: which head finds which relation, in which direction (4.2; Table 1; docs/methods.md, section 6).
Counts are integers, so that merging is exact."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.dependency_heads import guesses
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, FOLDS, OFFSETS, SIDES, VIEWS, view_of_side
from bertviz_core.analyses.dependency_heads.relations import by_size
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.dependency_heads.word_classes import ClassSums, NamedSums, classes_of
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.treebank import ALL, POSSESSIVES, UAS, Sentence, sentence_of
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import Batch, membership, word_of
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.reading import Sentences

UNIT = 1 << 32  # a right guess of a random word is counted in so many parts
RELEASE_POSSESSIVES = ("'s", "s'")


@dataclass
class Guesses:
    """Correct guesses by relation, fold, direction, layer and head, and those of the offset baselines.

    by_sentence: of a chunk, after `take_detail` of the corpus's first sentences: number -> (sentence, guess, weight in
        255ths), (direction, layer, head, word).
    counts: by (view, relation), where the views of a causal model's words are those of `view_of_side`, of its roots,
        which have no side, the view itself: (fold, ...) "correct" by direction, layer and head, "offsets" by offset,
        "n", and "random", what a word drawn at random among those that a causal head sees would find, in parts of UNIT.
    """

    layers: int
    heads: int
    device: str
    possessives: tuple[str, ...] = ()  # make the guess for a word of relation `poss` before them, where they have one
    first_piece: bool = False  # whether a split word's row is that of its first piece; else it is the mean
    causal: bool = False  # whether words are counted apart by the side of their governor

    def __post_init__(self) -> None:
        self.by_sentence: dict[int, tuple[Sentence, np.ndarray, np.ndarray]] = {}
        self.classes = ClassSums(self.layers, self.heads)
        heads = (len(DIRECTIONS), self.layers, self.heads)
        shapes = {"correct": heads, "offsets": OFFSETS.shape, "random": (), "n": ()}
        self.counts = NamedSums({name: (FOLDS, *shape) for name, shape in shapes.items()}, np.int64)

    def new_empty(self) -> Self:
        return replace(self)

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        if attention.layer == 0:
            self.open(batch)
            self.classes.open([classes_of(each.sentence) for each in self.examples], attention.causal)
        maps = self.words.maps(attention.weights)
        self.classes.update(attention.layer, maps.sum(2).cpu().numpy())
        self.score(attention.layer, maps)

    def open(self, batch: Batch) -> None:
        """Prepare for the guesses in a batch, whose layers follow."""
        examples: Any = batch.examples
        self.examples = examples
        self.words = membership(list(map(word_of, self.examples)), self.device, first_piece=self.first_piece)
        size = self.words.mask.shape[1]
        self.last = torch.tensor([[len(example.sentence) - 1] for example in self.examples], device=self.device)
        shape = (len(self.examples), len(DIRECTIONS), self.layers, self.heads, size)
        self.guesses = np.zeros(shape, np.uint8 if size <= 256 else np.uint16)
        self.weights = np.zeros(shape, np.uint8)

    def score(self, layer: int, maps: Tensor) -> None:
        """Take in word-level maps (batch, head, word, word) of one layer, whose diagonals are overwritten, and count
        the guesses after the last layer."""
        weight, guess = guesses.best_words(maps, self.last)
        self.guesses[:, :, layer] = guess.short().cpu().numpy()  # no sentence has 32,768 words
        self.weights[:, :, layer] = (weight * 255).round().clamp(min=0).byte().cpu().numpy()
        for row, example in enumerate(self.examples if layer + 1 == self.layers else ()):
            own = np.s_[row, ..., : len(example.sentence)]
            self.by_sentence[example.number] = example.sentence, self.guesses[own], self.weights[own]
            self._count(example.number, example.sentence, self.guesses[own].astype(np.int64) + 1)

    def _count(self, number: int, sentence: Sentence, guess: np.ndarray) -> None:
        """Count the words of a sentence, the right ones of its guesses (direction, layer, head, word), from 1, and of
        those of every fixed offset o: min(max(p + o, 0), n), 0 being the root."""
        last = len(sentence)
        words = np.arange(1, last + 1)
        fixed = np.clip(words + OFFSETS[:, None], 0, last)  # (offset, word)
        is_marked = np.array([after.lower() in self.possessives for after in (*sentence.words[1:], "")])
        for view, viewed in VIEWS.items():
            tree = viewed(sentence)
            governors = np.array(tree.governors)
            is_ruled = is_marked & (np.array(tree.relations) == "poss")
            above = enumerate(tree.governors, start=1)
            sides = [view_of_side(view, SIDES[g > word]) if self.causal and g else view for word, g in above]
            visible = np.where(governors < words, words - 1, last - words).clip(min=1)  # a word drawn on its side
            counted = {"correct": _right(guess, governors, is_ruled), "offsets": _right(fixed, governors, is_ruled)}
            counted |= {"random": UNIT // visible, "n": np.ones(last)}
            rows, own = np.unique(self.counts.rows(zip(sides, tree.relations, strict=True)), return_inverse=True)
            members = (own == np.arange(len(rows))[:, None]).astype(float)  # (row, word)
            for name, values in counted.items():
                self.counts.sums[name][rows, number % FOLDS] += np.tensordot(members, values, 1).astype(np.int64)

    def merge(self, other: Self) -> None:
        self.counts.merge(other.counts)
        self.by_sentence |= other.by_sentence
        self.classes.merge(other.classes)

    def take_detail(self) -> dict[str, Any]:
        """The guesses of a chunk in file order, as `guesses.SentenceQuery` reads them; without its words, so that a
        corpus that is deleted is gone. Only the first guesses.MAX_SENTENCES of the corpus stay here."""
        numbers = sorted(self.by_sentence)
        sentences = [self.by_sentence[number][0] for number in numbers]
        values = self.joined(numbers) | guesses.trees_of(sentences, VIEWS)
        self.by_sentence = {n: entry for n, entry in self.by_sentence.items() if n < guesses.MAX_SENTENCES}
        return values

    def joined(self, numbers: Sequence[int]) -> dict[str, Any]:
        """Guesses and weights of sentences, (direction, layer, head, word) one after the other."""
        none = np.zeros((len(DIRECTIONS), self.layers, self.heads, 0), dtype=np.uint8)
        joined = (np.concatenate([none, *(self.by_sentence[number][i] for number in numbers)], -1) for i in (1, 2))
        return dict(zip(("guesses", "weights"), joined, strict=True))

    def to_bytes(self) -> bytes:
        numbers = list(self.by_sentence)
        sentences = [asdict(self.by_sentence[number][0]) for number in numbers]
        records = {"names": list(self.counts.names), "numbers": numbers, "sentences": sentences}
        return pack(self.counts.sums | records | self.joined(numbers) | self.classes.values())

    def from_bytes(self, data: bytes) -> Self:
        state = unpack(data)
        full = self.new_empty()
        full.counts.restore(state["names"], state)
        full.classes.restore(state["classes"], state)
        sentences = list(map(sentence_of, state["sentences"]))
        ends = np.cumsum([len(sentence) for sentence in sentences], dtype=np.int64)
        arrays = (np.split(state[name], ends, -1) for name in ("guesses", "weights"))
        full.by_sentence = dict(zip(state["numbers"], zip(sentences, *arrays, strict=False), strict=True))
        return full


def _right(guess: np.ndarray, governors: np.ndarray, is_ruled: np.ndarray) -> np.ndarray:
    """(word, ...) whether guesses (..., word), from 1, are right; for words that are ruled that of the next word."""
    following = np.concatenate([guess[..., 1:], guess[..., -1:]], -1)
    chosen = np.where(is_ruled & (guess != len(governors)), following, guess)
    return np.moveaxis(chosen == governors, -1, 0)


def accumulator(model: AttentionModel, request: Request) -> Guesses:
    """The accumulator for one pass; mode "as in the paper" takes first pieces and the release's `poss` rule, which
    option `possessives` applies in corrected mode too."""
    paper = request.settings.paper
    chosen = POSSESSIVES if request.options.get("possessives") else ()
    ruled = RELEASE_POSSESSIVES if paper else chosen
    return Guesses(model.layers, model.heads, model.device, ruled, paper, model.causal)


def finish(accumulator: Guesses, examples: Sentences, provenance: dict[str, Any]) -> DependencyHeads:
    """The result, with the first sentences and the guesses made in them."""
    counted = accumulator.counts
    rows = rows_of(list(counted.names), counted.sums["n"].sum(1), accumulator.causal)
    sums = {name: np.stack([value[own].sum(0) for own in rows.values()], 1) for name, value in counted.sums.items()}
    random = sums.pop("random").sum(0) / UNIT
    counts = {name: value.astype(np.int32) for name, value in sums.items()}
    numbers = [number for number in sorted(accumulator.by_sentence) if number < guesses.MAX_SENTENCES]
    sentences = [accumulator.by_sentence[number][0] for number in numbers]
    joined = accumulator.joined(numbers)
    longest = max(map(len, sentences), default=0)
    joined["guesses"] = joined["guesses"].astype(np.uint8 if longest <= 256 else np.uint16)
    values: dict[str, Any] = {"n": counts["n"], "correct": counts["correct"].swapaxes(1, 2)}
    values |= {"offsets": OFFSETS, "offset_correct": counts["offsets"].sum(0).T}
    values |= {"random_correct": random if accumulator.causal else None}
    values |= joined | accumulator.classes.values()
    views, relations = map(list, zip(*rows, strict=True))
    records = list(map(guesses.sentence_record, sentences))
    return DependencyHeads(provenance, views=views, relations=relations, sentences=records, **values)


def rows_of(names: Sequence[tuple[str, str]], n: np.ndarray, causal: bool) -> dict[tuple[str, str], list[int]]:
    """The rows of the result, (view, relation), and which of the accumulator's `names` add up to each. Of a causal
    model the words of each of SIDES have views of their own, with the same relations."""
    rows: dict[tuple[str, str], list[int]] = {}
    for view in VIEWS:
        parts = (view, *(view_of_side(view, side) for side in SIDES if causal))
        members = [row for row, (part, _) in enumerate(names) if part in parts]
        order = by_size([names[row][1] for row in members], n[members])
        for part in parts:
            own = [row for row in members if part in (view, names[row][0])]
            rows[part, ALL] = own
            rows[part, UAS] = [row for row in own if guesses.base_of(names[row][1]) != "punct"]
            rows |= {(part, name): [row for row in own if names[row][1] == name] for name in order}
    return rows
