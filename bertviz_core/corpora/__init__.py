"""Corpora: sources of bytes, their readers, which never import torch, and the counts of what an analysis skipped."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

from bertviz_core.errors import shorten
from bertviz_core.numbers import plural

UNKNOWN = "a token not in the vocabulary (read as unknown)"
REPEATED = "an input that an earlier one equals (counted as one more)"
SPELLED = "a special token spelled out in the text (read as letters)"
ESCAPED = "a mark as the Penn Treebank writes it, such as -LRB- or /. (read as it stands)"
MAX_LOCATIONS = 20  # locations that are kept for each reason; the count goes on
SHOWN_LOCATIONS = 3


class SkippedCount(TypedDict):
    """How often something was skipped or changed for one reason.

    Attributes:
        count: How many times.
        where: The first locations, at most MAX_LOCATIONS.
        unit: What was lost as a whole, as provenance counts it: "sentences", "documents", "segments", "lines" or
            "files"; without it, something was changed.
    """

    count: int
    where: list[str]
    unit: NotRequired[str]


class SkippedEntry(SkippedCount):
    """A count as results and files have it."""

    reason: str


@dataclass
class Skipped:
    """What was skipped or changed, and why.

    Attributes:
        reasons: From each reason, in plain words, to its count.
    """

    reasons: dict[str, SkippedCount] = field(default_factory=dict)

    def add(self, reason: str, where: str, count: int = 1, *, unit: str = "") -> None:
        """Count what was skipped or changed. `unit` names whole inputs that were skipped, as provenance counts those
        that were read: "sentences", "documents", "segments", "lines" or "files"."""
        if count:
            self._count(reason, count, [shorten(where)], unit)

    def merge(self, other: "Skipped") -> None:
        """Add what another reading skipped."""
        for reason, entry in other.reasons.items():
            self._count(reason, **entry)

    def _count(self, reason: str, count: int, where: list[str], unit: str = "") -> None:
        empty: SkippedCount = {"count": 0, "where": [], "unit": unit} if unit else {"count": 0, "where": []}
        entry = self.reasons.setdefault(reason, empty)
        entry["count"] += count
        entry["where"] += where[: MAX_LOCATIONS - len(entry["where"])]

    def to_json(self) -> list[SkippedEntry]:
        """The counts, in the order in which reasons came up."""
        return [{"reason": reason, **entry} for reason, entry in self.reasons.items()]


def skipped_summary(entries: Iterable[SkippedEntry]) -> str:
    """How much was skipped, by what it was, and how much was changed, as "1 sentence skipped; 175 unknown tokens"."""
    entries = list(entries)
    other = "other changes" if any(entry["reason"] == UNKNOWN for entry in entries) else "changes"
    skipped = Counter[str]()
    changed = Counter[str]()
    for entry in entries:
        if "unit" in entry:
            skipped[entry["unit"]] += entry["count"]
        else:
            changed["unknown tokens" if entry["reason"] == UNKNOWN else other] += entry["count"]
    parts = [f"{plural(count, unit)} skipped" for unit, count in skipped.items()]
    return "; ".join([*parts, *(plural(count, what) for what, count in changed.items())])


def describe_skipped(entries: Iterable[SkippedEntry]) -> list[str]:
    """A line for each entry of `Skipped.to_json`, with its first locations."""
    lines = []
    for entry in entries:
        where = entry["where"][:SHOWN_LOCATIONS]
        if entry["count"] > len(where):
            where.append("…")
        lines.append(f"{entry['count']:,} × {entry['reason']} ({', '.join(where)})")
    return lines
