"""What the functions of the library return, as objects for a notebook: a result, lines of attention, a map of heads."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core import exports
from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.reading_warnings import reading_warnings
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, HeadLike, all_heads
from bertviz_core.one_head import files
from bertviz_core.one_head.clear_input import CaptionedSvg
from bertviz_core.one_head.description import OneHead
from bertviz_core.plotting import DIVERGING, SEQUENTIAL
from bertviz_core.plotting.browser import in_frame
from bertviz_core.plotting.drawing import FOOT, HEIGHT, figure_html, html_page
from bertviz_core.plotting.head_map import HeadMap, value_map
from bertviz_core.plotting.head_map_files import map_frame, map_html, map_svg
from bertviz_core.plotting.html import element
from bertviz_core.viewer.files import MIN_WEIGHT, input_svg, lines_frame, lines_html
from bertviz_core.viewer.input_attention import InputAttention

if TYPE_CHECKING:
    import pyarrow

HEAD_HEIGHT = 900  # pixels of the frame of a head


class NotebookObject(ABC):
    """An object that shows itself as HTML in Jupyter, VS Code and Colab, and in marimo, which asks for a type too."""

    @abstractmethod
    def _repr_html_(self) -> str:
        """The object as HTML."""

    def _mime_(self) -> tuple[str, str]:
        return "text/html", self._repr_html_()


@dataclass(frozen=True)
class AnalysisResult(NotebookObject):
    """The result of one analysis of one corpus by one model.

    Attributes:
        result: Everything that the analysis stores.
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
        """(layer, head) values of one of `quantities`, or of another average in `to_frame`, as the lengths of norms.

        They are NaN for heads that have none; raises KeyError for other names.
        """
        if quantity in self.quantities():
            return np.array(ANALYSES[self.analysis].column(quantity).values(self.result))
        if isinstance(self.result, HeadAverages) and quantity in self.result:
            return np.array(self.result[quantity])
        raise KeyError(f"{quantity!r} is not one of {', '.join(self.quantities())}")

    def __contains__(self, quantity: str) -> bool:
        return quantity in self.quantities() or (isinstance(self.result, HeadAverages) and quantity in self.result)

    def quantities(self) -> list[str]:
        """Names of the quantities that the page of the analysis shows, for `result[...]`."""
        analysis = ANALYSES[self.analysis]
        return [column.quantity for column in analysis.columns if column.read(self.result) is not None]

    def to_frame(self) -> pd.DataFrame:
        """A tidy table, one row for each thing counted."""
        return self.result.to_frame()

    def to_arrow(self) -> "pyarrow.Table":
        """The tidy table for Arrow, its analysis and provenance as JSON in the schema's metadata.

        Raises:
            BertvizError: pyarrow is not installed.
        """
        try:
            import pyarrow
        except ImportError as error:
            hint = "Run `pip install pyarrow`, or use `to_frame`."
            raise SettingsError("A table for Arrow needs pyarrow, which is not installed.", hint=hint) from error
        table = pyarrow.Table.from_pandas(self.to_frame(), preserve_index=False)
        about = {"analysis": self.analysis, "provenance": json.dumps(self.provenance, ensure_ascii=False)}
        return table.replace_schema_metadata((table.schema.metadata or {}) | about)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as Arrow's PyCapsule, which `polars.DataFrame(result)`, duckdb and others read."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

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
        """Show warnings of the input, what the result says first and the figure, as plotly shows them in this
        notebook."""
        from IPython.display import HTML, display

        display(HTML("".join(self._lines())))
        self.figure().show()

    def _repr_html_(self) -> str:
        """The same as one page in a frame, for notebooks that do not call `_ipython_display_`."""
        figure = self.figure()
        lines = self._lines()
        page = html_page(exports.title_of(self.result), *lines, figure_html(figure))
        return in_frame(page, title="Figure", height=(figure.layout.height or HEIGHT) + (3 + 2 * len(lines)) * FOOT)

    def _lines(self) -> list[str]:
        """Warnings of the input; then what the page of the analysis says first, and what it says of what is chosen."""
        sentences = exports.chosen_sentences(exports.blocks_of(self.result))
        strong = [*reading_warnings(self.result), *sentences[:1]]
        return [element("p style=font-weight:600", line) for line in strong] + [
            element("p", line) for line in sentences[1:]
        ]


@dataclass(frozen=True)
class HeadSummary(NotebookObject):
    """What the stored results of a model say of one head; in a notebook's cell, the page of the head.

    Attributes:
        shown: The head's description, with its numbers.
        draw_lines: Draws its lines on the input in which it is clearest, for which the model runs.
    """

    shown: OneHead
    draw_lines: files.DrawLines

    @property
    def sentence(self) -> str:
        """What the head does, and the numbers that set it apart."""
        return self.shown.sentence

    def findings(self) -> list[Finding]:
        """The findings that name the head."""
        return list(self.shown.every_finding)

    def to_frame(self) -> pd.DataFrame:
        """A row for each number of the head, with its interval, its rank, the range of all heads and its baseline."""
        return files.to_frame(self.shown)

    def to_html(self, path: str | Path | None = None) -> str:
        """A page with static drawings that needs no network; also written to `path` where it is given."""
        page = files.to_html(self.shown, self._lines)
        if path is not None:
            exports.write_bytes(Path(path), page.encode())
        return page

    def save(self, path: str | Path) -> None:
        """Write a file by its extension: .html, .json or .csv. Raises BertvizError where that fails."""
        suffix = exports.check_path(Path(path), files.SUFFIXES)
        exports.write_bytes(Path(path), files.to_bytes(self.shown, suffix, lambda: self._lines))

    @cached_property
    def _lines(self) -> CaptionedSvg | None:
        return self.draw_lines()

    def _repr_html_(self) -> str:
        return in_frame(self.to_html(), title=f"Head {self.shown.label}", height=HEAD_HEIGHT)


@dataclass(frozen=True)
class AttentionLines(NotebookObject):
    """Attention of every head on one input; in a notebook's cell, lines to hover over and to pin.

    Attributes:
        attention: The tokens or words, and the (layer, head, query, key) weights.
        head: The head that is shown first.
        heads: The heads to choose from.
        model: The name of the model; empty where it is not known.
        caption: What stands under the drawing: the model, tokens that did not fit, rows that do not sum to 1.
    """

    attention: InputAttention
    head: Head
    heads: tuple[Head, ...]
    model: str
    caption: str

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

    def to_svg(self, path: str | Path | None = None, head: HeadLike | None = None) -> str:
        """The lines of one head as SVG, also written to `path`; raises BertvizError without kaleido."""
        shown = self.head if head is None else Head.parse(head)
        shown.check(*self.weights.shape[:2])
        drawing = input_svg(self.attention, shown, self.model, MIN_WEIGHT)
        if path is not None:
            exports.write_bytes(Path(path), drawing)
        return drawing.decode()

    def _repr_html_(self) -> str:
        return lines_frame(self.to_html(), self.attention)


@dataclass(frozen=True)
class HeadValues(NotebookObject):
    """A value of every head; in a notebook's cell, a map to point at.

    Attributes:
        values: (layer, head) values; NaN where a head has none.
        name: What the values are; empty where it is not known.
        limits: The ends of the color scale.
    """

    values: np.ndarray
    name: str
    limits: tuple[float, float]

    @property
    def caption(self) -> str:
        """The sentence under the map: heads without a value, colors that are cut off."""
        low, high = self.limits
        missing = np.isnan(self.values).sum()
        outside = ((self.values < low) | (self.values > high)).sum()
        sentences = ["Layers and heads count from 1."]
        if missing:
            sentences.append(f"{missing:,} of {self.values.size:,} heads have no value.")
        if outside:
            sentences.append(f"{outside:,} values lie outside the color scale and have the color of its nearer end.")
        return " ".join(sentences)

    @cached_property
    def _map(self) -> HeadMap:
        scale = DIVERGING if self.limits[0] == -self.limits[1] else SEQUENTIAL
        return value_map(self.values, self.name or "value", limits=self.limits, unit=self.name, scale=scale)

    def to_html(self, path: str | Path | None = None) -> str:
        """The interactive map as an HTML page that needs no network; also written to `path` where it is given."""
        page = map_html(self._map, f"{self.name or 'Values'} of every head", self.caption)
        if path is not None:
            exports.write_bytes(Path(path), page.encode())
        return page

    def to_svg(self, path: str | Path | None = None) -> str:
        """The map as SVG, also written to `path` where it is given; raises BertvizError without kaleido."""
        drawing = map_svg(self._map, self.caption)
        if path is not None:
            exports.write_bytes(Path(path), drawing)
        return drawing.decode()

    def _repr_html_(self) -> str:
        return map_frame(self.to_html(), self._map)


def choose_heads(
    attention: InputAttention, head: HeadLike | None, heads: Sequence[HeadLike] | None
) -> tuple[Head, tuple[Head, ...]]:
    """The head that is shown first, and those that can be chosen, among them the first.

    Args:
        head: As `Head.parse` reads it; None for the head that attends most to the previous token.
        heads: Likewise; None, or an empty list, for every head.

    Raises:
        SettingsError: One is no head of this model.
    """
    shape = attention.weights.shape[:2]
    if isinstance(heads, str | Head):
        raise SettingsError(f"The heads to choose from are {heads!r}.", hint="Give a list of heads.")
    listed = [] if heads is None else list(map(Head.parse, heads))
    named = listed if head is None else [*listed, Head.parse(head)]
    for each in named:
        each.check(*shape)
    offered = tuple(dict.fromkeys(named)) if listed else all_heads(*shape)
    if head is not None:
        return named[-1], offered
    to_previous = np.diagonal(attention.weights, -1, -2, -1).sum(-1)  # (layer, head)
    return max(offered, key=to_previous.__getitem__), offered
