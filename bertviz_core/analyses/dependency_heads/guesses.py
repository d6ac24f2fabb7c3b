"""Heads' guesses at each word's governor, counted on the device (docs/methods.md, section 6; section 4.2).

A head's guess for word w is the other word with the most word-level attention. `dependent->governor` reads row w,
`governor->dependent` column w (which word attends most to w). Counts are integers, so that merging is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bertviz_core.analyses.dependency_heads.gold_trees import GoldTrees, Rules, Trees, best_words, views_by_side
from bertviz_core.analyses.dependency_heads.word_classes import PART_OF_SPEECH, ClassName, WordClasses
from bertviz_core.corpora.treebank import Sentence, sentence_of
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import Batch, membership

if TYPE_CHECKING:
    from torch import Tensor


DIRECTIONS = ("dependent->governor", "governor->dependent")
FOLDS = 2  # by the parity of the sentence's number
OFFSETS = np.arange(-20, 21)  # every fixed offset that is counted; which of them compete is chosen later
COUNTS = ("correct", "offsets", "random", "n")
UNIT = 1 << 32  # a right guess of a random word is counted in so many parts
MAX_SENTENCES = 500  # whose guesses are in the result; those of all are on disk beside it


def offset_name(offset: int) -> str:
    """Name of a fixed offset with its behavior at the edge of a sentence, as "offset +1 (last word to itself)"."""
    edge = "last word to itself" if offset > 0 else "first word to ROOT" if offset else "every word to itself"
    return f"offset {offset:+d} ({edge})"


@dataclass
class Guesses:
    """Correct guesses by relation, fold, direction, layer and head, and those of the offset baselines, int64.

    Attributes:
        names: (view, relation) in order of appearance, shared by the accumulators of one pass; of a causal model's
            words the views are those of `view_of_side`, of its roots the view itself.
        by_sentence: Number of a sentence -> (sentence, guess, weight in 255ths), of a chunk; after `take_detail` of the
            first MAX_SENTENCES of the corpus. The arrays have axes (direction, layer, head, word).
        correct: (relation, fold, direction, layer, head).
        offsets: (relation, fold, offset).
        random: (relation, fold), what a word drawn at random among those that a causal head sees would find, in parts
            of UNIT; 0 in other models.
        n: (relation, fold).
    """

    rules: Rules
    layers: int
    heads: int
    device: str
    names: dict[tuple[str, str], int] = field(default_factory=dict)
    by_sentence: dict[int, tuple[Sentence, np.ndarray, np.ndarray]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        import torch

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(shape, dtype=torch.int64, device=self.device)

        self.correct = zeros(0, FOLDS, len(DIRECTIONS), self.layers, self.heads)
        self.offsets, self.random, self.n = zeros(0, FOLDS, len(OFFSETS)), zeros(0, FOLDS), zeros(0, FOLDS)
        self.classes = WordClasses(self.layers, self.heads)
        self.open: tuple[Batch, GoldTrees, np.ndarray, np.ndarray] | None = None

    def new_empty(self) -> Self:
        return type(self)(self.rules, self.layers, self.heads, self.device, self.names)

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        maps = self._opened(batch)[0].words.maps(attention.weights)
        if attention.layer == 0:
            self.classes.open(list(map(self._classes, batch.examples)), attention.causal)
        self.classes.update(attention.layer, maps.sum(2).cpu().numpy())
        self.score(batch, attention.layer, maps)

    def score(self, batch: Batch, layer: int, maps: Tensor) -> None:
        """Score word-level maps (batch, head, word, word) of one layer, whose diagonals are overwritten."""
        gold, guesses, weights = self._opened(batch)
        weight, guess = best_words(maps, gold.last)
        for trees in gold.trees:
            right = gold.scored(trees, guess)  # (real word, direction, head)
            self._add(gold, trees, self.correct[:, :, :, layer], right)
        guesses[:, :, layer] = guess.short().cpu().numpy()  # no sentence has 32,768 words
        weights[:, :, layer] = (weight * 255).round().clamp(min=0).byte().cpu().numpy()

    def merge(self, other: Self) -> None:
        import torch

        rows = [self.names.setdefault(name, len(self.names)) for name in list(other.names)][: len(other.n)]
        self._make_room_for_new_relations()
        index = torch.tensor(rows, dtype=torch.int64, device=self.device)
        for name in COUNTS:
            getattr(self, name).index_add_(0, index, getattr(other, name).to(self.device))
        self.by_sentence |= other.by_sentence
        self.classes.merge(other.classes)

    def take_detail(self) -> dict[str, Any]:
        """The guesses of a chunk in file order, as `sentences.SentenceQuery` reads them; without its words, so that a
        corpus that is deleted is gone. Only the first MAX_SENTENCES of the corpus stay here."""
        numbers = sorted(self.by_sentence)
        values: dict[str, Any] = self.joined(numbers) | {"number": np.array(numbers, dtype=np.int64)}
        sentences = [self.by_sentence[number][0] for number in numbers]
        values["length"] = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        for view, of in self.rules.views.items():
            viewed = [of(sentence) for sentence in sentences]
            names = list(dict.fromkeys(chain.from_iterable(sentence.relations for sentence in viewed)))
            indices = {name: index for index, name in enumerate(names)}
            relations = [indices[name] for sentence in viewed for name in sentence.relations]
            governors = [governor for sentence in viewed for governor in sentence.governors]
            values[f"{view}/names"] = names
            values[f"{view}/relations"] = np.array(relations, dtype=np.uint16)
            values[f"{view}/governors"] = np.array(governors, dtype=np.uint16)
        self.by_sentence = {number: kept for number, kept in self.by_sentence.items() if number < MAX_SENTENCES}
        return values

    def joined(self, numbers: Sequence[int]) -> dict[str, np.ndarray]:
        """Guesses and weights of sentences, (direction, layer, head, word) one after the other."""
        none = np.zeros((len(DIRECTIONS), self.layers, self.heads, 0), dtype=np.uint8)
        joined = (np.concatenate([none, *(self.by_sentence[number][i] for number in numbers)], -1) for i in (1, 2))
        return dict(zip(("guesses", "weights"), joined, strict=True))

    def to_bytes(self) -> bytes:
        numbers = list(self.by_sentence)
        sentences = [asdict(self.by_sentence[number][0]) for number in numbers]
        counts = {**self.counts(), "names": list(self.names)}
        kept = {"kept": numbers, "sentences": sentences} | self.joined(numbers)
        return pack(counts | kept | self.classes.values())

    def from_bytes(self, data: bytes) -> Self:
        import torch

        state, full = unpack(data), type(self)(self.rules, self.layers, self.heads, self.device)
        full.names = {(view, relation): row for row, (view, relation) in enumerate(state["names"])}
        for name in COUNTS:
            setattr(full, name, torch.from_numpy(state[name]).to(self.device))
        full.classes = WordClasses.read(state)
        sentences = [sentence_of(fields) for fields in state["sentences"]]
        ends = np.cumsum([len(sentence) for sentence in sentences], dtype=np.int64)
        guesses, weights = (np.split(state[name], ends, -1) for name in ("guesses", "weights"))
        full.by_sentence = dict(zip(state["kept"], zip(sentences, guesses, weights, strict=False), strict=True))
        return full

    def counts(self) -> dict[str, Tensor]:
        """The sums by name, in the order of `names`."""
        self._make_room_for_new_relations()
        return {name: getattr(self, name) for name in COUNTS}

    def _opened(self, batch: Batch) -> tuple[GoldTrees, np.ndarray, np.ndarray]:
        """The batch's trees, built at its first layer, when words and offset baselines are counted too."""
        if self.open is None or self.open[0] is not batch:
            gold = self._gold(batch.examples)
            self.open = batch, gold, *self._room(batch.examples, gold.words.mask.shape[1])
            self._make_room_for_new_relations()
            self._count_words(gold)
        return self.open[1:]

    def _gold(self, examples: Sequence[Any]) -> GoldTrees:
        import torch

        words = membership(examples, self.device, first_piece=self.rules.first_piece)
        size = words.mask.shape[1]
        last = torch.tensor([[len(example.sentence) - 1] for example in examples], device=self.device)
        return GoldTrees(words, last, tuple(self._trees(view, examples, size) for view in self.rules.views))

    def _trees(self, view: str, examples: Sequence[Any], size: int) -> Trees:
        import torch

        governor, bucket, ruled = np.zeros((3, len(examples), size), dtype=np.int64)
        for row, example in enumerate(examples):
            sentence, fold = self.rules.views[view](example.sentence), example.number % FOLDS
            views = views_by_side(view, sentence) if self.rules.causal else [view] * len(sentence)
            named = zip(views, sentence.relations, strict=True)
            relations = [self.names.setdefault(name, len(self.names)) for name in named]
            governor[row, : len(sentence)] = np.array(sentence.governors) - 1
            bucket[row, : len(sentence)] = np.array(relations) * FOLDS + fold
            ruled[row, : len(sentence)] = self._ruled(sentence)
        moved = [torch.from_numpy(array).to(self.device) for array in (governor, bucket, ruled)]
        return Trees(moved[0], moved[1], moved[2].bool())

    def _classes(self, example: Any) -> list[list[ClassName]]:
        """The classes of every word of a sentence."""
        sentence: Sentence = example.sentence
        labels = {view: of(sentence).relations for view, of in self.rules.views.items()}
        if sentence.tags:
            labels[PART_OF_SPEECH] = sentence.tags
        return [list(zip(labels, of, strict=True)) for of in zip(*labels.values(), strict=True)]

    def _ruled(self, sentence: Sentence) -> list[bool]:
        following = (*sentence.words[1:], "")
        return [
            relation == "poss" and word.lower() in self.rules.possessives
            for relation, word in zip(sentence.relations, following, strict=True)
        ]

    def _count_words(self, gold: GoldTrees) -> None:
        """The words of the batch, and the guesses of every fixed offset o: min(max(p + o, 0), n), 0 being the root."""
        import torch

        mask = gold.words.mask
        index = torch.arange(mask.shape[1], device=self.device)
        offsets = torch.from_numpy(OFFSETS).to(self.device)
        fixed = (index + offsets[:, None]).clamp(min=-1)  # (offset, word), the root being -1 here
        guess = fixed[None].minimum(gold.last[:, :, None])  # (batch, offset, word)
        for trees in gold.trees:
            self._add(gold, trees, self.offsets, gold.scored(trees, guess))
            self._add(gold, trees, self.n, mask.new_ones(int(mask.sum())))
            if self.rules.causal:
                self._add(gold, trees, self.random, UNIT // gold.visible(trees))

    def _add(self, gold: GoldTrees, trees: Trees, counts: Tensor, right: Tensor) -> None:
        """Add right (real word, ...) to counts (relation, fold, ...), each word to its relation and fold."""
        import torch

        bucket = trees.bucket[gold.words.mask]
        sums = torch.zeros((counts.shape[0] * FOLDS, *right.shape[1:]), dtype=torch.int64, device=self.device)
        counts += sums.index_add_(0, bucket, right.long()).view(counts.shape)

    def _make_room_for_new_relations(self) -> None:
        for name in COUNTS:
            counts: Tensor = getattr(self, name)
            new = counts.new_zeros((len(self.names), *counts.shape[1:]))
            new[: len(counts)] = counts
            setattr(self, name, new)

    def _room(self, examples: Sequence[Any], size: int) -> tuple[np.ndarray, np.ndarray]:
        """Room for the guesses in the batch's sentences, (row, direction, layer, head, word): words and weights."""
        shape = (len(examples), len(DIRECTIONS), self.layers, self.heads, size)
        room = np.zeros(shape, dtype=np.uint8 if size <= 256 else np.uint16), np.zeros(shape, dtype=np.uint8)
        for row, example in enumerate(examples):
            guess, weight = (array[row, ..., : len(example.sentence)] for array in room)
            self.by_sentence[example.number] = (example.sentence, guess, weight)
        return room
