"""Counts of right guesses by every head and by the baselines (4.3; Table 2; docs/methods.md, section 7)."""

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import DocumentSums
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.coreference_heads.baselines import BASELINES, baselines_right
from bertviz_core.analyses.coreference_heads.groups import GROUPS, by_row
from bertviz_core.analyses.coreference_heads.guesses import (
    CANDIDATES,
    DIRECTIONS,
    BatchItems,
    answers,
    earlier_antecedents,
)
from bertviz_core.analyses.coreference_heads.passages import (
    MAX_ITEMS,
    ItemGuesses,
    document_record,
    passages,
)
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads, DocumentRecord
from bertviz_core.engine.forward_pass import Accumulator
from bertviz_core.engine.packing import PackedValues, pack, unpack
from bertviz_core.inputs.annotated_words import DocumentWindow, Windows
from bertviz_core.inputs.encoding import Batch
from bertviz_core.inputs.tensors import to_host
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.model import AttentionModel


def count_moments(sums: np.ndarray) -> np.ndarray:
    """The moments from which errors of accuracies follow (docs/methods.md, Uncertainty, Shares).

    Args:
        sums: (document, system, group) counts of right guesses, of which the last system is all items.

    Returns:
        (4, system, row) sums over documents of 1 (where n > 0), n^2, n c and c^2 for c right guesses among n items.
    """
    counts = by_row(sums)
    correct = counts[:, :-1]
    n = np.broadcast_to(counts[:, -1:], correct.shape)
    return np.stack([product.sum(0) for product in (n > 0, n * n, n * correct, correct * correct)])


@dataclass
class AntecedentSums(Accumulator):
    """Counts right guesses, as integers, of heads and baselines, and chance.

    A head's guess for an item is the head word j, among those of the preceding mentions, with the largest weight A_ij
    from the item's head word i (mention -> antecedent) or A_ji (antecedent -> mention). It is right if it is the head
    word of any antecedent; the accuracy of a group is the share of its items whose guess is right (docs/methods.md,
    section 7).

    Attributes:
        first_piece: Whether a split word's row is that of its first piece, as in mode paper; else it is the mean.
        sums: "right" (layer, direction, candidates, head, group), and further fields of the result.
        batches: The batches of an unfinished chunk, whose guesses wait on the device.
        by_document: Sums by document of right guesses and items.
        blocks: From the number of a window's first item to its items, for a chunk; after `take_detail` only for the
            corpus's first.
        documents: The documents of the corpus's first MAX_ITEMS items, by number.
        passage_starts: From a document's (sentences, words) to the first word of each passage; it caches the last
            document, since windows of a document follow one another.
    """

    has_detail: ClassVar[bool] = True
    layers: int
    heads: int
    device: str
    first_piece: bool

    def __post_init__(self) -> None:
        shape = (self.layers, len(DIRECTIONS), len(CANDIDATES), self.heads, GROUPS)
        self.sums: dict[str, Any] = {
            "right": torch.zeros(shape, dtype=torch.int64, device=self.device),
            "group_n": np.zeros(GROUPS, dtype=np.int64),
            "system_correct": np.zeros((len(BASELINES), GROUPS), dtype=np.int64),
            "chance": np.zeros((2, len(CANDIDATES), GROUPS)),
            "single": 0,
        }
        self.batches: list[AnsweredBatch] = []
        systems = len(DIRECTIONS) * len(CANDIDATES) * self.heads + len(BASELINES) + 1
        self.by_document = DocumentSums(count_moments, self.layers, systems, GROUPS)
        self.blocks: dict[int, ItemGuesses] = {}
        self.documents: dict[int, DocumentRecord] = {}
        self.passage_starts = lru_cache(1)(lambda *document: [first for first, _ in passages(*document)])

    def new_empty(self) -> Self:
        return replace(self)

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        """Add one layer of a batch; its layers come in order."""
        layer = attention.layer
        if layer == 0:
            windows = tuple(each for each in batch.examples if isinstance(each, DocumentWindow))
            if attention.causal:
                windows = tuple(map(earlier_antecedents, windows))
            self._start_batch(windows, attention.causal)
        items = self.items_of_batch
        guess, weight, right = answers(items, attention.weights)
        # (batch, direction, candidates, head, item) @ (batch, 1, 1, item, group)
        counts = right.float() @ items.groups[:, None, None]
        self.sums["right"][layer] += counts.sum(0).long()
        rows = torch.cat([counts.flatten(1, 3).short(), self.baseline_counts], 1)  # (batch, system, group)
        documents = np.array([example.document_number for example in batch.examples])
        self.by_document.add(layer, documents, rows)
        self.batches[-1].layers.append((guess[:, :, 0].short(), weight[:, :, 0].half(), right[:, :, 0]))

    def _start_batch(self, windows: tuple[DocumentWindow, ...], causal: bool) -> None:
        """Prepare for a batch, whose layers follow, and count what needs no attention."""
        items = BatchItems.of(windows, self.device, self.first_piece, causal)
        self.items_of_batch = items
        self.batches.append(AnsweredBatch(windows, items.mention))
        self.sums["chance"] += items.chance
        candidates = (items.mention >= 0).sum(-1)  # (batch, item)
        self.sums["single"] += int((candidates == 1).sum())
        # (batch, system, item) whether each baseline is right; the last system is all items
        right = np.ones((len(windows), len(BASELINES) + 1, candidates.shape[1]), np.float32)
        for row, window in enumerate(windows):
            right[row, :-1, : len(window.items)] = baselines_right(window)
        counts = right @ items.group_members
        self.baseline_counts = torch.from_numpy(counts).to(self.device).short()  # (batch, system, group)
        *systems, everything = counts.sum(0).astype(np.int64)
        self.sums["system_correct"] += systems
        self.sums["group_n"] += everything

    def complete(self) -> None:
        """Copy the guesses of a chunk's batches from the device; the host waits for it here alone."""
        batches, self.batches = self.batches, []
        copied = [to_host([batch.stacked(kind) for batch in batches]) for kind in range(3)]
        for batch, *arrays in zip(batches, *copied, strict=True):
            self._add_blocks(batch, *arrays)

    def _add_blocks(self, batch: "AnsweredBatch", words: np.ndarray, weight: np.ndarray, right: np.ndarray) -> None:
        """Add the items of each window, from arrays (batch, direction, layer, head, item)."""
        mentions = max(len(window.heads) for window in batch.windows)
        dtype = np.uint16 if mentions < 1 << 16 else np.uint32
        at_words = np.take_along_axis(batch.mention[:, None, None, None], words[..., None].astype(np.int64), -1)
        guess = at_words[..., 0].astype(dtype)
        for row, window in enumerate(batch.windows):
            number = window.document.number
            starts = self.passage_starts(window.document.sentences, len(window.document.words))
            table = []
            for item in window.items:
                passage = bisect_right(starts, window.heads[item.mention]) - 1
                table.append([number, item.mention, starts[passage], *window.span])
            own = np.s_[row, ..., : len(table)]
            arrays = (guess[own], weight[own], right[own])
            # The table is empty where a causal model sees no antecedent.
            items = np.array(table, dtype=np.uint32).reshape(-1, 5)
            self.blocks[window.item_number] = ItemGuesses(items, *arrays)
            if window.item_number < MAX_ITEMS and number not in self.documents:
                self.documents[number] = document_record(window.document, window.heads)

    def merge(self, other: Self) -> None:
        """Merge a batch of the same chunk, or the next chunk of the corpus."""
        if other.batches:
            self.batches += other.batches
        else:
            self.complete()
        self.sums = {name: value + other.sums[name] for name, value in self.sums.items()}
        self.by_document.merge(other.by_document)
        self.blocks |= other.blocks
        self.documents |= other.documents

    def items(self) -> ItemGuesses:
        """The items so far with all heads' guesses, in the order of the corpus."""
        self.complete()
        shape = (len(DIRECTIONS), self.layers, self.heads)
        return ItemGuesses.joined([items for _, items in sorted(self.blocks.items())], shape)

    def take_detail(self) -> PackedValues:
        """The items of a chunk for `GuessedPassages`, without words: a corpus that is deleted is gone."""
        detail = self.items().by_passage()._asdict()
        self.blocks = {number: items for number, items in self.blocks.items() if number < MAX_ITEMS}
        return detail | {"right": np.packbits(detail["right"], axis=-1)}

    def to_bytes(self) -> bytes:
        self.complete()
        blocks = {number: len(part.items) for number, part in sorted(self.blocks.items())}
        state = {"items": pack(self.items()._asdict()), "by_document": self.by_document.to_bytes()}
        return pack(self.sums | state | {"blocks": blocks, "documents": list(self.documents.items())})

    def from_bytes(self, data: bytes) -> Self:
        """New sums with the content that `to_bytes` wrote.

        Raises:
            KeyError: The bytes lack something.
        """
        state = unpack(data)
        full = self.new_empty()
        full.sums = {name: state[name] for name in self.sums}
        full.sums["right"] = torch.from_numpy(state["right"]).to(self.device)
        items = ItemGuesses(**unpack(state["items"]))
        start = 0
        for number, size in state["blocks"].items():
            full.blocks[int(number)] = items.take(slice(start, start + size))
            start += size
        full.documents = dict(state["documents"])
        full.by_document.restore(state["by_document"])
        return full


@dataclass
class AnsweredBatch:
    """A batch's guesses, which wait on its device.

    Attributes:
        mention: (batch, item, word) the preceding mention that a word heads, as in BatchItems.
        layers: For each layer the word that is guessed, its weight, and whether it is right, each (batch, direction,
            head, item).
    """

    windows: tuple[DocumentWindow, ...]
    mention: np.ndarray
    layers: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list)

    def stacked(self, kind: int) -> Tensor:
        """(batch, direction, layer, head, item) words (kind 0), weights (1), or whether they are right (2)."""
        return torch.stack([layer[kind] for layer in self.layers], 2)


def accumulator(model: AttentionModel, request: Request) -> AntecedentSums:
    """The accumulator for one pass; it counts both sets of candidates, and `CoreferenceHeads.show` picks one."""
    return AntecedentSums(model.layers, model.heads, model.device, request.settings.paper)


def finish(accumulator: AntecedentSums, windows: Windows, provenance: Provenance) -> CoreferenceHeads:
    """Create the result: counts of all heads and baselines, and the guesses for the first MAX_ITEMS items.

    Args:
        accumulator: The sums over the whole corpus.
        windows: The corpus as it was read.
        provenance: What the result was computed from.
    """
    sums = accumulator.sums
    items = accumulator.items().take(slice(MAX_ITEMS))
    numbers = sorted(accumulator.documents)
    items.items[:, 0] = np.searchsorted(numbers, items.items[:, 0])
    moments = accumulator.by_document.whole().transpose(1, 2, 0, 3)  # (4, system, layer, row)
    of_heads = moments[2:, : -len(BASELINES)]
    shape = (2, len(DIRECTIONS), len(CANDIDATES), -1, *moments.shape[2:])
    return CoreferenceHeads(
        provenance,
        correct=sums["right"].permute(1, 2, 4, 0, 3).cpu().numpy(),
        group_n=sums["group_n"],
        systems=list(BASELINES),
        system_correct=sums["system_correct"],
        moments=of_heads.reshape(shape).swapaxes(3, 4),
        system_moments=moments[2:, -len(BASELINES) :, 0],
        item_moments=moments[:2, 0, 0],
        single=sums["single"],
        first_documents=[accumulator.documents[number] for number in numbers],
        items=items.items,
        guess=items.guess,
        weight=items.weight,
        chance=sums["chance"],
    )
