"""Legends of a figure as SVG: which traces each has, in rows that fit, and how an entry is drawn."""

from __future__ import annotations

from collections.abc import Iterator

from bertviz_core.plotting.svg import marks
from bertviz_core.plotting.svg.axes import Spec
from bertviz_core.plotting.svg.marks import symbol, text, width_of

Rows = list[list[Spec]]


def find(traces: list[Spec], layout: Spec, width: float) -> dict[str, Rows]:
    """Name of a legend in the layout -> its rows of traces, each at most `width` pixels wide."""
    if layout.get("showlegend") is False or len(traces) < 2:
        return {}
    legends: dict[str, Rows] = {}
    for trace in traces:
        if trace.get("showlegend") is False or not trace.get("name"):
            continue
        name = trace.get("legend", "legend")
        rows = legends.setdefault(name, [[]])
        is_alone = "entrywidth" in layout.get(name, {})
        if rows[-1] and (is_alone or sum(map(entry_width, [*rows[-1], trace])) > width):
            rows.append([])
        rows[-1].append(trace)
    return legends


def row_counts(legends: dict[str, Rows], layout: Spec) -> tuple[int, int]:
    """Rows of legends that stand above the top panel, and under the figure."""
    above = below = 0
    for name, rows in legends.items():
        if is_below(layout.get(name, {})):
            below = max(below, len(rows))
        elif layout.get(name, {}).get("y", 1) >= 0.99:
            above = max(above, len(rows))
    return above, below


def is_below(legend: Spec) -> bool:
    """Whether a legend stands under the figure."""
    return bool(legend.get("yref") == "container" and legend.get("y", 1) < 0.5)


def entry_width(trace: Spec) -> float:
    """Pixels that the entry of a trace takes."""
    return 44 + width_of(trace["name"])


def entry(trace: Spec, x: float, y: float) -> Iterator[str]:
    """A line or a marker, and the name of a trace."""
    color, marker = marks.color_of(trace), trace.get("marker", {})
    if "lines" in trace.get("mode", ""):
        dash = marks.DASHES.get(trace.get("line", {}).get("dash", ""), "none")
        yield f'<path d="M{x},{y - 4}h24" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/>'
    if "markers" in trace.get("mode", "") or trace["type"] == "bar":
        name = "square" if trace["type"] == "bar" else marks.each(marker.get("symbol"), 0, "circle")
        yield symbol(name, x + 12, y - 4, 10, color)
    yield text(x + 30, y, trace["name"], 12, "start")
