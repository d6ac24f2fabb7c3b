"""What `analyze` returns: a result with its figure, table, files and picture."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.analyses.findings import Finding
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Result

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """The result of one analysis of one corpus by one model.

    Attributes:
        result: With everything that the analysis stores; its class is described in the analysis's package.

    Examples:
        >>> import bertviz_core as bv
        >>> entropy = bv.analyze("entropy")  # the demo model on the sample text
        >>> entropy["entropy"].shape  # (layer, head), nats
        (6, 8)
        >>> entropy.to_frame().columns[:4].tolist()
        ['label', 'layer', 'head', 'entropy']
    """

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
        """One quantity of every head.

        Returns:
            (layer, head), NaN for a head that has no value.

        Raises:
            KeyError: The result has no such quantity; the message names those that it has.
        """
        for column in ANALYSES[self.analysis].columns:
            if column.quantity == quantity and (values := column.read(self.result)) is not None:
                return np.array(values)
        raise KeyError(f"{quantity!r} is not one of {', '.join(self.quantities())}")

    def quantities(self) -> list[str]:
        """Names that `result[...]` takes."""
        columns = ANALYSES[self.analysis].columns
        return [column.quantity for column in columns if column.read(self.result) is not None]

    def to_frame(self) -> pd.DataFrame:
        """A tidy table, one row for each thing counted."""
        return self.result.to_frame()

    def figure(self) -> go.Figure:
        """The paper's figure of this result."""
        return ANALYSES[self.analysis].figure(self.result)

    def save(self, path: str | Path) -> None:
        """Write a file, its format by its extension.

        Args:
            path: In an existing folder; .json (arrays, table and provenance), .csv (the table), .zip (all tables),
                .html (a page that needs no network), .safetensors (what the store keeps) or .svg (the figure, where
                kaleido is installed).

        Raises:
            BertvizError: Another extension, or a file that cannot be written.
        """
        from bertviz_core import exports

        exports.write(self.result, Path(path))

    def to_svg(self) -> str:
        """The paper's figure as an SVG drawing; raises BertvizError without kaleido."""
        from bertviz_core import exports

        return exports.to_svg(self.result).decode()

    def findings(self) -> list[Finding]:
        """The paper's statements that the result decides, each with a sentence on this run and its state, the one that
        the analysis is about first."""
        return ANALYSES[self.analysis].findings(self.result)

    def _ipython_display_(self) -> None:
        """Show the first finding and the figure, as plotly shows figures in the notebook at hand."""
        from IPython.display import HTML, display

        display(HTML("".join(f"<p><b>{escape(finding.text)}</b></p>" for finding in self.findings()[:1])))
        self.figure().show()
