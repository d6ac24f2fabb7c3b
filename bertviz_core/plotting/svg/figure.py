"""A plotly figure as one whole SVG document: every legend, title and axis inside it, no browser needed.

It draws the traces that this project's figures have: scatter, bar and heatmap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bertviz_core.plotting.svg import legends, marks
from bertviz_core.plotting.svg.axes import Axis, Spec, find_axes, keep_scale
from bertviz_core.plotting.svg.marks import GRAY, GRID, opaque, text, width_of
from bertviz_core.plotting.template import written_out

if TYPE_CHECKING:
    import plotly.graph_objects as go

WIDTH = 900  # pixels
TITLE, FOOT, ROW = 30, 24, 20  # pixels: room for the title, for the origin, and for a row of a legend


def figure_svg(figure: go.Figure, title: str, origin: str) -> str:
    """Draw a plotly figure as an SVG document.

    Args:
        figure: What is drawn.
        title: Above it.
        origin: What it was made from, at its foot.

    The height is the figure's own, and what legends take; maps of squares are as narrow as their squares ask.
    """
    width = _width(figure)
    sheet = _Sheet.of(figure, width)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {sheet.height:.0f}" width="{width}" '
        f'height="{sheet.height:.0f}" font-family="sans-serif" role="img">',
        f'<rect width="{width}" height="{sheet.height:.0f}" fill="#ffffff"/>',
        text(16, 22, title, 16, "start", more=' font-weight="bold"'),
        text(width - 8, sheet.height - 8, origin, 9, "end", GRAY),
        *(part for name, axis in sheet.axes.items() for part in sheet.axis(name, axis)),
        *sheet.shapes(),
        *sheet.traces_svg(),
        *sheet.annotations(),
        *sheet.legends(),
        *sheet.color_bars(),
        "</svg>",
    ]
    return "\n".join(parts)


@dataclass
class _Sheet:
    """A figure, and the pixels where its parts stand.

    Attributes:
        left, top, right, bottom: Pixels of the area that the axes' domains share.
        legend_traces: Name of a legend in the layout -> its rows of traces.
    """

    traces: list[Spec]
    layout: Spec
    axes: dict[str, Axis]
    width: int
    height: float
    left: float
    top: float
    right: float
    bottom: float
    legend_traces: dict[str, list[list[Spec]]] = field(default_factory=dict)

    @classmethod
    def of(cls, figure: go.Figure, width: int) -> _Sheet:
        traces = [trace.to_plotly_json() for trace in figure.data if trace.visible in (None, True)]
        layout = written_out(figure.layout.to_plotly_json())
        axes, margin = find_axes(layout, traces), layout.get("margin", {})
        labels = [label for name, axis in axes.items() if name[0] == "y" for _, label in axis.ticks()]
        left = max(margin.get("l", 60), 30 + max(map(width_of, labels), default=0))
        sheet = cls(traces, layout, axes, width, 0, left, 0, width - max(16, margin.get("r", 16)), 0)
        sheet.legend_traces = legends.find(traces, layout, sheet.right - sheet.left)
        above, below = legends.row_counts(sheet.legend_traces, layout)
        sheet.top = TITLE + max(margin.get("t", 40), 24 + ROW * above)
        inner = layout.get("height", 450) - margin.get("t", 40) - margin.get("b", 60)
        sheet.bottom = sheet.top + inner
        sheet.height = sheet.bottom + max(margin.get("b", 60), 60 + ROW * below) + FOOT
        for name, axis in axes.items():
            low, high = axis.spec.get("domain", (0, 1))
            axis.start, axis.end = (sheet.x(low), sheet.x(high)) if name[0] == "x" else (sheet.y(low), sheet.y(high))
        keep_scale(axes)
        return sheet

    def x(self, share: float) -> float:
        return self.left + share * (self.right - self.left)

    def y(self, share: float) -> float:
        return self.bottom - share * (self.bottom - self.top)

    def traces_svg(self) -> Iterator[str]:
        base: dict[Any, float] = {}
        for trace in self.traces:
            x, y = self.axes[trace.get("xaxis", "x")], self.axes[trace.get("yaxis", "y")]
            if trace["type"] == "bar":
                yield from marks.bars(trace, x, y, base)
            elif trace["type"] == "heatmap":
                yield marks.cells(trace, x, y)
            else:
                yield from marks.scatter(trace, x, y)

    def axis(self, name: str, axis: Axis) -> Iterator[str]:
        """Grid, ticks and title of an axis."""
        across = name[0] == "x"
        other = self.axes.get(axis.spec.get("anchor") or ("y" if across else "x")) or Axis(
            {}, 0, 1, self.bottom, self.top
        )
        ticks = axis.ticks()
        if axis.spec.get("showgrid", True):
            for at, _ in ticks:
                line = (at, other.start, at, other.end) if across else (other.start, at, other.end, at)
                yield '<path d="M{:.1f},{:.1f}L{:.1f},{:.1f}" '.format(*line) + f'stroke="{GRID}"/>'
        size = axis.spec.get("tickfont", {}).get("size", 11)
        if axis.spec.get("showticklabels", True):
            for at, words in ticks:
                x, y, anchor = (at, other.start + 15, "middle") if across else (other.start - 6, at + 4, "end")
                yield text(x, y, words, size, anchor)
        if title := (axis.spec.get("title") or {}).get("text"):
            middle = (axis.start + axis.end) / 2
            if across:
                yield text(middle, other.start + 34, title)
            else:
                x = other.start - 12 - max((width_of(label, size) for _, label in ticks), default=0)
                yield text(x, middle, title, more=f' transform="rotate(-90 {x:.1f} {middle:.1f})"')

    def shapes(self) -> Iterator[str]:
        """Lines and rectangles of the layout."""
        for shape in self.layout.get("shapes") or ():
            x0, x1 = (self._pixels("x", shape["xref"], shape[end]) for end in ("x0", "x1"))
            y0, y1 = (self._pixels("y", shape["yref"], shape[end]) for end in ("y0", "y1"))
            line = shape.get("line", {})
            dash = marks.DASHES.get(line.get("dash", ""), "none")
            path = f"M{x0:.1f},{y0:.1f}L{x1:.1f},{y1:.1f}"
            if shape["type"] == "rect":
                path = f"M{x0:.1f},{y0:.1f}H{x1:.1f}V{y1:.1f}H{x0:.1f}Z"
            yield (
                f'<path d="{path}" fill="none" stroke="{line.get("color", GRAY)}" '
                f'stroke-width="{line.get("width", 1)}" stroke-dasharray="{dash}"/>'
            )

    def annotations(self) -> Iterator[str]:
        """Titles of panels, and notes inside them."""
        for note in self.layout.get("annotations") or ():
            x = self._pixels("x", note.get("xref", "paper"), note["x"], note=True)
            y = self._pixels("y", note.get("yref", "paper"), note["y"], note=True)
            anchor = {"left": "start", "right": "end"}.get(note.get("xanchor", "center"), "middle")
            font = note.get("font", {})
            size = font.get("size", 12)
            drop = {"bottom": -4, "top": size}.get(note.get("yanchor", "bottom"), size / 3) - note.get("yshift", 0)
            yield text(x + note.get("xshift", 0), y + drop, note["text"], size, anchor, font.get("color", marks.INK))

    def _pixels(self, way: str, ref: str, value: Any, note: bool = False) -> float:
        """Pixels of a place in the layout; a note counts in powers of ten on a logarithmic axis."""
        if ref == "paper":
            return self.x(value) if way == "x" else self.y(value)
        axis = self.axes[ref.split(maxsplit=1)[0]]
        if ref.endswith("domain"):
            return axis.start + value * (axis.end - axis.start)
        return axis.at(float(value)) if note and axis.log else axis.pixel(value)

    def legends(self) -> Iterator[str]:
        """Each legend in rows that fit, above its panel or under the figure."""
        for name, rows in self.legend_traces.items():
            spec = self.layout.get(name, {})
            if legends.is_below(spec):
                first = self.height - FOOT - ROW * len(rows)
            elif spec.get("yref") == "container":
                first = TITLE + 4
            else:
                first = self.y(spec.get("y", 1)) - ROW * len(rows) - 2
            for index, row in enumerate(rows):
                x = self.left
                for trace in row:
                    yield from legends.entry(trace, x, first + ROW * index + 13)
                    x += legends.entry_width(trace)

    def color_bars(self) -> Iterator[str]:
        """The scale of every trace that shows one: under the figure, or upright at its side."""
        for index, trace in enumerate(self.traces):
            spec = trace if trace["type"] == "heatmap" else trace.get("marker", {})
            if "colorbar" in spec and spec.get("showscale", True):
                yield from self._color_bar(spec, index)

    def _color_bar(self, spec: Spec, index: int) -> Iterator[str]:
        low, high = marks.limits(spec)
        stops = "".join(
            f'<stop offset="{share:g}" stop-color="{opaque(color)}"/>' for share, color in spec["colorscale"]
        )
        upright = spec["colorbar"].get("orientation") != "h"
        ends = 'x1="0" y1="1" x2="0" y2="0"' if upright else 'x1="0" y1="0" x2="1" y2="0"'
        yield f'<defs><linearGradient id="scale{index}" {ends}>{stops}</linearGradient></defs>'
        title = (spec["colorbar"].get("title") or {}).get("text", "")
        if upright:
            x, top, long = self.right + 8, self.y(0.8), self.y(0.2) - self.y(0.8)
            yield f'<rect x="{x}" y="{top:.1f}" width="10" height="{long:.1f}" fill="url(#scale{index})"/>'
            yield text(x, top - 8, title, 11, "start")
            labels = [(x + 14, top + 8, high), (x + 14, top + long, low)]
        else:
            long = min(240.0, (self.right - self.left) / 2)
            x, top = (self.left + self.right - long) / 2, self.height - FOOT - 34
            yield f'<rect x="{x:.1f}" y="{top:.1f}" width="{long:.1f}" height="9" fill="url(#scale{index})"/>'
            yield text(x + long / 2, top + 22, title, 11)
            labels = [(x + long + 6, top + 9, high), (x - 6, top + 9, low)]
        for end, (at, y, value) in enumerate(labels):
            yield text(at, y, f"{value:.3g}", 11, "end" if not upright and end else "start")


def _width(figure: go.Figure) -> int:
    """Width of a figure in pixels; the squares of a map stand about as far apart across as down."""
    squares = [trace for trace in figure.data if trace.type == "scatter" and trace.marker.symbol == "square"]
    maps = [trace for trace in squares if trace.marker.colorscale is not None]
    if not maps or len(maps) < len(figure.data):
        return WIDTH
    across = len({tuple(figure.layout[f"xaxis{(trace.xaxis or 'x')[1:]}"].domain or (0, 1)) for trace in maps})
    layers = max(len(set(trace.x)) for trace in maps)
    return max(480, min(WIDTH, 110 + across * (50 + int(1.35 * layers * maps[0].marker.size))))
