"""Coreference heads: does a head's attention point from a mention to an antecedent? (4.3; Table 2)

A head's guess for a mention: among the head words of the preceding mentions that the window shows, or among all other
words, the one to which its head word attends most, or which attends most to it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
import torch

from bertviz_core.analyses.averages import DocumentSums
from bertviz_core.analyses.coreference_heads import guesses
from bertviz_core.analyses.coreference_heads.counts import by_row
from bertviz_core.analyses.coreference_heads.guesses import BASELINES, CANDIDATES, DIRECTIONS, GROUPS, Questions
from bertviz_core.analyses.coreference_heads.passages import MAX_ITEMS, ItemGuesses, document_record, passages
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads
from bertviz_core.analyses.request import Request
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import Batch
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.reading import Window, Windows


def count_moments(sums: np.ndarray) -> np.ndarray:
    """(4, system, row) sums over documents of 1 (where n > 0), n^2, n c and c^2 for c right guesses among n items, from
    counts (document, system, group) whose last system is all items."""
    counts = by_row(sums)
    correct, n = counts[:, :-1], counts[:, -1:]
    shared = (np.broadcast_to(each, correct.shape) for each in (n > 0, n * n))
    return np.stack([each.sum(0) for each in (*shared, n * correct, correct * correct)])


class AntecedentSums:
    """Counts right guesses, as integers, of heads and baselines, and chance.

    sums: "right" (layer, direction, candidates, head, group), and fields of the result.
    blocks: number of a window's first item -> its items with what every head makes of them, of a chunk; after
        `take_detail` those of the corpus's first MAX_ITEMS, whose `documents` are here by number.
    by_document: the right guesses and items of each document, with the baselines'.
    starts: of each document of a chunk, where its passages begin; shared by the accumulators of one pass.
    """

    def __init__(
        self, layers: int, heads: int, device: str, first_piece: bool, starts: dict[int, list[int]] | None = None
    ) -> None:
        self.layers = layers
        self.heads = heads
        self.device = device
        self.first_piece = first_piece
        shape = (layers, len(DIRECTIONS), len(CANDIDATES), heads, GROUPS)
        self.sums: dict[str, Any] = {
            "right": torch.zeros(shape, dtype=torch.int64, device=device),
            "group_n": np.zeros(GROUPS, dtype=np.int64),
            "system_correct": np.zeros((len(BASELINES), GROUPS), dtype=np.int64),
            "chance": np.zeros((2, len(CANDIDATES), GROUPS)),
            "single": 0,
        }
        systems = len(DIRECTIONS) * len(CANDIDATES) * heads + len(BASELINES) + 1
        self.by_document = DocumentSums(count_moments, layers, systems, GROUPS)
        self.blocks: dict[int, ItemGuesses] = {}
        self.documents: dict[int, dict[str, Any]] = {}
        self.starts = {} if starts is None else starts

    def new_empty(self) -> Self:
        return type(self)(self.layers, self.heads, self.device, self.first_piece, self.starts)

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        if attention.layer == 0:
            windows = cast("tuple[Window, ...]", batch.examples)
            self._open(
                tuple(map(guesses.earlier_antecedents, windows)) if attention.causal else windows, attention.causal
            )
        guess, weight, right = guesses.answers(self.questions, attention.weights)
        # (batch, direction, candidates, head, item) @ (batch, 1, 1, item, group)
        counts = right.float() @ self.questions.groups[:, None, None]
        self.sums["right"][attention.layer] += counts.sum(0).long()
        rows = torch.cat([counts.flatten(1, 3).short(), self.others], 1)  # (batch, system, group)
        self.by_document.add(attention.layer, np.array([each.document_number for each in batch.examples]), rows)
        words = guess[:, :, 0].cpu().numpy()[..., None]  # (batch, direction, head, item, 1)
        mentions = np.take_along_axis(self.questions.mention[:, None, None], words, -1)[..., 0]
        values_of_layer = (mentions, weight[:, :, 0].cpu().numpy(), right[:, :, 0].cpu().numpy())
        for array, values in zip(self.arrays, values_of_layer, strict=True):
            array[:, :, attention.layer] = values

    def _open(self, windows: tuple[Window, ...], causal: bool) -> None:
        """Prepare the items of a batch; `others` (batch, system, group) are what the baselines get right, and last how
        many items there are."""
        self.questions = Questions.of(windows, self.device, self.first_piece, causal)
        self.sums["chance"] += self.questions.chance()
        self.sums["single"] += int(((self.questions.mention >= 0).sum(-1) == 1).sum())
        shape = (len(windows), len(DIRECTIONS), self.layers, self.heads, max(len(window.items) for window in windows))
        narrow = max(len(window.heads) for window in windows) <= np.iinfo(np.uint16).max
        kinds = (np.uint16 if narrow else np.uint32, np.float16, np.bool_)
        self.arrays = tuple(np.zeros(shape, dtype=kind) for kind in kinds)
        others = np.zeros((len(windows), len(BASELINES) + 1, GROUPS), dtype=np.int16)
        for row, window in enumerate(windows):
            self._add(window, [array[row, ..., : len(window.items)] for array in self.arrays])
            groups = guesses.groups_of(window)
            others[row, :-1] = guesses.baselines_right(window).astype(np.int64) @ groups
            others[row, -1] = groups.sum(0)
        self.others = torch.from_numpy(others).to(self.device)
        self.sums["system_correct"] += others[:, :-1].sum(0)
        self.sums["group_n"] += others[:, -1].sum(0)

    def _add(self, window: Window, arrays: Sequence[np.ndarray]) -> None:
        """Take in a window with the arrays for its guesses; the document of one of the first items."""
        document, number = window.document, window.document.number
        if number not in self.starts:
            self.starts[number] = [first for first, _ in passages(document.sentences, len(document.words))]
        mentions = [item.mention for item in window.items]
        starts = self.starts[number]
        begins = [starts[bisect_right(starts, window.heads[mention]) - 1] for mention in mentions]
        table = [[number, mention, first, *window.span] for mention, first in zip(mentions, begins, strict=True)]
        self.blocks[window.item_number] = ItemGuesses(np.array(table, dtype=np.uint32), *arrays)
        if window.item_number < MAX_ITEMS and number not in self.documents:
            self.documents[number] = document_record(document, window.heads)

    def merge(self, other: Self) -> None:
        self.sums = {name: value + other.sums[name] for name, value in self.sums.items()}
        self.by_document.merge(other.by_document)
        self.blocks |= other.blocks
        self.documents |= other.documents

    def items(self) -> ItemGuesses:
        """The items with every head's guesses that are in memory, in the order of the corpus."""
        shape = (len(DIRECTIONS), self.layers, self.heads)
        return ItemGuesses.joined([items for _, items in sorted(self.blocks.items())], shape)

    def take_detail(self) -> dict[str, Any]:
        """The items of a chunk, passage by passage, as `passages.PassageQuery` reads them; without their
        words, so that a corpus that is deleted is gone. Only the first MAX_ITEMS of the corpus stay here."""
        detail = self.items().by_passage()._asdict()
        self.blocks = {number: items for number, items in self.blocks.items() if number < MAX_ITEMS}
        return detail | {"right": np.packbits(detail["right"], axis=-1)}

    def to_bytes(self) -> bytes:
        blocks = {number: len(part.items) for number, part in sorted(self.blocks.items())}
        state = {"items": pack(self.items()._asdict()), "by_document": self.by_document.to_bytes()}
        return pack(self.sums | state | {"blocks": blocks, "documents": list(self.documents.items())})

    def from_bytes(self, data: bytes) -> Self:
        state = unpack(data)
        full = self.new_empty()
        start = 0
        full.sums = {name: state[name] for name in self.sums}
        full.sums["right"] = torch.from_numpy(state["right"]).to(self.device)
        items = ItemGuesses(**unpack(state["items"]))
        for number, size in state["blocks"].items():
            full.blocks[int(number)] = items.take(slice(start, start := start + size))
        full.documents = dict(state["documents"])
        full.by_document.restore(state["by_document"])
        return full


def accumulator(model: AttentionModel, request: Request) -> AntecedentSums:
    """The accumulator for one pass; it counts both sets of candidates, and `CoreferenceHeads.show` picks one."""
    return AntecedentSums(model.layers, model.heads, model.device, request.settings.paper)


def finish(accumulator: AntecedentSums, windows: Windows, provenance: dict[str, Any]) -> CoreferenceHeads:
    """The result, with the first items and their documents."""
    items = accumulator.items().take(slice(MAX_ITEMS))
    numbers = sorted(accumulator.documents)
    items.items[:, 0] = np.searchsorted(numbers, items.items[:, 0])
    moments = accumulator.by_document.whole().transpose(1, 2, 0, 3)  # (4, system, layer, row)
    of_heads = moments[2:, : -len(BASELINES)].reshape(2, len(DIRECTIONS), len(CANDIDATES), -1, *moments.shape[2:])
    stored = {name: accumulator.sums[name] for name in ("group_n", "system_correct", "chance", "single")}
    stored |= {"correct": accumulator.sums["right"].permute(1, 2, 4, 0, 3).cpu().numpy(), "systems": list(BASELINES)}
    stored |= {"moments": of_heads.swapaxes(3, 4), "system_moments": moments[2:, -len(BASELINES) :, 0]}
    stored |= {"items": items.items, "guess": items.guess, "weight": items.weight}
    documents = [accumulator.documents[number] for number in numbers]
    return CoreferenceHeads(provenance, first_documents=documents, item_moments=moments[:2, 0, 0], **stored)
