"""Brackets that open and close mentions: `(3`, `3)`, `(3)`, nested, crossing, several at one word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bertviz_core.corpora.coreference.documents import Mention, ordered
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.errors import InputError, shorten

MAX_OPEN = 10_000  # mentions that have begun and not yet ended
NONE = frozenset(["", "-", "_", "*"])
BRACKET = re.compile(r"(\()?([^()|]+)(\))?")


@dataclass
class Chains:
    """The mentions of one document, as its brackets come. A closing bracket ends the latest open one of its chain,
    so that mentions of different chains may cross and mentions of one chain may nest."""

    file: str
    skipped: Skipped
    unclosed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # label -> (word, line), latest last
    numbers: dict[str, int] = field(default_factory=dict)  # label -> cluster
    closed: dict[Mention, None] = field(default_factory=dict)
    opened: int = 0  # how many mentions are open

    def open(self, label: str, start: int, line: int) -> None:
        """A mention that begins at word `start`; raises InputError where more are open than ever are."""
        self.opened += 1
        if self.opened > MAX_OPEN:
            raise InputError(
                f"More than {MAX_OPEN:,} brackets of chains are open here.",
                where=f"{self.file}, line {line}",
                hint="Close each at the last word of its mention.",
            )
        self.unclosed.setdefault(label, []).append((start, line))

    def close(self, label: str, end: int, line: int) -> None:
        """A mention that ends before word `end`; raises InputError where nothing is open."""
        if not self.unclosed.get(label):
            raise InputError(
                f"Chain {label} is closed here, but no bracket of it is open.",
                where=f"{self.file}, line {line}",
                hint="Open it before, or remove this bracket.",
            )
        start, _ = self.unclosed[label].pop()
        self.opened -= 1
        if not self.unclosed[label]:
            del self.unclosed[label]
        self.add(start, end, label, f"line {line}")

    def add(self, start: int, end: int, label: str, where: str) -> None:
        """Take in `words[start:end]`; the same words twice in one chain count once."""
        mention = Mention(start, end, self.numbers.setdefault(label, len(self.numbers)))
        if start >= end:
            self.skipped.add("a mention without a word of its own (a zero)", where)
        elif mention in self.closed:
            self.skipped.add("a mention given twice (read once)", where)
        else:
            self.closed[mention] = None

    def mentions(self) -> tuple[Mention, ...]:
        """All of them, in order; raises InputError naming the line of a bracket that never closes."""
        still = [(line, label) for label, entries in self.unclosed.items() for _, line in entries]
        if still:
            line, label = min(still)
            raise InputError(
                f"The bracket of chain {label} that opens here never closes.",
                where=f"{self.file}, line {line}",
                hint="Close it at its last word: the chain's name and a closing bracket.",
            )
        return ordered(list(self.closed))


def brackets(text: str, where: str) -> Iterator[tuple[bool, str, bool]]:
    """(opens, label, closes) of every bracket at a word; raises InputError for anything else."""
    if text in NONE:
        return
    parts = list(BRACKET.finditer(text))
    if "".join(match[0] for match in parts) != text.replace("|", "") or not all(m[1] or m[3] for m in parts):
        raise InputError(
            f"{shorten(text)!r} is not a list of chain brackets.", where=where, hint="Write (3, 3) or (3), joined by |."
        )
    for match in parts:
        yield bool(match[1]), match[2], bool(match[3])
