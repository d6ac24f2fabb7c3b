"""What is shown: the model, the corpora, the settings and the head that the header has resolved. No Streamlit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bertviz_core import exports
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.presentation import CorpusKind
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.corpora.source import Source
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import DEMO_DECODER, Checkpoint, find_checkpoint
from bertviz_core.settings import Settings, Weights


@dataclass(frozen=True)
class Basis:
    """What a figure is drawn from.

    Attributes:
        caption: Stands under the figure.
        model: The name of the model, in names of files.
        corpora: The names of the corpora, likewise.
    """

    caption: str
    model: str
    corpora: str

    def file_name(self, *subjects: str) -> str:
        """The name of a picture of these subjects, without a suffix."""
        return exports.slug(*subjects, Path(self.model).name, self.corpora)


@dataclass(frozen=True)
class Selection:
    """What one reader has chosen under the title.

    Attributes:
        corpora: The corpora by kind, without those that cannot be opened.
        settings: The settings that all analyses share.
        basis: What figures are drawn from.
    """

    checkpoint: Checkpoint
    corpora: Mapping[CorpusKind, Source]  # those that can be opened
    settings: Settings
    head: Head
    basis: Basis = Basis("", "", "")

    @property
    def label(self) -> str:
        """The label of the head."""
        return self.head.label()

    def request(self, analysis: str, options: dict[str, Any] | None = None) -> Request:
        """The request for an analysis of what is chosen."""
        settings = ANALYSES[analysis].relevant(self.settings)
        source = self.corpora[ANALYSES[analysis].corpus]
        return Request(
            analysis=analysis, checkpoint=self.checkpoint, source=source, settings=settings, options=options or {}
        )

    def of_weights(self, weights: Weights) -> "Selection":
        """The same of attention weights, or of norms."""
        return replace(self, settings=replace(self.settings, weights=weights))

    def of_decoder(self) -> "Selection":
        """The same of a decoder: the chosen model, or the one that ships."""
        is_decoder = self.checkpoint.reads_one_text
        return self if is_decoder else replace(self, checkpoint=find_checkpoint(DEMO_DECODER))

    def analyses(self) -> list[Analysis[Any, Any]]:
        """The analyses of which a corpus is chosen."""
        return [analysis for analysis in ANALYSES.values() if analysis.corpus in self.corpora]
