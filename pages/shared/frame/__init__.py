"""The frame around every page; in this module the reader's selection, which the header creates and pages read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bertviz_core.analyses.analysis import Analysis, Kind
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.source import Source
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import Settings, Weights


@dataclass(frozen=True)
class Selection:
    """What one reader has chosen under the title."""

    checkpoint: Checkpoint
    # Those that can be opened.
    corpora: Mapping[Kind, Source]
    settings: Settings
    head: Head
    base: int = 1  # number of the first layer and head in labels; 0 counts as arrays do

    @property
    def label(self) -> str:
        return self.head.label(self.base)

    def request(self, analysis: str, options: dict[str, Any] | None = None) -> Request:
        """The request for an analysis of what is chosen."""
        settings = ANALYSES[analysis].relevant(self.settings)
        source = self.corpora[ANALYSES[analysis].corpus]
        return Request(analysis, self.checkpoint, source, settings, options or {})

    def of_weights(self, weights: Weights) -> "Selection":
        return replace(self, settings=replace(self.settings, weights=weights))

    def analyses(self) -> list[Analysis]:
        return [analysis for analysis in ANALYSES.values() if analysis.corpus in self.corpora]


def neighbor(label: str, options: Sequence[str], step: int = 1) -> str:
    """The option `step` after a head's label, wrapping around at both ends; the first where the label is no option."""
    return options[(options.index(label) + step) % len(options)] if label in options else options[0]
