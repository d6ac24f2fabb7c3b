"""The frame around every page. Here, what the reader has chosen: the header creates it, the pages read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bertviz_core.analyses.analysis import Analysis, Kind
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.source import Source
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import Settings, Weights


class ChosenModel(Checkpoint):
    """A checkpoint for one run of a page, which asks for the fingerprint many times: its files are looked at once."""

    _fingerprint = cached_property(Checkpoint.fingerprint)

    def fingerprint(self) -> str:
        return self._fingerprint


@dataclass(frozen=True)
class Selection:
    """The choices of one reader."""

    checkpoint: Checkpoint
    corpora: Mapping[Kind, Source]  # without a kind whose corpus cannot be opened
    settings: Settings
    head: Head
    base: int = 1  # 0 while labels are shown as arrays count

    @property
    def label(self) -> str:
        """The chosen head as the screen names it."""
        return self.head.label(self.base)

    def request(self, analysis: str, options: dict[str, Any] | None = None) -> Request:
        settings = ANALYSES[analysis].relevant(self.settings)
        source = self.corpora[ANALYSES[analysis].corpus]
        return Request(analysis, self.checkpoint, source, settings, options or {})

    def of_weights(self, weights: Weights) -> "Selection":
        """The same choices with other weights."""
        return replace(self, settings=replace(self.settings, weights=weights))

    def analyses(self) -> list[Analysis]:
        """The analyses whose kind of corpus is chosen."""
        return [analysis for analysis in ANALYSES.values() if analysis.corpus in self.corpora]


def neighbor(label: str, options: Sequence[str], step: int = 1) -> str:
    """The head before or after, wrapping around at either end; the first one after a head that is no option."""
    return options[(options.index(label) + step) % len(options)] if label in options else options[0]
