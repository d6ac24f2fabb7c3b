"""Corpora as encoded examples, read once, and cut into chunks while they are read."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

from bertviz_core.corpora.recognition import positioned
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.tokens import Tokens
from bertviz_core.settings import Settings

CHUNK_TOKENS = 65_536  # raise analyses.request.FORMAT with it: sums are rounded chunk by chunk
Example_co = TypeVar("Example_co", bound=Encoded, covariant=True)


@dataclass
class Reading:
    """Running counts of one pass over a corpus.

    Attributes:
        counts: What the corpus contains, by name, as provenance lists it.
        skipped: What was skipped or changed.
    """

    counts: dict[str, Any] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)


@dataclass
class Examples(ABC, Generic[Example_co]):
    """A corpus as encoded examples, read again on every iteration. It has no counters of its own: each reading has.

    Attributes:
        unit: What the examples are, in the plural.
    """

    source: Source
    tokens: Tokens
    settings: Settings

    unit: ClassVar[str]

    @abstractmethod
    def read(self, reading: Reading) -> Iterator[Example_co]:
        """Every example in order, counted in `reading`."""

    def __iter__(self) -> Iterator[Example_co]:
        return self.read(Reading())


class CorpusReading:
    """The one reading of a corpus that a pass needs.

    Attributes:
        examples: The corpus.
        reading: Its counts so far, with those of examples and tokens.
        count: Number of examples so far.
        is_complete: Whether the corpus has been read to its end; it is before the last chunk is given out.
    """

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
