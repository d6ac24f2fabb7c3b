"""Maps of heads by type of mention; accuracy by distance and by gender; Table 2 as LaTeX."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.base.blocks import Chart, Map, Offer
from bertviz_core.analyses.base.statistics import share
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.baselines import COMPARED
from bertviz_core.analyses.coreference_heads.groups import BREAKDOWNS, TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import DIRECTIONS
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.plotting import finish
from bertviz_core.plotting.head_map import HeadMap, accuracy_map, map_figure

# Color, dash and marker of each line.
LINES = (
    ("#4c6ef5", "solid", "circle"),
    ("#cc7000", "dot", "square"),
    ("#0c9aa8", "dash", "diamond"),
    ("#9c36b5", "dashdot", "triangle-up"),
    ("#8c8c8c", "longdash", "x"),
)
AXES = {
    "type": "type of mention",
    "distance": "words back to the nearest antecedent",
    "gender": "gender of the pronoun",
}
BY_TYPE = "Accuracy by type of mention"
BY_GENDER = "Accuracy by gender of the pronoun"
MIN_ITEMS = 10  # mentions; the accuracy on fewer says little, and its interval would fill the figure
MODES = {"type": "markers", "distance": "lines+markers", "gender": "markers"}
TICKS = {"type": TYPE_ROWS} | BREAKDOWNS
HOVER = "%{y:.1%} (%{customdata[1]:,.1~f} of %{customdata[0]:,})<extra></extra>"


def paper_figure(result: AntecedentCounts) -> go.Figure:
    """A map of heads for all mentions and for each type: accuracy in the paper's direction."""
    titles = [f"{kind}, n = {n:,}" for kind, n in zip(TYPE_ROWS, result.n, strict=True)]
    figure = make_subplots(2, 2, subplot_titles=titles, horizontal_spacing=0.1, vertical_spacing=0.14)
    for index, (kind, values) in enumerate(zip(TYPE_ROWS, result.accuracy[0], strict=True)):
        below, right = divmod(index, 2)
        row = below + 1
        column = right + 1
        single = map_figure(accuracy_map(values, f"{kind} mentions"))
        figure.add_trace(single.data[0].update(showscale=index == 0), row, column)
        figure.update_xaxes(single.layout.xaxis, title_text="layer" if below else "", row=row, col=column)
        figure.update_yaxes(single.layout.yaxis, title_text="" if right else "head", row=row, col=column)
    figure.data[0].colorbar.title.text = f"accuracy of attention {arrow(DIRECTIONS[0])}"
    height = round(1.3 * single.layout.height)
    return finish(figure, height, showlegend=False, margin={"t": 30, "b": 80}, title=None, meta=DIRECTIONS[0])


def by_distance_title(kind: str) -> str:
    """The title of `by_group` by distance, for one of TYPE_ROWS."""
    return f"Accuracy by distance, {'all ' if kind == 'all' else ''}{TYPE_NAMES[kind]}"


def by_group(
    result: AntecedentCounts,
    systems: Sequence[DirectedHead | str],
    breakdown: str = "distance",
    kind: str = "all",
) -> go.Figure:
    """Accuracy of each head or system by type of mention, distance of the nearest antecedent (of one of TYPE_ROWS) or
    gender of the pronoun, with bars of 95% intervals over documents; groups of fewer than MIN_ITEMS are gaps."""
    figure = go.Figure()
    ticks = TICKS[breakdown]
    counts = np.zeros(len(ticks))
    for index, (system, (color, dash, symbol)) in enumerate(zip(systems, LINES, strict=False)):
        name = system if isinstance(system, str) else f"head {system.head.label()}"
        if isinstance(system, DirectedHead) and system.direction:  # The paper's direction is not named.
            name += f", {arrow(DIRECTIONS[system.direction])}"
        right, total, low, high = result.scores(system).of(breakdown, kind)
        counts = np.maximum(counts, total)
        accuracy = np.where(total < MIN_ITEMS, np.nan, share(right, total))
        bars = {"type": "data", "array": high - accuracy, "arrayminus": accuracy - low, "thickness": 1, "width": 3}
        beside = 0.07 * (index - (len(systems) - 1) / 2)  # The shift keeps lines from hiding each other.
        figure.add_scatter(
            x=np.arange(len(ticks)) + beside,
            y=accuracy,
            error_y=None if np.isnan(low).all() else bars,
            mode=MODES[breakdown],
            marker={"symbol": symbol, "size": 8},
            line={"color": color, "dash": dash},
            name=name,
            customdata=np.stack([total, right], -1),
            hovertemplate=f"{name}: {HOVER}",
        )
    figure.update_xaxes(title=AXES[breakdown], range=[-0.5, len(ticks) - 0.5], showgrid=False)
    names = [
        f"{tick}<br>n = {n:,.0f}{'<br>too few' if n < MIN_ITEMS else ''}" for tick, n in zip(ticks, counts, strict=True)
    ]
    figure.update_xaxes(tickvals=list(range(len(ticks))), ticktext=names)
    figure.update_yaxes(title="accuracy", range=[-0.02, 1.02], tickformat=".0%")
    return finish(figure, 340)


def mention_map(counts: AntecedentCounts, kind: str, direction: int) -> Map:
    """The map of heads of a type of mentions in a direction."""
    return Map(
        name="coreference-map",
        title=f"{TYPE_NAMES[kind]}, {arrow(DIRECTIONS[direction])}",
        build=_mention_squares,
        arguments=(counts, kind, direction),
        alt=f"Map of all heads, layer by head, colored by accuracy on {TYPE_NAMES[kind]}",
    )


def _mention_squares(counts: AntecedentCounts, kind: str, direction: int) -> HeadMap:
    return accuracy_map(counts.accuracy[direction, TYPE_ROWS.index(kind)], TYPE_NAMES[kind])


def better_head(counts: AntecedentCounts, kind: str, choice: DirectedHead) -> Iterator[Offer]:
    """The way to the best head on a type of mentions in a direction, where another one is chosen."""
    best = counts.best(kind, choice.direction).head
    if best != choice.head:
        yield Offer(f"Choose head {best.label()}", best)


def maps_by_type(counts: AntecedentCounts) -> Chart:
    """The paper's direction on all mentions and on each type of mention."""
    return Chart(
        name="coreference_heads-figure",
        title=f"Head maps by type of mention, {arrow(DIRECTIONS[0])}",
        build=paper_figure,
        arguments=(counts,),
        alt="Maps of all heads, layer by head, for all mentions and for each type of mention",
        is_folded=True,
    )


def group_charts(counts: AntecedentCounts, kind: str, choice: DirectedHead) -> Iterator[Chart]:
    """The accuracy of a head and of the baselines by type of mention, by distance, and by gender where there are
    pronouns of one."""
    systems = (choice, *COMPARED)
    yield _group_chart("coreference-type", BY_TYPE, counts, systems, "type")
    yield _group_chart("coreference-distance", by_distance_title(kind), counts, systems, "distance", kind)
    if has_genders(counts, choice):
        yield replace(_group_chart("coreference-gender", BY_GENDER, counts, systems, "gender"), is_folded=True)


def _group_chart(name: str, title: str, *arguments: Any) -> Chart:
    alt = f"Accuracy of the chosen head and of the baselines {title.lower()}, with intervals"
    return Chart(name=name, title=title, build=by_group, arguments=arguments, alt=alt)


def has_genders(result: AntecedentCounts, choice: DirectedHead) -> bool:
    """Whether there are pronouns with a gender."""
    return bool(result.scores(choice).of("gender").n.any())
