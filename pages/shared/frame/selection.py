"""What the reader has chosen: model, corpus, mode, head. Pure; the sidebar makes it, the pages read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
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


def head_options(checkpoint: Checkpoint) -> list[str]:
    """Labels from 1, layer by layer: what the picker offers and the address bar holds."""
    return [Head(i, j).label() for i in range(checkpoint.layers) for j in range(checkpoint.heads)]


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names of models or trainings as pickers show them: of a folder's path its last part, or as many parts as tell it
    from those before it."""
    shown: dict[str, str] = {}
    for name in names:
        parts = Path(name).parts if name.startswith(("/", "~", ".")) else (name,)
        tails = ["/".join(parts[-count:]) for count in range(1, len(parts) + 1)]
        shown[name] = next((tail for tail in tails if tail and tail not in shown.values()), name)
    return shown


def neighbor(label: str, options: list[str], step: int) -> str:
    """The head before or after, round the corner at either end."""
    return options[(options.index(label) + step) % len(options)]
