"""A corpus as encoded examples: read again on every pass, counted while it is read, and cut into chunks."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar, Generic, TypeVar

from bertviz_core.corpora import REPEATED, UNKNOWN, Skipped
from bertviz_core.corpora.format_detection import track_position
from bertviz_core.corpora.source import Source
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.numbers import unit_name
from bertviz_core.settings import Settings

CHUNK_TOKENS = 32_768  # raise analyses.base.request.FORMAT with it: sums are rounded chunk by chunk
MAX_COMPARED = 1_000_000  # inputs that later ones are compared with: memory does not grow with the file
Example_co = TypeVar("Example_co", bound=Encoded, covariant=True)


@dataclass
class Reading:
    """The counts of one pass over a corpus.

    Attributes:
        counts: What the corpus contains, by name, as provenance lists it.
        skipped: What was skipped or changed.
    """

    counts: dict[str, Any] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)


@dataclass
class EncodedCorpus(ABC, Generic[Example_co]):
    """A corpus as encoded examples, read again on every iteration.

    Attributes:
        tokens: The model's tokenizer.
        unit: What its examples are, in the plural.
    """

    source: Source
    tokens: Tokens
    settings: Settings

    unit: ClassVar[str]

    @abstractmethod
    def encoded(self, reading: Reading) -> Iterator[Example_co]:
        """Every example of the corpus in order, counted in `reading`."""

    def read(self, reading: Reading) -> Iterator[Example_co]:
        """The examples up to the limit, counted in `reading`, with those of their tokens that the model does not know,
        and those that an earlier one equals."""
        seen = set[int]()
        for example in islice(self.encoded(reading), self.settings.limit):
            reading.skipped.add(UNKNOWN, example.where, int((example.ids == self.tokens.unk).sum()))
            value = hash(example.ids.tobytes())
            reading.skipped.add(REPEATED, example.where, value in seen)
            if len(seen) < MAX_COMPARED:
                seen.add(value)
            yield example

    def __iter__(self) -> Iterator[Example_co]:
        return self.read(Reading())

    def room(self, frame: Sequence[Sequence[int]]) -> int:
        """Number of tokens that fit into an input beside the special ids of its frame."""
        return self.settings.max_length - sum(map(len, frame))


class CorpusReading:
    """One reading of a corpus: it iterates over the examples, and counts them.

    Attributes:
        reading: The counts, and what was skipped.
        count: The number of examples so far.
        tokens: The sum of their lengths.
        is_complete: Whether the corpus has been read to its end.
    """

    def __init__(self, examples: EncodedCorpus[Any]) -> None:
        self.examples = examples
        self.reading = Reading()
        self.count = 0
        self.tokens = 0
        self.is_complete = False
        self._source, self._share_read = track_position(examples.source)

    def __iter__(self) -> Iterator[Encoded]:
        """Every example; raises InputError where there is none, or the corpus is broken."""
        unit = self.examples.unit
        for example in replace(self.examples, source=self._source).read(self.reading):
            self.count += 1
            self.tokens += len(example)
            yield example
        self.is_complete = True
        for name in self.examples.source.left_out():
            self.reading.skipped.add(
                "a file of an archive (not read, as others have another ending)", name, unit="files"
            )
        if not self.count:
            what = f"There is nothing to analyze: all {unit_name(unit)} were skipped."
            hint = "; ".join(f"{entry['reason']}: {entry['count']}" for entry in self.reading.skipped.to_json())
            if self.examples.settings.paper and unit == "segments":
                hint += ". The release leaves these out; the mode “corrected” reads them."
            raise self.examples.source.error(what, hint)
        self.reading.counts |= {unit: self.count, "tokens": self.tokens}

    @property
    def expected_tokens(self) -> int:
        """Number of tokens; while the corpus is read, an estimate from the share of its bytes, or of the limit."""
        if self.is_complete:
            return self.tokens
        share = self._share_read()
        if limit := self.examples.settings.limit:
            share = max(share, self.count / limit)
        return max(self.tokens, round(self.tokens / share))


def cut(examples: Iterable[Encoded], tokens: int) -> Iterator[list[Encoded]]:
    """Cut into chunks of consecutive examples, each of at most `tokens` tokens or a single example."""
    chunk: list[Encoded] = []
    size = 0
    for example in examples:
        if chunk and size + len(example) > tokens:
            yield chunk
            chunk = []
            size = 0
        chunk.append(example)
        size += len(example)
    if chunk:
        yield chunk
