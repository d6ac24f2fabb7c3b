"""Sequences of random tokens, every other one repeated once, to search for induction heads (docs/methods.md,
section 15)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bertviz_core.errors import SettingsError
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.reading import Examples, Reading

INPUTS = 100  # where the settings set no limit
SHORTEST = 3  # tokens of a sequence: of two, the token before would be the one after the first occurrence


@dataclass
class RandomSequences(Examples[Encoded]):
    """Pairs of inputs in the tokenizer's own frame: a sequence and its repetition, then the same sequence and another
    one; all tokens of a pair are distinct but for the repetition.

    The settings say how many inputs (`limit`), of at most how many tokens (`max_length`), and the seed. `words` of an
    input has the place of each token in its sequence: in the repetition, that of its first occurrence.
    """

    unit: ClassVar[str] = "sequences"

    def __post_init__(self) -> None:
        vocabulary = sorted(set(self.tokens.tokenizer.get_vocab().values()))
        self.ordinary = np.setdiff1d(np.array(vocabulary, dtype=np.int64), self.tokens.special)
        room = self.settings.max_length - sum(map(len, self.tokens.single))
        self.size = min(room, len(self.ordinary)) // 2
        if self.size < SHORTEST:
            raise SettingsError(
                f"Inputs of {self.settings.max_length} tokens are too short for a sequence and its repetition.",
                hint="Choose a larger maximum length.",
            )

    def read(self, reading: Reading) -> Iterator[Encoded]:
        for number in range(self.settings.limit or INPUTS):
            yield self._input(number, repeated=number % 2 == 0)

    def _input(self, number: int, *, repeated: bool) -> Encoded:
        draw = np.random.default_rng([self.settings.seed % 2**64, number // 2])
        ids, places = draw.choice(self.ordinary, 2 * self.size, replace=False), np.arange(2 * self.size)
        if repeated:
            ids[self.size :] = ids[: self.size]
            places %= self.size
        before, after = self.tokens.single
        ids = np.array([*before, *ids, *after], dtype=np.int64)
        words = np.pad(places, (len(before), len(after)), constant_values=-1)
        return Encoded(number, f"sequence {number + 1}", ids, np.zeros_like(ids), words, document_number=number)
