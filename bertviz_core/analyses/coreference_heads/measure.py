"""Coreference heads: does a head's attention point from a mention to an antecedent? (4.3; Table 2)

A head's guess for a mention: among the head words of the preceding mentions that the window shows (or, in the strict
form, among all other words), the one to which the mention's head word attends most, or which attends most to it.
The guess is right if it is the head word of any antecedent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from bertviz_core.analyses.coreference_heads.baselines import BASELINES, guesses
from bertviz_core.analyses.coreference_heads.documents import KEPT, NO_GUESS, Kept, Shown
from bertviz_core.analyses.coreference_heads.groups import GROUPS, groups_of
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, DIRECTIONS, Questions, answers, questions
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.windows import Window, Windows

ARRAYS = ("total", "systems", "chance", "guess", "weight")

if TYPE_CHECKING:
    from bertviz_core.analyses.request import Request
    from bertviz_core.models.attention import LayerAttention
    from bertviz_core.models.encoding import Batch
    from bertviz_core.models.model import AttentionModel

__all__ = ["CoreferenceHeads", "Selections", "accumulator", "finish"]


class Selections:
    """Counts right guesses, as integers, by (layer, direction, candidates, head, group); baselines by (system, group).

    `shown` are the corpus's first items, for people to look at, and `guess` and `weight` what every head makes of them:
    (layer, direction, head, item).
    """

    def __init__(self, layers: int, heads: int, device: str, first_piece: bool) -> None:
        import torch

        self.layers, self.heads, self.device, self.first_piece = layers, heads, device, first_piece
        shape = (layers, len(DIRECTIONS), len(CANDIDATES), heads, GROUPS)
        self.right = torch.zeros(shape, dtype=torch.int64, device=device)
        self.total = np.zeros(GROUPS, dtype=np.int64)
        self.systems = np.zeros((len(BASELINES), GROUPS), dtype=np.int64)
        self.chance = np.zeros((2, len(CANDIDATES), GROUPS))
        self.single = 0
        self.shown = Shown()
        self.guess = np.full((layers, len(DIRECTIONS), heads, 0), NO_GUESS, dtype=np.uint16)
        self.weight = np.zeros(self.guess.shape, dtype=np.float16)
        self.kept: Kept | None = None
        self.asked: Questions | None = None

    def fresh(self) -> Self:
        return type(self)(self.layers, self.heads, self.device, self.first_piece)

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        if self.asked is None:
            self._ask(cast("tuple[Window, ...]", batch.examples))
        assert self.asked is not None
        guess, weight, right = answers(self.asked, attention.weights)
        # (batch, direction, candidates, head, item) @ (batch, 1, 1, item, group)
        counts = right.float() @ self.asked.groups[:, None, None]
        self.right[attention.layer] += counts.sum(0).long()
        if self.kept:
            self.kept.take(attention.layer, guess[:, :, 0], weight[:, :, 0])
            if attention.layer == self.layers - 1:
                self._resize(1 + int(self.kept.numbers.max()))
                self.kept.placed(self.guess, self.weight)

    def _ask(self, windows: tuple[Window, ...]) -> None:
        """A fresh accumulator sees one batch, layer by layer, so what is asked stays the same."""
        self.asked = questions(windows, self.device, first_piece=self.first_piece)
        if self.asked.numbers[self.asked.numbers >= 0].min() < KEPT:
            self.kept = Kept.of(self.asked, self.layers, self.heads)
        self.chance = self.asked.chance()
        self.single = int(((self.asked.mention >= 0).sum(-1) == 1).sum())
        for window in windows:
            self.shown.add(window)
            groups = groups_of(window)
            self.total += groups.sum(0)
            self.systems += _baselines_right(window).astype(np.int64) @ groups

    def merge(self, other: Self) -> None:
        self.right += other.right
        self.total += other.total
        self.systems += other.systems
        self.chance += other.chance
        self.single += other.single
        self.shown.merge(other.shown)
        self._resize(other.guess.shape[-1])
        numbers = sorted(other.shown.items)
        self.guess[..., numbers], self.weight[..., numbers] = other.guess[..., numbers], other.weight[..., numbers]

    def to_bytes(self) -> bytes:
        arrays = {name: getattr(self, name) for name in ARRAYS}
        shown = {name: list(getattr(self.shown, name).items()) for name in ("documents", "items")}
        return pack(arrays | shown | {"right": self.right, "single": self.single})

    def from_bytes(self, data: bytes) -> Self:
        import torch

        state, full = unpack(data), self.fresh()
        for name in ARRAYS:
            setattr(full, name, state[name])
        full.right, full.single = torch.from_numpy(state["right"]).to(self.device), state["single"]
        full.shown = Shown(dict(state["documents"]), dict(state["items"]))
        return full

    def _resize(self, items: int) -> None:
        """Make room for the guesses of so many items."""
        more = ((0, 0), (0, 0), (0, 0), (0, max(0, items - self.guess.shape[-1])))
        self.guess = np.pad(self.guess, more, constant_values=NO_GUESS)
        self.weight = np.pad(self.weight, more)


def accumulator(model: AttentionModel, request: Request) -> Selections:
    """The accumulator for one pass; it counts both sets of candidates, and `CoreferenceHeads.show` picks one."""
    return Selections(model.layers, model.heads, model.device, request.settings.paper)


def finish(accumulator: Selections, windows: Windows, provenance: dict[str, Any]) -> CoreferenceHeads:
    """The result, with the first documents and the guesses made in them."""
    documents, items = accumulator.shown.in_order()
    return CoreferenceHeads(
        provenance=provenance,
        correct=accumulator.right.permute(1, 2, 4, 0, 3).cpu().numpy(),
        group_n=accumulator.total,
        systems=list(BASELINES),
        system_correct=accumulator.systems,
        chance=accumulator.chance,
        single=accumulator.single,
        documents=documents,
        items=items,
        guess=accumulator.guess.swapaxes(0, 1),
        weight=accumulator.weight.swapaxes(0, 1),
    )


def _baselines_right(window: Window) -> np.ndarray:
    """(system, item) bool."""
    chosen = guesses(window.document, window.heads, window.items)
    rows = []
    for item, guess in zip(window.items, chosen, strict=True):
        antecedents = {window.heads[antecedent] for antecedent in item.antecedents}
        rows.append([mention is not None and window.heads[mention] in antecedents for mention in guess])
    return np.array(rows, dtype=bool).T
