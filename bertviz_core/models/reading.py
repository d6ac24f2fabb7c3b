"""Corpora as encoded examples, and what one reading of a corpus counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.tokens import Tokens
from bertviz_core.settings import Settings

Example_co = TypeVar("Example_co", bound=Encoded, covariant=True)


@dataclass
class Reading:
    """What one reading counted, as far as it came.

    Attributes:
        counts: What the corpus holds, by name, as provenance lists it.
        skipped: What was skipped or changed.
    """

    counts: dict[str, Any] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)


@dataclass
class Examples(ABC, Generic[Example_co]):
    """A corpus as encoded examples, read anew on every iteration. It keeps no counters: each reading has its own.

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

    def count(self, advance: Callable[[int], None] = lambda count: None) -> Reading:
        """Read the corpus to its end for its counts.

        Args:
            advance: Called with 1 after each example.

        Raises:
            InputError: No example is left, or the corpus is broken.
        """
        reading, total, tokens = Reading(), 0, 0
        for example in self.read(reading):
            advance(1)
            total, tokens = total + 1, tokens + len(example)
        if not total:
            reasons = reading.skipped.reasons.items()
            raise InputError(
                f"There is nothing to analyze: all {self.unit} were skipped.",
                where=self.source.name,
                hint="; ".join(f"{reason}: {entry['count']}" for reason, entry in reasons),
            )
        reading.counts |= {self.unit: total, "tokens": tokens}
        return reading
