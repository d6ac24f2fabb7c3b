"""What the reader has chosen: model, corpus, mode, head. Pure; the sidebar makes it, the pages read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.source import Source
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import Settings


@dataclass(frozen=True, slots=True)
class Selection:
    """`base` is 1, or 0 while labels are shown as arrays count."""

    checkpoint: Checkpoint
    source: Source
    settings: Settings
    head: Head
    base: int = 1

    @property
    def label(self) -> str:
        """The chosen head as the screen names it."""
        return self.head.label(self.base)

    def request(self, analysis: str, options: dict[str, Any] | None = None) -> Request:
        """What a page asks for on these choices."""
        settings = ANALYSES[analysis].relevant(self.settings)
        return Request(analysis, self.checkpoint, self.source, settings, options or {})


def seconds_to_analyze(selection: Selection, forwards: float = 1.0, limit: int | None = None) -> float:
    """A guess ahead of the work: two operations for each weight, token and forward pass, at what a laptop's cores do a
    second. limit: of inputs, where the analysis has one of its own."""
    inputs = limit or selection.settings.limit or 10**9
    tokens = min(selection.source.size / 5, inputs * selection.settings.max_length)
    return float(6 + forwards * 2 * selection.checkpoint.parameters() * tokens / 6e10)


def head_options(checkpoint: Checkpoint) -> list[str]:
    """Labels from 1, layer by layer: what the picker offers and the address bar holds."""
    return [Head(i, j).label() for i in range(checkpoint.layers) for j in range(checkpoint.heads)]


def neighbor(label: str, options: list[str], step: int) -> str:
    """The head before or after, round the corner at either end."""
    return options[(options.index(label) + step) % len(options)]
