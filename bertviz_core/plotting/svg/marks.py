"""What stands between the axes of a static drawing: points, lines, bars, cells and texts, as SVG."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bertviz_core.models.labels import PICTURES
from bertviz_core.plotting.head_map import data_uri
from bertviz_core.plotting.palette import NEUTRAL
from bertviz_core.plotting.svg.axes import Axis, Spec

INK, GRAY, GRID = "#1f2430", "#8c8c8c", "#e9ecef"
DASHES = {"dash": "7 4", "dot": "2 3", "dashdot": "7 3 2 3", "longdash": "11 4"}
RGBA = re.compile(r"rgba?\((\d+), *(\d+), *(\d+)(?:, *([\d.]+))?\)")
# Outlines of markers around (0, 0), in units of half their size.
POLYGONS = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "triangle-up": ((0, -1.2), (1.1, 0.8), (-1.1, 0.8)),
    "triangle-down": ((0, 1.2), (1.1, -0.8), (-1.1, -0.8)),
    "triangle-right": ((1.2, 0), (-0.8, 1.1), (-0.8, -1.1)),
    "triangle-left": ((-1.2, 0), (0.8, 1.1), (0.8, -1.1)),
    "star": tuple(
        (radius * math.sin(k * math.pi / 5), -radius * math.cos(k * math.pi / 5))
        for k, radius in enumerate((1.3, 0.55) * 5)
    ),
}  # fmt: skip


def text(
    x: float, y: float, words: Any, size: float = 12, anchor: str = "middle", fill: str = INK, more: str = ""
) -> str:
    """A line of text; the marks of plotly's HTML are taken off, and everything is escaped."""
    plain = html.unescape(re.sub(r"<[^>]*>", " ", str(words))).strip().translate(PICTURES)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" fill="{fill}"{more}>'
        f"{html.escape(plain)}</text>"
    )


def width_of(words: Any, size: float = 12) -> float:
    """About how many pixels a text takes."""
    return 0.58 * size * len(html.unescape(re.sub(r"<[^>]*>", "", str(words))))


def opaque(color: str) -> str:
    """A color as it looks on white."""
    match = RGBA.fullmatch(color)
    if match is None:
        return color
    alpha = float(match[4] or 1)
    return "#" + "".join(f"{round(int(part) * alpha + 255 * (1 - alpha)):02x}" for part in match.groups()[:3])


def limits(spec: Spec) -> tuple[float, float]:
    """The values at both ends of the color scale of a heatmap, or of markers."""
    way, values = ("z", spec["z"]) if "z" in spec else ("c", spec["color"])
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    low, high = spec.get(f"{way}min"), spec.get(f"{way}max")
    return float(known.min(initial=np.inf) if low is None else low), float(
        known.max(initial=-np.inf) if high is None else high
    )


def scaled(values: np.ndarray, spec: Spec) -> np.ndarray:
    """(..., 3) red, green and blue, 0 to 255, of values on a color scale; white where there is no value."""
    values = np.asarray(values, dtype=float)
    bottom, top = limits(spec)
    share = np.clip((values - bottom) / ((top - bottom) or 1), 0, 1)
    stops = [stop for stop, _ in spec["colorscale"]]
    colors = np.array([_rgb(opaque(color)) for _, color in spec["colorscale"]])
    mixed = np.stack([np.interp(share, stops, colors[:, part]) for part in range(3)], -1)
    return np.where(np.isfinite(values)[..., None], mixed, 255).round().astype(np.uint8)


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def symbol(name: str, x: float, y: float, size: float, color: str, outline: str = "") -> str:
    """One marker; names that end in "-open" have no filling, a line or a cross never has one."""
    half = size / 2
    base = name.removesuffix("-open")
    paint = f'fill="none" stroke="{color}" stroke-width="1.8"' if name != base else f'fill="{color}"{outline}'
    if base in ("x", "line-ns"):
        ends = ((-0.8, -0.8, 0.8, 0.8), (-0.8, 0.8, 0.8, -0.8)) if base == "x" else ((0, -1.4, 0, 1.4),)
        path = "".join(
            f"M{x + a * half:.1f},{y + b * half:.1f}L{x + c * half:.1f},{y + d * half:.1f}" for a, b, c, d in ends
        )
        return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="2.6"/>'
    if base in POLYGONS:
        points = " ".join(f"{x + a * half:.1f},{y + b * half:.1f}" for a, b in POLYGONS[base])
        return f'<polygon points="{points}" {paint}/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{half:.1f}" {paint}/>'


def each(value: Any, index: int, default: Any) -> Any:
    """The value of one point, where a value for all or a list may be given."""
    if value is None:
        return default
    return value[index] if isinstance(value, list | tuple | np.ndarray) else value


def scatter(trace: Spec, x: Axis, y: Axis) -> Iterator[str]:
    """A scatter trace: error bars, lines, markers and texts, as its mode says."""
    points = [(x.pixel(a), y.pixel(b)) for a, b in zip(trace["x"], trace["y"], strict=True)]
    mode = trace.get("mode", "lines")
    for way, axis in (("x", x), ("y", y)):
        if f"error_{way}" in trace:
            yield from _error_bars(trace, way, axis, points)
    if "lines" in mode:
        yield from _lines(trace.get("line", {}), points, trace.get("line", {}).get("dash", ""))
    if "markers" in mode:
        yield from _markers(trace, points)
    if "text" in mode:
        yield from _texts(trace, points)


def _error_bars(trace: Spec, way: str, axis: Axis, points: Sequence[tuple[float, float]]) -> Iterator[str]:
    spec = trace[f"error_{way}"]
    color = spec.get("color") or color_of(trace)
    below = spec["array"] if spec.get("arrayminus") is None else spec["arrayminus"]  # symmetric without it
    for (px, py), value, up, down in zip(points, trace[way], spec["array"], below, strict=True):
        if value is None or not np.isfinite(value):
            continue
        a, b = axis.pixel(value - down), axis.pixel(value + up)
        ends = (a, py, b, py) if way == "x" else (px, a, px, b)
        if all(map(math.isfinite, ends)):
            yield '<path d="M{:.1f},{:.1f}L{:.1f},{:.1f}" '.format(*ends) + f'stroke="{color}" stroke-width="1.2"/>'


def color_of(trace: Spec) -> str:
    """The one color of a trace, of its markers or else of its line."""
    marker = trace.get("marker", {}).get("color")
    named = marker if isinstance(marker, str) else trace.get("line", {}).get("color")
    return opaque(named or NEUTRAL[0])


def _lines(line: Spec, points: Sequence[tuple[float, float]], dash: str) -> Iterator[str]:
    path, pen = [], "M"
    for px, py in points:
        if math.isfinite(px) and math.isfinite(py):
            path.append(f"{pen}{px:.1f},{py:.1f}")
            pen = "L"
        else:
            pen = "M"
    dashes = f' stroke-dasharray="{DASHES[dash]}"' if dash in DASHES else ""
    color, width = opaque(line.get("color") or NEUTRAL[0]), line.get("width", 2)
    yield f'<path d="{"".join(path)}" fill="none" stroke="{color}" stroke-width="{width:g}"{dashes}/>'


def _markers(trace: Spec, points: Sequence[tuple[float, float]]) -> Iterator[str]:
    marker = trace.get("marker", {})
    colors = marker.get("color")
    if "colorscale" in marker:
        colors = ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in scaled(colors, marker)]
    yield f'<g opacity="{marker.get("opacity", 1):g}">'
    for index, (px, py) in enumerate(points):
        if math.isfinite(px) and math.isfinite(py):
            width = each(marker.get("line", {}).get("width"), index, 0)
            outline = f' stroke="{marker["line"].get("color", INK)}" stroke-width="{width}"' if width else ""
            name, size = each(marker.get("symbol"), index, "circle"), each(marker.get("size"), index, 6)
            yield symbol(name, px, py, size, opaque(each(colors, index, color_of(trace))), outline)
    yield "</g>"


def _texts(trace: Spec, points: Sequence[tuple[float, float]]) -> Iterator[str]:
    font = trace.get("textfont", {})
    size = font.get("size", 12)
    for index, (px, py) in enumerate(points):
        position = each(trace.get("textposition"), index, "middle center")
        anchor = "start" if "right" in position else "end" if "left" in position else "middle"
        shift = -size if "top" in position else size if "bottom" in position else 0
        yield text(px, py + size / 3 + shift, each(trace["text"], index, ""), size, anchor, font.get("color", INK))


def bars(trace: Spec, x: Axis, y: Axis, base: dict[Any, float]) -> Iterator[str]:
    """A bar trace, upright; `base` has how high the bars below it reach, and grows."""
    width = 0.75 * abs(x.at(1) - x.at(0))
    marker = trace.get("marker", {})
    yield f'<g opacity="{marker.get("opacity", 1):g}">'
    for index, (at, value) in enumerate(zip(trace["x"], trace["y"], strict=True)):
        key = (trace.get("yaxis", "y"), str(at))
        bottom, middle = base.get(key, 0.0), x.pixel(at)
        base[key] = bottom + float(value)
        top, foot = y.pixel(base[key]), y.pixel(bottom)
        color = opaque(each(marker.get("color"), index, NEUTRAL[0]))
        left, height = middle - width / 2, foot - top
        yield f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>'
        if label := each(trace.get("text"), index, ""):
            yield text(middle, (top + foot) / 2 + 4, label, 12, fill="#ffffff")
    yield "</g>"


def cells(trace: Spec, x: Axis, y: Axis) -> str:
    """A heatmap as one picture inside the drawing: a pixel for each cell."""
    z = np.array(trace["z"], dtype=float)
    left, right = x.at(-0.5), x.at(z.shape[1] - 0.5)
    top, bottom = y.at(-0.5), y.at(z.shape[0] - 0.5)
    return (
        f'<image x="{left:.1f}" y="{min(top, bottom):.1f}" width="{right - left:.1f}" height="{abs(bottom - top):.1f}" '
        f'preserveAspectRatio="none" style="image-rendering:pixelated" '
        f'href="{data_uri(scaled(z, trace), 9)}"/>'
    )
