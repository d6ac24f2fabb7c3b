"""Encoded examples as bytes and back, for workers that are given no corpus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.encoding import Encoded

ARRAYS = ("ids", "types", "words")


def pack_examples(examples: Sequence[Encoded]) -> bytes:
    """Pack what a model reads of examples, and to which words their tokens belong."""
    arrays = {name: np.concatenate([np.asarray(getattr(example, name)) for example in examples]) for name in ARRAYS}
    return pack(
        {
            "numbers": [example.number for example in examples],
            "lengths": [len(example) for example in examples],
            **arrays,
        }
    )


def unpack_examples(data: bytes) -> list[Encoded]:
    """Read the examples that `pack_examples` packed."""
    state = unpack(data)
    ends = np.cumsum(state["lengths"])[:-1]
    columns = [np.split(state[name], ends) for name in ARRAYS]
    return [Encoded(number, "", *arrays) for number, *arrays in zip(state["numbers"], *columns, strict=True)]
