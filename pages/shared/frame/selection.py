"""What the reader has chosen: model, corpus, mode, head. Pure; the sidebar makes it, the pages read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.source import Source
from bertviz_core.heads import Head, all_heads
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
        """The request for an analysis with these choices."""
        settings = ANALYSES[analysis].relevant(self.settings)
        return Request(analysis, self.checkpoint, self.source, settings, options or {})


def head_options(checkpoint: Checkpoint) -> list[str]:
    """Labels from 1, layer by layer: what the picker offers and the address bar holds."""
    return [head.label() for head in all_heads(checkpoint.layers, checkpoint.heads)]


def neighbor(label: str, options: list[str], step: int = 1) -> str:
    """The head before or after, wrapping around at either end; the first one after a head that is no option."""
    return options[(options.index(label) + step) % len(options)] if label in options else options[0]
