"""The masked words whose loss rises most when a head is switched off: a few of each head, however large the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.analyses.head_averages import TOP
from bertviz_core.models.labels import token_labels

if TYPE_CHECKING:
    from torch import Tensor

    from bertviz_core.models.encoding import Encoded
    from bertviz_core.models.masking import Masking
    from bertviz_core.models.tokens import Tokens

CONTEXT = 14  # tokens of a segment shown on either side of a word
FIELDS = ("change", "place", "original", "guess_before", "guess_after", "loss_before", "loss_after")
PLACES = 2**20  # place = number of the segment * PLACES + position in it


class WorstWords:
    """The TOP words of each head by the change of their loss; of equal ones the first in the corpus."""

    def __init__(self, layers: int, heads: int, device: str) -> None:
        import torch

        # float64: ids and places are whole numbers far below 2^53.
        self.worst = torch.full((layers, heads, TOP, len(FIELDS)), -torch.inf, dtype=torch.float64, device=device)

    def add(self, layer: int, fields: Tensor) -> None:
        """Take in words (head, word, field) of one layer."""
        self._keep(slice(layer, layer + 1), fields[None])

    def merge(self, other: WorstWords) -> None:
        """Take in the worst words of another part of the corpus."""
        self._keep(slice(None), other.worst)

    def _keep(self, layers: slice, fields: Tensor) -> None:
        import torch

        both = torch.cat([self.worst[layers], fields.double()], 2)
        for field, descending in ((1, False), (0, True)):  # by place, then stably by change
            order = both[..., field].sort(dim=-1, descending=descending, stable=True).indices
            both = both.gather(2, order[..., None].expand_as(both))
        self.worst[layers] = both[:, :, :TOP]

    def numbers(self) -> list[int]:
        """Numbers of the words' segments, in order."""
        addresses = self.worst[..., 1]
        numbers: list[int] = (addresses[~addresses.isinf()] // PLACES).unique().long().tolist()
        return numbers

    def result(self, examples: Mapping[int, Encoded], masking: Masking, tokens: Tokens) -> dict[str, Any]:
        """The fields of an Ablation that describe its worst words."""
        known = ~self.worst[..., 1].isinf()
        whole = self.worst.masked_fill(~known[..., None], 0)
        addresses = whole[..., 1].long()
        ids = whole[..., 2:5].long().cpu().numpy()
        at, vocabulary = sorted(set(addresses[known].tolist())), sorted(set(ids.reshape(-1).tolist()))
        return {
            "word_numbers": (addresses // PLACES).masked_fill(~known, -1).cpu().numpy(),
            "word_positions": (addresses % PLACES).cpu().numpy(),
            "word_ids": ids,
            "word_losses": whole[..., 5:].cpu().numpy(),
            "names": dict(zip(map(str, vocabulary), token_labels(np.array(vocabulary), tokens), strict=True)),
            "contexts": {f"{p // PLACES}:{p % PLACES}": _context(examples[p // PLACES], p % PLACES, masking, tokens)
                         for p in at},
        }  # fmt: skip


def _context(example: Encoded, position: int, masking: Masking, tokens: Tokens) -> dict[str, str]:
    """The word's surroundings as the model sees them."""
    names = tokens.names(masking.apply(example).ids)
    left, right = names[max(0, position - CONTEXT) : position], names[position + 1 : position + 1 + CONTEXT]
    return {"where": example.where, "left": " ".join(left), "shown": names[position], "right": " ".join(right)}
