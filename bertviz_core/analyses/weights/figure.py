"""The map of heads by their composition with one head, and tables of pairs."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core.analyses.base.blocks import Map
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.analyses.weights.result import COLUMNS, WRITTEN, HeadWeights, pairs, path_text
from bertviz_core.heads import Head
from bertviz_core.plotting import DIVERGING, layer_figure
from bertviz_core.plotting.head_map import HeadMap, value_map

OF_HEAD = 8  # pairs of a head in its table
OF_MODEL = 10  # pairs of all heads
NOTHING = "(nothing)"


def copying_figure(result: HeadWeights) -> go.Figure:
    """How much of what it reads each head writes back, a dot for each head, lines for layer means."""
    copying = [column for column in COLUMNS if column.maximum is not None and column.read(result) is not None]
    figure = layer_figure([[column.series(result) for column in copying]], height=420)
    return figure.update_yaxes(title="share", range=[-1.05, 1.05])


def partners_map(result: HeadWeights, path: str, head: Head) -> HeadMap:
    """Each head's composition with one head, above random pairs; the scale is that of all pairs of the path."""
    values = result.with_head(path, head)
    limit = float(np.nanmax(np.abs(result.above_random(path))))
    texts = [_text(float(value), layer, head) for (layer, _), value in np.ndenumerate(values)]
    return value_map(values, limits=(-limit, limit), scale=DIVERGING, texts=texts)


def _text(value: float, layer: int, head: Head) -> str:
    if np.isnan(value):
        return f"in the layer of {head.label()}"
    what = f"{head.label()} reads it" if layer < head.layer else f"reads {head.label()}"
    return f"{what}, {value:+.3f} above random pairs"


def composition_map(result: HeadWeights, path: str, head: Head) -> Map:
    """The block of that map."""
    return Map(
        name="weights-composition",
        title=f"composition with {head.label()} {path_text(path)}",
        build=partners_map,
        arguments=(result, path, head),
        alt=f"Map of all heads, layer by head, colored by their composition with head {head.label()}",
        subject="Partners",
    )


def pair_table(result: HeadWeights, name: str, title: str, count: int, head: Head | None = None) -> Table:
    """The pairs with the highest composition; a click on one chooses the head that reads, or the other one of a
    head's."""
    found = pairs(result, count, head)
    rows = [
        (each.reader.label(), each.writer.label(), path_text(each.path), each.value - result.random_mean)
        for each in found
    ]

    def choose(row: int) -> dict[str, Any]:
        pair = found[row]
        return {"head": (pair.writer if pair.reader == head else pair.reader).key()}

    return Table(
        name=name,
        title=title,
        table=pd.DataFrame(rows, columns=["reads", "writes", "path", "above random"]),
        decimals=3,
        choose=choose,
        hint="a click chooses the head",
    )


def words_note(result: HeadWeights) -> str:
    """What the words are that a head writes."""
    return (
        f"Of {int(result.segments.max()):,} tokens of the vocabulary those that the head looks at most, each with the "
        f"{WRITTEN} that it writes most where it looks at it; by the weights alone. Rare tokens may be among them."
    )


def word_table(result: HeadWeights, head: Head) -> Table:
    """What a head writes for the tokens that it looks at most, a row for each of these."""
    rows = [(token, " · ".join(words) or NOTHING) for token, words in result.words(head)]
    return Table(
        name="words",
        title=f"What head {head.label()} writes for the tokens it looks at most",
        table=pd.DataFrame(rows, columns=["looks at", "writes most"]),
        note=words_note(result),
        widths={"looks at": 160},
    )
