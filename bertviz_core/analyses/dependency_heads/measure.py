"""Dependency heads: which head finds which relation, in which direction (4.2; Table 1; docs/methods.md, section 6).
Counts are integers, so that merging is exact."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.dependency_heads import guesses
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, FOLDS, OFFSETS, SIDES, VIEWS, view_of_side
from bertviz_core.analyses.dependency_heads.relations import by_size
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.dependency_heads.word_classes import WordClasses, classes_of
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.treebank import ALL, POSSESSIVES, UAS, Sentence, sentence_of
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import Batch, membership, word_of
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.reading import Sentences

UNIT = 1 << 32  # a right guess of a random word is counted in so many parts
RELEASE_POSSESSIVES = ("'s", "s'")


class Trees(NamedTuple):
    """Trees of a batch under one view, (batch, word), words counted from 0."""

    governor: Tensor  # -1 for the root
    bucket: Tensor  # relation * FOLDS + fold
    ruled: Tensor  # whether the `poss` rule applies


@dataclass
class Guesses:
    """Correct guesses by relation, fold, direction, layer and head, and those of the offset baselines.

    by_sentence: of a chunk, after `take_detail` of the corpus's first sentences: number -> (sentence, guess, weight in
        255ths), (direction, layer, head, word).
    sums: (relation, fold, ...) int64: "correct" by direction, layer and head, "offsets" by offset, "n", and "random",
        what a word drawn at random among those that a causal head sees would find, in parts of UNIT.
    """

    layers: int
    heads: int
    device: str
    views: Mapping[str, Callable[[Sentence], Sentence]]  # of the trees that guesses are scored against
    possessives: tuple[str, ...] = ()  # make the guess for a word of relation `poss` before them, where they have one
    first_piece: bool = False  # whether a split word's row is that of its first piece; else it is the mean
    causal: bool = False  # whether words are counted apart by the side of their governor
    # (view, relation) -> row, shared by the accumulators of one pass; of a causal model's words the views are those of
    # `view_of_side`, of its roots, which have no side, the view itself
    names: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_sentence: dict[int, tuple[Sentence, np.ndarray, np.ndarray]] = {}
        self.classes = WordClasses(self.layers, self.heads)
        each = (len(DIRECTIONS), self.layers, self.heads)
        shapes = {"correct": each, "offsets": OFFSETS.shape, "random": (), "n": ()}
        empty = partial(torch.zeros, dtype=torch.int64, device=self.device)
        self.sums = {name: empty((0, FOLDS, *shape)) for name, shape in shapes.items()}

    def new_empty(self) -> Self:
        return replace(self)

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        if attention.layer == 0:
            examples: Sequence[Any] = batch.examples
            self.open(batch)
            self.classes.open([classes_of(each.sentence, self.views) for each in examples], attention.causal)
        maps = self.words.maps(attention.weights)
        self.classes.update(attention.layer, maps.sum(2).cpu().numpy())
        self.score(attention.layer, maps)

    def open(self, batch: Batch) -> None:
        """Read the trees of a batch, whose layers follow; count its words and the guesses of every fixed offset o:
        min(max(p + o, 0), n), 0 being the root."""
        examples: Sequence[Any] = batch.examples
        self.words = membership(list(map(word_of, examples)), self.device, first_piece=self.first_piece)
        size = self.words.mask.shape[1]
        self.last = torch.tensor([[len(example.sentence) - 1] for example in examples], device=self.device)
        self.trees = [self._trees(view, examples, size) for view in self.views]
        self._make_room_for_new_relations()
        shape = (len(examples), len(DIRECTIONS), self.layers, self.heads, size)
        self.guesses, self.weights = np.zeros(shape, np.uint8 if size <= 256 else np.uint16), np.zeros(shape, np.uint8)
        for row, example in enumerate(examples):
            own = np.s_[row, ..., : len(example.sentence)]
            self.by_sentence[example.number] = example.sentence, self.guesses[own], self.weights[own]
        index = torch.arange(size, device=self.device)
        fixed = (index + torch.from_numpy(OFFSETS).to(self.device)[:, None]).clamp(min=-1)  # the root being -1 here
        for trees in self.trees:
            self._add(trees, self.sums["offsets"], self._right(trees, fixed[None].minimum(self.last[:, :, None])))
            self._add(trees, self.sums["n"], torch.ones_like(trees.bucket)[self.words.mask])
            if self.causal:  # a word is drawn on the governor's side
                visible = torch.where(trees.governor < index, index, self.last - index).clamp(min=1)
                self._add(trees, self.sums["random"], UNIT // visible[self.words.mask])

    def score(self, layer: int, maps: Tensor) -> None:
        """Score word-level maps (batch, head, word, word) of one layer, whose diagonals are overwritten."""
        weight, guess = guesses.best_words(maps, self.last)
        for trees in self.trees:
            self._add(trees, self.sums["correct"][:, :, :, layer], self._right(trees, guess))
        self.guesses[:, :, layer] = guess.short().cpu().numpy()  # no sentence has 32,768 words
        self.weights[:, :, layer] = (weight * 255).round().clamp(min=0).byte().cpu().numpy()

    def merge(self, other: Self) -> None:
        rows = [self.names.setdefault(name, len(self.names)) for name in list(other.names)][: len(other.sums["n"])]
        self._make_room_for_new_relations()
        index = torch.tensor(rows, dtype=torch.int64, device=self.device)
        for name, sums in self.sums.items():
            sums.index_add_(0, index, other.sums[name].to(self.device))
        self.by_sentence |= other.by_sentence
        self.classes.merge(other.classes)

    def take_detail(self) -> dict[str, Any]:
        """The guesses of a chunk in file order, as `guesses.SentenceQuery` reads them; without its words, so that a
        corpus that is deleted is gone. Only the first guesses.MAX_SENTENCES of the corpus stay here."""
        numbers = sorted(self.by_sentence)
        sentences = [self.by_sentence[number][0] for number in numbers]
        values = self.joined(numbers) | guesses.trees_of(sentences, self.views)
        self.by_sentence = {n: entry for n, entry in self.by_sentence.items() if n < guesses.MAX_SENTENCES}
        return values

    def joined(self, numbers: Sequence[int]) -> dict[str, Any]:
        """Guesses and weights of sentences, (direction, layer, head, word) one after the other."""
        none = np.zeros((len(DIRECTIONS), self.layers, self.heads, 0), dtype=np.uint8)
        joined = (np.concatenate([none, *(self.by_sentence[number][i] for number in numbers)], -1) for i in (1, 2))
        return dict(zip(("guesses", "weights"), joined, strict=True))

    def to_bytes(self) -> bytes:
        numbers, names = list(self.by_sentence), list(self.names)[: len(self.sums["n"])]
        sentences = [asdict(self.by_sentence[number][0]) for number in numbers]
        records = {"names": names, "numbers": numbers, "sentences": sentences}
        return pack(self.sums | records | self.joined(numbers) | self.classes.values())

    def from_bytes(self, data: bytes) -> Self:
        state = unpack(data)
        full = replace(self, names={(view, relation): row for row, (view, relation) in enumerate(state["names"])})
        full.sums = {name: torch.from_numpy(state[name]).to(self.device) for name in self.sums}
        full.classes = WordClasses.read(state)
        sentences = list(map(sentence_of, state["sentences"]))
        ends = np.cumsum([len(sentence) for sentence in sentences], dtype=np.int64)
        arrays = (np.split(state[name], ends, -1) for name in ("guesses", "weights"))
        full.by_sentence = dict(zip(state["numbers"], zip(sentences, *arrays, strict=False), strict=True))
        return full

    def _trees(self, view: str, examples: Sequence[Any], size: int) -> Trees:
        cells = np.zeros((3, len(examples), size), dtype=np.int64)
        for row, example in enumerate(examples):
            sentence, fold = self.views[view](example.sentence), example.number % FOLDS
            words = zip(sentence.governors, sentence.relations, (*sentence.words[1:], ""), strict=True)
            of_words = []
            for word, (governor, relation, after) in enumerate(words, start=1):
                side = view_of_side(view, SIDES[governor > word]) if self.causal and governor else view
                name = self.names.setdefault((side, relation), len(self.names))
                is_ruled = relation == "poss" and after.lower() in self.possessives
                of_words.append((governor - 1, name * FOLDS + fold, is_ruled))
            cells[:, row, : len(sentence)] = np.array(of_words).T
        governors, buckets, ruled = torch.from_numpy(cells).to(self.device)
        return Trees(governors, buckets, ruled.bool())

    def _right(self, trees: Trees, guess: Tensor) -> Tensor:
        """(real word, ...) whether guesses (batch, ..., word) are right, for the real words of the batch alone."""
        between = [1] * (guess.dim() - 2)
        following = torch.cat([guess[..., 1:], guess[..., -1:]], -1)
        ruled = trees.ruled.view(len(guess), *between, -1) & (guess != self.last.view(-1, *between, 1))
        right = torch.where(ruled, following, guess) == trees.governor.view(len(guess), *between, -1)
        return right.movedim(-1, 1)[self.words.mask]

    def _add(self, trees: Trees, counts: Tensor, right: Tensor) -> None:
        """Add right (real word, ...) to counts (relation, fold, ...), each word to its relation and fold."""
        bucket = trees.bucket[self.words.mask]
        sums = torch.zeros((counts.shape[0] * FOLDS, *right.shape[1:]), dtype=torch.int64, device=self.device)
        counts += sums.index_add_(0, bucket, right.long()).view(counts.shape)

    def _make_room_for_new_relations(self) -> None:
        for name, sums in self.sums.items():
            new = sums.new_zeros((len(self.names) - len(sums), *sums.shape[1:]))
            self.sums[name] = torch.cat([sums, new])


def accumulator(model: AttentionModel, request: Request) -> Guesses:
    """The accumulator for one pass; mode "as in the paper" takes first pieces and the release's `poss` rule, which
    option `possessives` applies in corrected mode too."""
    paper, chosen = request.settings.paper, POSSESSIVES if request.options.get("possessives") else ()
    ruled = RELEASE_POSSESSIVES if paper else chosen
    return Guesses(model.layers, model.heads, model.device, VIEWS, ruled, paper, model.causal)


def finish(accumulator: Guesses, examples: Sentences, provenance: dict[str, Any]) -> DependencyHeads:
    """The result, with the first sentences and the guesses made in them."""
    values = {name: value.cpu().numpy() for name, value in accumulator.sums.items()}
    rows = rows_of(list(accumulator.names)[: len(values["n"])], values["n"].sum(1), accumulator.causal)
    sums = {name: np.stack([value[own].sum(0) for own in rows.values()], 1) for name, value in values.items()}
    random = sums.pop("random").sum(0) / UNIT
    counts = {name: value.astype(np.int32) for name, value in sums.items()}
    numbers = [number for number in sorted(accumulator.by_sentence) if number < guesses.MAX_SENTENCES]
    sentences, joined = [accumulator.by_sentence[number][0] for number in numbers], accumulator.joined(numbers)
    longest = max(map(len, sentences), default=0)
    return DependencyHeads(
        provenance=provenance,
        views=[view for view, _ in rows],
        relations=[relation for _, relation in rows],
        n=counts["n"],
        correct=counts["correct"].swapaxes(1, 2),
        offsets=OFFSETS,
        offset_correct=counts["offsets"].sum(0).T,
        sentences=list(map(guesses.sentence_record, sentences)),
        guesses=joined["guesses"].astype(np.uint8 if longest <= 256 else np.uint16),
        weights=joined["weights"],
        **accumulator.classes.values(),
        random_correct=random if accumulator.causal else None,
    )


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
