"""Corpora as encoded examples, read once, and cut into chunks while they are read; and random tokens in their place."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.recognition import positioned
from bertviz_core.corpora.source import Source
from bertviz_core.errors import SettingsError
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.tokens import Tokens
from bertviz_core.settings import Settings

CHUNK_TOKENS = 65_536  # raise analyses.request.FORMAT with it: sums are rounded chunk by chunk
INPUTS = 100  # of random tokens, where the settings set no limit
SHORTEST = 3  # tokens of a sequence: of two, the token before would be the one after the first occurrence
Example_co = TypeVar("Example_co", bound=Encoded, covariant=True)


@dataclass
class Reading:
    """Running counts of one pass over a corpus."""

    counts: dict[str, Any] = field(default_factory=dict)  # what it contains, by name, as provenance lists it
    skipped: Skipped = field(default_factory=Skipped)  # what was skipped or changed


@dataclass
class Examples(ABC, Generic[Example_co]):
    """A corpus as encoded examples, read again on every iteration. It has no counters of its own: each reading has."""

    source: Source
    tokens: Tokens
    settings: Settings

    unit: ClassVar[str]  # what the examples are, in the plural

    @abstractmethod
    def read(self, reading: Reading) -> Iterator[Example_co]:
        """Every example in order, counted in `reading`."""

    def __iter__(self) -> Iterator[Example_co]:
        return self.read(Reading())

    def room(self, frame: Sequence[Sequence[int]]) -> int:
        """How many tokens fit into an input beside the special ids of its frame."""
        return self.settings.max_length - sum(map(len, frame))


class CorpusReading:
    """The one reading of a corpus that a pass needs: of `examples`, `count` so far, with their counts in `reading`. It
    `is_complete` before the last chunk is given out."""

    def __init__(self, examples: Examples[Any]) -> None:
        self.examples, self.reading = examples, Reading()
        self.count, self.is_complete = 0, False
        self._source, self._share_read = positioned(examples.source)

    def __iter__(self) -> Iterator[Encoded]:
        """Every example; raises InputError where there is none, or the corpus is broken."""
        tokens, unit = 0, self.examples.unit
        for example in replace(self.examples, source=self._source).read(self.reading):
            self.count, tokens = self.count + 1, tokens + len(example)
            yield example
        self.is_complete = True
        if not self.count:
            reasons = self.reading.skipped.reasons.items()
            what = f"There is nothing to analyze: all {unit} were skipped."
            hint = "; ".join(f"{reason}: {entry['count']}" for reason, entry in reasons)
            raise self.examples.source.error(what, hint)
        self.reading.counts |= {unit: self.count, "tokens": tokens}

    @property
    def expected(self) -> int:
        """Number of examples; while the corpus is read, an estimate from the share of its bytes."""
        if self.is_complete:
            return self.count
        limit = self.examples.settings.limit
        estimate = max(self.count, round(self.count / self._share_read()))
        return estimate if limit is None else min(limit, estimate)


def cut(examples: Iterable[Encoded], tokens: int) -> Iterator[list[Encoded]]:
    """Consecutive examples of so many tokens at most, where they are more than one."""
    chunk: list[Encoded] = []
    size = 0
    for example in examples:
        if chunk and size + len(example) > tokens:
            yield chunk
            chunk, size = [], 0
        chunk.append(example)
        size += len(example)
    if chunk:
        yield chunk


@dataclass
class RandomSequences(Examples[Encoded]):
    """Sequences of random tokens, every other one repeated once (docs/methods.md, section 15): pairs of inputs in the
    tokenizer's own frame, a sequence and its repetition, then the same sequence and another one; all tokens of a pair
    are distinct but for the repetition. `words` of an input has the place of each token in its sequence: in the
    repetition, that of its first occurrence."""

    unit: ClassVar[str] = "sequences"

    def __post_init__(self) -> None:
        self.size = min(self.room(self.tokens.single), len(self.tokens.ordinary)) // 2
        if self.size < SHORTEST:
            raise SettingsError(
                f"Inputs of {self.settings.max_length} tokens are too short for a sequence and its repetition.",
                hint="Choose a larger maximum length.",
            )

    def read(self, reading: Reading) -> Iterator[Encoded]:
        before, after = self.tokens.single
        for number in range(self.settings.limit or INPUTS):
            draw = np.random.default_rng([self.settings.seed % 2**64, number // 2])
            ids, places = draw.choice(self.tokens.ordinary, 2 * self.size, replace=False), np.arange(2 * self.size)
            if number % 2 == 0:
                ids[self.size :] = ids[: self.size]
                places %= self.size
            ids = np.array([*before, *ids, *after], dtype=np.int64)
            words = np.pad(places, (len(before), len(after)), constant_values=-1)
            yield Encoded(number, f"sequence {number + 1}", ids, np.zeros_like(ids), words, document_number=number)
