"""Counts of right guesses by relation, head and direction (4.2; Table 1; docs/methods.md, section 6)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar, Self, cast

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base.open_documents import OpenDocuments
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.dependency_heads.guess_counts import by_size
from bertviz_core.analyses.dependency_heads.guesses import (
    DIRECTIONS,
    FOLDS,
    OFFSETS,
    SIDES,
    VIEWS,
    base_of,
    best_words,
    merged,
    trees_of,
    view_of_side,
)
from bertviz_core.analyses.dependency_heads.named_sums import Name, NamedSums
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.dependency_heads.sentences import sentence_record
from bertviz_core.analyses.dependency_heads.word_classes import ClassSums, classes_of
from bertviz_core.corpora.treebank import ALL, POSSESSIVES, UAS, Sentence, is_punctuation, sentence_of
from bertviz_core.engine.forward_pass import Accumulator
from bertviz_core.engine.packing import PackedValues, pack, unpack
from bertviz_core.inputs.annotated_words import EncodedSentence, Sentences
from bertviz_core.inputs.encoding import Batch, membership, word_of
from bertviz_core.inputs.tensors import to_host
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.model import AttentionModel

MAX_SENTENCES = 500  # sentences whose guesses are in a result
UNIT = 1 << 32  # One right guess of a random word counts this much: fractions become integers, whose sums are exact.
PARTS = ("counts", "moments", "classes")  # the sums by name
RELEASE_POSSESSIVES = ("'s", "s'")


@dataclass
class RelationSums(Accumulator):
    """Counts right guesses of heads and fixed offsets, and what random words would find, as integers.

    A head's guess for word w is the other word v with the largest word-level weight A_wv (dependent -> governor), or
    A_vw (governor -> dependent); the accuracy of a relation is c / n, the share of its n words whose guess is the
    governor. A random word of a causal model is right in 1 / (words on the governor's side) of the cases
    (docs/methods.md, sections 5 and 6).

    Attributes:
        possessives: Words such as 's that, with the relation `poss` before them, make the guess in place of the word
            itself; none in corrected mode unless the option asks for it.
        first_piece: Whether a split word's row is that of its first piece, as in mode paper; else it is the mean.
        causal: Whether words are counted apart by the side of their governor.
        by_sentence: From the number of a sentence to the sentence, its guesses and their weights in steps of 1/255,
            both (direction, layer, head, word), for a chunk; after `take_detail` only for the corpus's first sentences.
        batches: The batches of an unfinished chunk, whose guesses wait on the device.
        classes: The sums of attention to classes of words.
        counts: Sums (fold, ...) by view and relation; for a causal model the view names the governor's side, except for
            roots.
        moments: Sums over units (2, fold, ...) by row of the result, for c right guesses among n words: of 1 and n^2
            ("units"), and of n c and c^2 for heads and for fixed offsets.
        open_documents: The documents that the next chunk may continue.
        shapes: The shapes of a fold's counts, by what is counted.
    """

    has_detail: ClassVar[bool] = True
    layers: int
    heads: int
    device: str
    possessives: tuple[str, ...] = ()
    first_piece: bool = False
    causal: bool = False

    def __post_init__(self) -> None:
        self.by_sentence: dict[int, tuple[Sentence, np.ndarray, np.ndarray]] = {}
        self.batches: list[GuessedBatch] = []
        self.classes = ClassSums(self.layers, self.heads)
        heads = (len(DIRECTIONS), self.layers, self.heads)
        self.shapes = {"correct": heads, "offsets": OFFSETS.shape, "random": (), "n": ()}
        self.counts = NamedSums({name: (FOLDS, *shape) for name, shape in self.shapes.items()}, np.int64)
        squared = {"units": (), "heads": heads, "by_offset": OFFSETS.shape}
        self.moments = NamedSums({name: (2, FOLDS, *shape) for name, shape in squared.items()}, np.int64)
        self.open_documents = OpenDocuments[NamedSums](self._close)

    def new_empty(self) -> Self:
        return replace(self)

    def _new_sums(self) -> NamedSums:
        """Empty sums of one sentence or unit, by view and relation."""
        return NamedSums(self.shapes, np.int64)

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        """Add one layer of a batch; its layers come in order."""
        if attention.layer == 0:
            self.open(batch)
        self.score(self.words.maps(attention.weights))

    def open(self, batch: Batch) -> None:
        """Prepare for the layers of a batch."""
        examples = cast(tuple[EncodedSentence, ...], batch.examples)
        self.words = membership(list(map(word_of, examples)), self.device, first_piece=self.first_piece)
        self.last = torch.tensor([[len(example.sentence) - 1] for example in examples], device=self.device)
        self.batches.append(GuessedBatch(examples))

    def score(self, maps: Tensor) -> None:
        """Add the next layer's maps (batch, head, word, word), whose diagonals are overwritten."""
        received = maps.sum(2)
        weight, guess = best_words(maps, self.last)
        # Guesses fit in 16 bits, since no sentence has 32,768 words.
        guessed = (received, guess.short(), (weight * 255).round().clamp(min=0).byte())
        self.batches[-1].layers.append(guessed)

    def complete(self) -> None:
        """Count what the batches of a chunk hold; the host waits for the device here alone."""
        batches, self.batches = self.batches, []
        copied = [to_host([getattr(each, name) for each in batches]) for name in ("received", "guesses", "weights")]
        for batch, received, guess, weight in zip(batches, *copied, strict=True):
            documents = [each.document_number for each in batch.examples if not each.is_unit]
            classes = [classes_of(each.sentence) for each in batch.examples]
            self.classes.add(classes, received, self.causal, documents)
            dtype = np.uint8 if guess.shape[-1] <= 256 else np.uint16
            for row, example in enumerate(batch.examples):
                own = np.s_[row, ..., : len(example.sentence)]
                self.by_sentence[example.number] = example.sentence, guess[own].astype(dtype), weight[own].copy()
                self._add(example, self._count(example.sentence, guess[own].astype(np.int64) + 1))

    def _add(self, example: EncodedSentence, counted: NamedSums) -> None:
        """Add the counts of a sentence, to those of its document where documents are the units."""
        unit = example.document_number
        rows = self.counts.rows(counted.names)
        for name, sums in counted.sums.items():
            self.counts.sums[name][rows, unit % FOLDS] += sums
        if example.is_unit:
            self._close({unit: counted})
        else:
            document = self.open_documents.sums.setdefault(unit, self._new_sums())
            document += counted

    def _count(self, sentence: Sentence, guess: np.ndarray) -> NamedSums:
        """Count a sentence's words and right guesses (direction, layer, head, word), from 1, 0 being the root."""
        counts = self._new_sums()
        last = len(sentence)
        words = np.arange(1, last + 1)
        fixed = np.clip(words + OFFSETS[:, None], 0, last)  # (offset, word)
        is_before_mark = np.array([after.lower() in self.possessives for after in (*sentence.words[1:], "")])
        for view, viewed in VIEWS.items():
            tree = viewed(sentence)
            governors = np.array(tree.governors)
            is_shifted = is_before_mark & (np.array(tree.relations) == "poss")
            views = [view] * last
            if self.causal:
                above = enumerate(tree.governors, start=1)
                views = [view_of_side(view, SIDES[g > word]) if g else view for word, g in above]
            visible = np.where(governors < words, words - 1, last - words)  # words on the side of the governor
            counted = {
                "correct": _is_right(guess, governors, is_shifted),
                "offsets": _is_right(fixed, governors, is_shifted),
                "random": UNIT // visible.clip(min=1),
                "n": np.ones(last),
            }
            names = counts.rows(zip(views, tree.relations, strict=True))
            rows, own = np.unique(names, return_inverse=True)
            members = np.eye(len(rows))[:, own]  # (row, word)
            for quantity, values in counted.items():
                counts.sums[quantity][rows] += np.tensordot(members, values, 1).astype(np.int64)
        return counts

    def _close(self, units: Mapping[int, NamedSums]) -> None:
        for unit, counted in units.items():
            self._add_moments(unit, counted)

    def _add_moments(self, unit: int, counted: NamedSums) -> None:
        """Add the squares and products of a unit's sums, each of which several rows of the result add up."""
        names = list(counted.names)
        rows: dict[Name, list[int]] = {}
        for row, name in enumerate(names):
            for key in rows_that_count(name):
                rows.setdefault(key, []).append(row)
        members = np.array([[row in own for row in range(len(names))] for own in rows.values()], dtype=np.int64)
        n, heads, by_offset = (np.tensordot(members, counted.sums[name], 1) for name in ("n", "correct", "offsets"))
        at = self.moments.rows(rows)
        products = {"units": np.stack([n > 0, n * n], 1)}
        for quantity, right in (("heads", heads), ("by_offset", by_offset)):
            size = n.reshape(-1, *[1] * (right.ndim - 1))
            products[quantity] = np.stack([size * right, right * right], 1)
        for quantity, values in products.items():
            self.moments.sums[quantity][at, :, unit % FOLDS] += values

    def merge(self, other: Self) -> None:
        """Merge a batch of the same chunk, or the next chunk of the corpus."""
        if other.batches:
            self.batches += other.batches
            return
        self.complete()
        self.open_documents.merge(other.open_documents)  # It adds to the moments of both, which are added after it.
        self.moments += other.moments
        self.counts += other.counts
        self.by_sentence |= other.by_sentence
        self.classes += other.classes

    def take_detail(self) -> PackedValues:
        """The guesses of a chunk for `GuessedSentences`, without words: a corpus that is deleted is gone."""
        self.complete()
        sentences, arrays = self.joined(sorted(self.by_sentence))
        self.by_sentence = {n: entry for n, entry in self.by_sentence.items() if n < MAX_SENTENCES}
        return arrays | trees_of(sentences, VIEWS)

    def joined(self, numbers: Sequence[int]) -> tuple[list[Sentence], dict[str, np.ndarray]]:
        """Sentences, and their "guesses" and "weights" (direction, layer, head, word) one after the other."""
        none = np.zeros((len(DIRECTIONS), self.layers, self.heads, 0), dtype=np.uint8)
        entries = [self.by_sentence[number] for number in numbers]
        joined = np.concatenate([none, *(entry[1] for entry in entries)], -1)
        weights = np.concatenate([none, *(entry[2] for entry in entries)], -1)
        return [entry[0] for entry in entries], {"guesses": joined, "weights": weights}

    def to_bytes(self) -> bytes:
        """All sums so far, for `from_bytes`; the documents that only this chunk has are closed."""
        self.complete()
        self.open_documents.close_inner()
        numbers = list(self.by_sentence)
        sentences, arrays = self.joined(numbers)
        records = {"numbers": numbers, "sentences": list(map(asdict, sentences))}
        parts = {name: pack(getattr(self, name).state()) for name in PARTS}
        return pack(arrays | records | parts | {"documents": self.open_documents.to_bytes(NamedSums.state)})

    def from_bytes(self, data: bytes) -> Self:
        """New sums with the content that `to_bytes` wrote.

        Raises:
            KeyError: The bytes lack something.
        """
        state = unpack(data)
        full = self.new_empty()
        for name in PARTS:
            getattr(full, name).restore(unpack(state[name]))
        full.open_documents.restore(state["documents"], NamedSums.of_state)
        end = 0
        for number, record in zip(state["numbers"], state["sentences"], strict=True):
            sentence = sentence_of(record)
            own = np.s_[..., end : end + len(sentence)]
            full.by_sentence[number] = sentence, state["guesses"][own], state["weights"][own]
            end += len(sentence)
        return full


@dataclass
class GuessedBatch:
    """A batch's guesses, which wait on its device.

    Attributes:
        layers: For each layer the attention that each word receives (batch, head, word), the guesses (batch, direction,
            head, word) int16, from 0, and their weights in steps of 1/255, of the same shape, uint8.
    """

    examples: tuple[EncodedSentence, ...]
    layers: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list)

    @property
    def received(self) -> Tensor:
        """(layer, batch, head, word) attention that each word receives."""
        return torch.stack([received for received, _, _ in self.layers])

    @property
    def guesses(self) -> Tensor:
        """(batch, direction, layer, head, word) int16, from 0."""
        return torch.stack([guess for _, guess, _ in self.layers], 2)

    @property
    def weights(self) -> Tensor:
        """(batch, direction, layer, head, word) in 255ths."""
        return torch.stack([weight for _, _, weight in self.layers], 2)


def _is_right(guess: np.ndarray, governors: np.ndarray, is_shifted: np.ndarray) -> np.ndarray:
    """(word, ...) whether guesses (..., word), from 1, are right; where shifted, the next word's guess counts."""
    following = np.concatenate([guess[..., 1:], guess[..., -1:]], -1)
    chosen = np.where(is_shifted & (guess != len(governors)), following, guess)
    return np.moveaxis(chosen == governors, -1, 0)


def accumulator(model: AttentionModel, request: Request) -> RelationSums:
    """The accumulator for one pass; mode "as in the paper" takes first pieces and the release's rule for `poss`
    (docs/methods.md, sections 5 and 6)."""
    possessives: tuple[str, ...] = ()
    if request.options.get("possessives"):
        possessives = POSSESSIVES
    if request.settings.paper:
        possessives = RELEASE_POSSESSIVES
    return RelationSums(
        layers=model.layers,
        heads=model.heads,
        device=model.device,
        possessives=possessives,
        first_piece=request.settings.paper,
        causal=model.causal,
    )


def finish(accumulator: RelationSums, examples: Sentences, provenance: Provenance) -> DependencyHeads:
    """Create the result: for each row, a view and a relation, the sums of all names that it adds up.

    Args:
        accumulator: The sums over the whole treebank.
        examples: The treebank as it was read.
        provenance: What the result was computed from.
    """
    accumulator.complete()
    for each in (accumulator.open_documents, accumulator.classes.open_documents):
        each.close_all()
    counts = accumulator.counts
    rows = rows_of(list(counts.names), counts.sums["n"].sum(1), accumulator.causal)
    squared = accumulator.moments.rows(rows)

    def sums(name: str, dtype: type = np.int32) -> np.ndarray:
        """(fold, row, ...) sums of the counts that each row of the result adds up."""
        return np.stack([counts.sums[name][own].sum(0) for own in rows.values()], 1).astype(dtype)

    def moments(name: str) -> np.ndarray:
        """(2, fold, row, ...) sums over units, as small as they allow."""
        values = accumulator.moments.sums[name][squared]
        return np.moveaxis(values, 0, 2).astype(np.min_scalar_type(int(values.max(initial=0))))

    numbers = [number for number in sorted(accumulator.by_sentence) if number < MAX_SENTENCES]
    sentences, arrays = accumulator.joined(numbers)
    longest = max(map(len, sentences), default=0)
    views, relations = map(list, zip(*rows, strict=True))
    return DependencyHeads(
        provenance,
        sentences=list(map(sentence_record, sentences)),
        guesses=arrays["guesses"].astype(np.uint8 if longest <= 256 else np.uint16),
        weights=arrays["weights"],
        **accumulator.classes.values(),
        views=views,
        relations=relations,
        n=sums("n"),
        correct=sums("correct").swapaxes(1, 2),
        offsets=OFFSETS,
        offset_correct=sums("offsets").sum(0).T,
        random_correct=sums("random", np.int64).sum(0) / UNIT if accumulator.causal else None,
        unit_moments=moments("units"),
        head_moments=np.moveaxis(moments("heads"), 3, 2),
        offset_moments=np.moveaxis(moments("by_offset").sum(1), 2, 1),
    )


def rows_that_count(name: Name) -> list[Name]:
    """The rows of the result, (view, relation), to which the counts of one view and relation add up."""
    view, relation = name
    totals = [ALL] if is_punctuation(relation) else [ALL, UAS]
    rows = [(view, row) for row in (*totals, relation)]
    return rows + [(merged(view), row) for row in (*totals, base_of(relation))]


def rows_of(names: Sequence[Name], n: np.ndarray, causal: bool) -> dict[Name, list[int]]:
    """The rows of the result.

    Args:
        names: The (view, relation) of each count of the accumulator.
        n: (name,) words.
        causal: Whether there are rows for words with an earlier and with a later governor.

    Returns:
        From the (view, relation) of a row to the indices of the names that add up to it.
    """
    rows: dict[Name, list[int]] = {}
    same: Callable[[str], str] = str
    for view in VIEWS:
        parts = [view, *(view_of_side(view, side) for side in SIDES if causal)]
        members = [row for row, (part, _) in enumerate(names) if part in parts]
        for label, of in ((same, same), (base_of, merged)):
            labels = {row: label(names[row][1]) for row in members}
            order = by_size(list(labels.values()), n[members])
            for part in parts:
                own = members if part == view else [row for row in members if names[row][0] == part]
                rows[of(part), ALL] = own
                rows[of(part), UAS] = [row for row in own if not is_punctuation(names[row][1])]
                for name in order:
                    rows[of(part), name] = [row for row in own if labels[row] == name]
    return rows
