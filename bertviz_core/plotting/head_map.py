"""The map of heads as data, which pages draw in the browser, and files with plotly."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from bertviz_core.heads import Head, all_heads, all_keys, first_number, ranks
from bertviz_core.numbers import number, percentage, quantity
from bertviz_core.plotting import CATEGORIES, COLORBAR, DIVERGING, SEQUENTIAL, Scale, finish

INK = (76, 110, 245)  # color of small pictures (red, green, blue)
MARKER = 17  # pixels
WIDTH = 640  # of all layers of a map of markers in a file, pixels
SMALLEST_CELL, LARGEST_CELL = 6, 34  # side of a head in a file, pixels
LEAST_WIDTH = 240  # of all heads in a file, where LARGEST_CELL allows it, pixels
LEAST_HEIGHT = LEAST_WIDTH * 3 // 5
MOST_NUMBERS = 24  # on an axis
FAINTEST = 0.07  # opacity of a weight of 0, so that a small picture shows where it ends


@dataclass(frozen=True)
class MarkerGroup:
    """Heads that share a marker, as an entry of the legend.

    Attributes:
        name: The text of the entry; empty for a group without one.
        letter: The letter on it; empty for none.
        heads: Labels of the heads, from 1.
        small: Whether the marker is smaller than others.
    """

    name: str
    color: str
    symbol: str
    letter: str
    heads: tuple[str, ...]
    small: bool = False


@dataclass(frozen=True)
class HeadMap:
    """Layers from left to right, heads from top to bottom; values as colors, markers, or small pictures.

    Attributes:
        hover: The hover text of each head, layer by layer.
        values: (layer, head) values; NaN where a head has none; None for a map without colors.
        limits: The ends of the color scale.
        unit: The title of the scale.
        scale: The colors.
        groups: Markers in place of values.
        picture: Small pictures of all heads as one image, a data URI, in place of values; empty without.
        faint: Labels of heads, from 1, that stand back behind the others.
        base: Number of the first layer and the first head on the axes, as in the hover texts.
    """

    hover: tuple[str, ...]
    layers: int
    heads: int
    values: np.ndarray | None = None
    limits: tuple[float, float] = (0.0, 1.0)
    unit: str = ""
    scale: Scale = SEQUENTIAL
    groups: tuple[MarkerGroup, ...] = ()
    picture: str = ""
    faint: tuple[str, ...] = ()
    base: int = field(default_factory=first_number)

    @cached_property
    def encoded(self) -> bytes:
        """The JSON that the browser draws; cached, because it is sent again with every run of a page."""
        values = None
        if self.values is not None:
            lowest, highest = self.limits
            shares = (self.values - lowest) / ((highest - lowest) or 1.0)
            values = [None if np.isnan(share) else share for share in shares.clip(0, 1).ravel().tolist()]
        drawn = {
            "values": values,
            "limits": [f"{limit:.3g}" for limit in self.limits],
            "groups": [vars(group) for group in self.groups],
        }
        return json.dumps(vars(self) | drawn).encode()


def value_map(
    values: np.ndarray,
    name: str = "",
    *,
    limits: tuple[float, float] = (0.0, 1.0),
    unit: str = "",
    scale: Scale = SEQUENTIAL,
    texts: Iterable[str] = (),
) -> HeadMap:
    """The map of a value of every head, as colors.

    Args:
        values: (layer, head) values.
        name: What the values are, in hover texts.
        limits: The ends of the color scale.
        unit: The title of the scale.
        scale: The colors.
        texts: The hover text of each head, beside its rank; empty for `name` and the value.
    """
    layers, heads = values.shape
    shown = texts or (quantity(name, number(value)) for value in values.flat)
    hover = tuple(
        f"{head.label()}: {text}; rank {rank} of {values.size}"
        for head, text, rank in zip(all_heads(layers, heads), shown, ranks(values).flat, strict=True)
    )
    return HeadMap(hover=hover, layers=layers, heads=heads, values=values, limits=limits, unit=unit, scale=scale)


def accuracy_map(values: np.ndarray, of: str) -> HeadMap:
    """The map of (layer, head) accuracies on some words or mentions."""
    texts = [f"{percentage(value)} of {of}" for value in values.flat]
    return value_map(values, unit="accuracy", texts=texts)


def signed_map(values: np.ndarray, name: str, unit: str) -> HeadMap:
    """The map of (layer, head) values: blue is positive, orange is negative."""
    maximum = float(np.abs(values).max(initial=0)) or 1.0
    return value_map(values, name, limits=(-maximum, maximum), unit=unit, scale=DIVERGING)


def picture_map(pictures: np.ndarray) -> HeadMap:
    """The map of small (layer, head, down, across) uint8 pictures, 255 for weight 1."""
    import plotly.express as px  # The server's start need not wait for this import.

    layers, heads, down, across = pictures.shape
    hover = tuple(f"Head {head.label()}" for head in all_heads(layers, heads))
    pixels = np.zeros((heads, down + 1, layers, across + 1, 4), np.uint8)  # A gap of one pixel follows each picture.
    pixels[:, :down, :, :across, :3] = INK
    alpha = np.rint(255 * FAINTEST + (1 - FAINTEST) * pictures)
    pixels[:, :down, :, :across, 3] = alpha.transpose(1, 2, 0, 3)
    pixels = pixels.reshape(heads * (down + 1), -1, 4)
    image = px.imshow(pixels, binary_string=True, binary_backend="pypng", binary_compression_level=4)
    return HeadMap(hover, layers, heads, picture=image.data[0].source)


def map_figure(head_map: HeadMap) -> go.Figure:
    """The map of values, or of markers, for a file."""
    assert not head_map.picture, "a map of pictures is drawn in the browser alone"
    layers, heads = head_map.layers, head_map.heads
    base = head_map.base
    if head_map.values is None:
        return _sized(_markers(head_map), head_map)
    squares = go.Heatmap(
        x=[str(layer + base) for layer in range(layers)],
        y=[str(head + base) for head in range(heads)],
        z=head_map.values.T,
        text=np.reshape(head_map.hover, (layers, heads)).T,
        hovertemplate="%{text}<extra></extra>",
        colorscale=head_map.scale,
        xgap=1,
        ygap=1,
        zmin=head_map.limits[0],
        zmax=head_map.limits[1],
        colorbar=COLORBAR | {"title": {"text": head_map.unit, "side": "bottom"}},
    )
    return _finished(go.Figure(squares), head_map)


def _finished(figure: go.Figure, head_map: HeadMap) -> go.Figure:
    figure.update_xaxes(CATEGORIES, title="layer").update_yaxes(CATEGORIES, title="head", autorange="reversed")
    for axis, count in (("xaxis", head_map.layers), ("yaxis", head_map.heads)):
        names = [str(number + head_map.base) for number in range(count)]
        figure.layout[axis].update(categoryorder="array", categoryarray=names)
    return _sized(figure, head_map)


def _sized(figure: go.Figure, head_map: HeadMap) -> go.Figure:
    # Pixels, so that the cells are about square, and few heads of many layers are no strip.
    cell = max(SMALLEST_CELL, min(LARGEST_CELL, max(LEAST_WIDTH // head_map.layers, LEAST_HEIGHT // head_map.heads)))
    return finish(figure, 140 + round(1.1 * head_map.heads * cell), margin={"t": 10, "b": 90})


def _markers(head_map: HeadMap) -> go.Figure:
    """A dot for each head, with the marker and the letter of its group. Several markers of a head stand in a row, as in
    the browser, so the axes are of numbers."""
    hover = dict(zip(all_keys(head_map.layers, head_map.heads), head_map.hover, strict=True))
    places = _places(head_map)
    figure = go.Figure()
    for index, group in enumerate(head_map.groups):
        heads = list(map(Head.parse, group.heads))
        sizes = [7 if group.small else places[label, index].size for label in group.heads]
        figure.add_scatter(
            x=[head.layer + head_map.base + places[head.key(), index].aside for head in heads],
            y=[head.head + head_map.base for head in heads],
            mode="markers+text" if group.letter else "markers",
            text=[group.letter] * len(heads),
            textfont={"color": "#ffffff", "size": [min(11, 0.65 * size) for size in sizes]},
            marker={"color": group.color, "symbol": group.symbol, "size": sizes},
            name=group.name or "none of these",
            showlegend=bool(group.name),
            hovertext=[hover[label] for label in group.heads],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.update_xaxes(_numbers(head_map.layers, head_map.base), title="layer")
    return figure.update_yaxes(_numbers(head_map.heads, head_map.base, is_down=True), title="head")


class _Place(NamedTuple):
    """Of a marker: how far it stands from the middle of its cell, in cells to the right, and its size in pixels."""

    aside: float
    size: float


def _places(head_map: HeadMap) -> dict[tuple[str, int], _Place]:
    """From the label of a head and the index of its group to the place of the marker."""
    of_head: dict[str, list[int]] = {}
    for index, group in enumerate(head_map.groups):
        for label in group.heads:
            of_head.setdefault(label, []).append(index)
    cell = WIDTH / head_map.layers  # pixels
    places = {}
    for label, groups in of_head.items():
        step = min(1.3 * MARKER / cell, 0.94 / len(groups))  # cells
        size = min(MARKER, 0.88 * step * cell) if len(groups) > 1 else MARKER
        for rank, index in enumerate(groups):
            places[label, index] = _Place((rank - (len(groups) - 1) / 2) * step, size)
    return places


def _numbers(count: int, base: int, is_down: bool = False) -> dict[str, Any]:
    """An axis that has the numbers of layers or heads."""
    ends = [base - 0.6, base + count - 0.4]
    ticks = {"tick0": base, "dtick": -(-count // MOST_NUMBERS), "range": ends[::-1] if is_down else ends}
    return CATEGORIES | {"type": "linear"} | ticks
