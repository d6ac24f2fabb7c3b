"""Random access to the segments of a corpus by number, for the attention viewer."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from bertviz_core.corpora.word_search import Hit
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.segments import Segments

MAX_TOKENS = 1_000_000  # of the segments among which one is looked for


def pick(segments: Segments, number: int) -> Encoded:
    """The segment with this number, from 1; raises InputError where the corpus has none, or it was skipped."""
    last = 0
    for example in segments:
        last = example.number + 1
        if last == number:
            return example
    hint = f"Choose a number from 1 to {last:,}."
    raise segments.source.error(f"There is no segment {number}, or it was skipped.", hint)


@dataclass
class FirstSegments:
    """The first segments of a corpus, MAX_TOKENS tokens of them at most, encoded as far as they were requested: each is
    encoded once, however often and in any order they are requested. Threads may share it."""

    segments: Segments
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.known: dict[int, Encoded] = {}
        self.last = self.tokens = 0
        self.coming: Iterator[Encoded] = iter(self.segments)

    def pick(self, number: int) -> Encoded:
        """The segment with this number, from 1; raises InputError where there is none among them."""
        with self.lock:
            try:
                self._read_to(number)
            except BaseException:  # the iterator is over: it would say that the corpus ends here
                self._begin()
                raise
        if number in self.known:
            return self.known[number]
        what = f"There is no segment {number}, or it was skipped."
        if self.last < number and self.tokens >= MAX_TOKENS:
            what = f"There is no segment {number} among the first {MAX_TOKENS:,} tokens of the corpus."
        raise self.segments.source.error(what, f"Choose a number from 1 to {self.last:,}.")

    def _read_to(self, number: int) -> None:
        while self.last < number and self.tokens < MAX_TOKENS and (example := next(self.coming, None)) is not None:
            self.last = example.number + 1
            self.tokens += len(example)
            self.known[self.last] = example

    def number_of(self, hit: Hit) -> int:
        """The number of the segment, from 1, that has a line of the corpus; raises InputError where there is none among
        them, as for a line that the paper's mode drops."""
        if hit.record is not None:
            return hit.record + 1
        part = last = 0
        for number in count(1):
            begin, _, end = self.pick(number).where.removeprefix("line ").partition("-")
            first = int(begin)
            part, last = part + (first <= last), int(end or first)
            if (part, last) >= (hit.part, hit.line):
                break
        if part == hit.part and first <= hit.line:
            return number
        what = f"No segment has line {hit.line:,}: the mode “as in the paper” drops it, as the release does."
        raise self.segments.source.error(what, "Choose the other mode.")
