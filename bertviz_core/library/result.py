"""What `analyze` returns: a result with its figure, table, files and picture."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Result
from bertviz_core.claims import claims_of
from bertviz_core.claims.claim import DECISIONS

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
        (6, 12)
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
            path: In an existing folder; .json (arrays, table and provenance), .csv (the table), .html (a page that
                needs no network), .svg (the figure) or .safetensors (what the store keeps).

        Raises:
            BertvizError: Another extension, or a file that cannot be written.
        """
        from bertviz_core import exports

        exports.write(self.result, Path(path))

    def to_svg(self) -> str:
        """The paper's figure as an SVG drawing."""
        from bertviz_core import exports

        return exports.to_svg(self.result).decode()

    def claim(self) -> str:
        """One sentence that states the result; beside it the paper's claim and whether it holds, where there is one."""
        from bertviz_core.analyses.html_section import highest_heads

        for claim in claims_of(self.analysis):
            if (verdict := claim.verdict({self.analysis: self.result})).state in DECISIONS:
                return f"{verdict.evidence} The paper: {claim.text} This claim: {verdict.state}."
        return self.result.claim() or highest_heads(self.result, ANALYSES[self.analysis])

    def _repr_html_(self) -> str:
        """A picture and a claim; as an image, so that no style of the page around it reaches the drawing."""
        data = base64.b64encode(self.to_svg().encode()).decode()
        return (
            f'<p><b>{escape(self.claim())}</b></p><img src="data:image/svg+xml;base64,{data}" '
            f'alt="{escape(ANALYSES[self.analysis].title)}" style="max-width: 100%; background: #fff">'
        )
