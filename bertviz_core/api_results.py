"""What the functions of the library return: a result, or the attention of one input, as objects for a notebook."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core import exports
from bertviz_core.analyses.findings import Finding
from bertviz_core.analyses.reading_warnings import reading_warnings
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Result
from bertviz_core.heads import Head
from bertviz_core.viewer import InputAttention
from bertviz_core.viewer.files import MIN_WEIGHT, in_frame, input_svg, lines_html


@dataclass(frozen=True)
class AnalysisResult:
    """The result of one analysis of one corpus by one model; `result` has everything that the analysis stores."""

    result: Result

    @property
    def analysis(self) -> str:
        """The name of the analysis."""
        return self.result.analysis

    @property
    def provenance(self) -> dict[str, Any]:
        """Origin of the result: model, corpus, settings, what was skipped, versions."""
        return self.result.provenance

    def __getitem__(self, quantity: str) -> np.ndarray:
        """(layer, head) values of one of `quantities`, NaN for heads that have none; raises KeyError for others."""
        if quantity not in self.quantities():
            raise KeyError(f"{quantity!r} is not one of {', '.join(self.quantities())}")
        return np.array(ANALYSES[self.analysis].column(quantity).values(self.result))

    def quantities(self) -> list[str]:
        """Names of the quantities that `result[...]` accepts."""
        analysis = ANALYSES[self.analysis]
        return [column.quantity for column in analysis.columns if column.read(self.result) is not None]

    def to_frame(self) -> pd.DataFrame:
        """A tidy table, one row for each thing counted."""
        return self.result.to_frame()

    def figure(self) -> go.Figure:
        """The paper's figure of this result."""
        return ANALYSES[self.analysis].figure(self.result)

    def save(self, path: str | Path) -> None:
        """Write a file by its extension: .json (arrays, table, provenance), .csv (the table), .zip (all tables), .html,
        .svg (the figure, by kaleido) or .safetensors (as stored). Raises BertvizError where that fails."""
        suffix = exports.check_path(Path(path), exports.suffixes(self.analysis))
        exports.write_bytes(Path(path), exports.builders(self.result)[suffix]())

    def to_svg(self) -> str:
        """The paper's figure as an SVG drawing; raises BertvizError without kaleido."""
        return exports.to_svg(self.result).decode()

    def findings(self) -> list[Finding]:
        """The paper's statements that the result decides, the main one first, each with a sentence on this run."""
        return ANALYSES[self.analysis].findings(self.result)

    def _ipython_display_(self) -> None:
        """Show warnings of the input, the first finding and the figure, as plotly shows them in this notebook."""
        from IPython.display import HTML, display

        lines = [*reading_warnings(self.result), *(finding.text for finding in self.findings()[:1])]
        display(HTML("".join(f"<p><b>{escape(line)}</b></p>" for line in lines)))
        self.figure().show()


@dataclass(frozen=True)
class AttentionLines:
    """Attention of every head on one input; in a notebook's cell, lines to hover over and to pin."""

    attention: InputAttention
    head: Head  # the one that is shown first
    heads: tuple[Head, ...]  # to choose from
    model: str  # its name
    caption: str  # under the drawing: the model, and tokens that did not fit

    @property
    def tokens(self) -> tuple[str, ...]:
        """Labels of the tokens or words that attend."""
        return self.attention.queries.labels

    @property
    def weights(self) -> np.ndarray:
        """(layer, head, query, key) float32."""
        return self.attention.weights

    def to_html(self, path: str | Path | None = None) -> str:
        """The interactive lines as an HTML page that needs no network; also written to `path` where it is given."""
        page = lines_html(self.attention, self.heads, self.head, model=self.model, caption=self.caption)
        if path is not None:
            exports.write_bytes(Path(path), page.encode())
        return page

    def to_svg(self, path: str | Path | None = None, head: str | None = None) -> str:
        """The lines of one head ("3-5", from 1) as SVG, also written to `path`; raises BertvizError without kaleido."""
        shown = Head.parse(head) if head else self.head
        shown.check(*self.weights.shape[:2])
        drawing = input_svg(self.attention, shown, self.model, MIN_WEIGHT)
        if path is not None:
            exports.write_bytes(Path(path), drawing)
        return drawing.decode()

    def _repr_html_(self) -> str:
        return in_frame(self.to_html(), self.attention)
