"""A training as pictures: the loss, heads by behavior, relations against fixed offsets, one head's own course.

Checkpoints stand at even distances, each with its step: most of what happens does so in the first of them.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.emergence.result import Emergence
from bertviz_core.heads import Head
from bertviz_core.overview.head_summary import Column, behavior_counts
from bertviz_core.plotting.style import BEHAVIORS, RING, finish

BEST, FOLLOWED, GRAY = "#4c6ef5", "#e8890c", "#8c8c8c"
SHARES = ("previous", "next", "current", "to_cls", "to_first", "to_sep", "to_punct")
AXIS = "training step"
LABELED = 5  # checkpoints
ACROSS = 3  # panels of relations side by side
MARK = {"color": RING, "width": 1.5}


def paper_figure(result: Emergence) -> go.Figure:
    """The course of the whole training."""
    return course_figure(result, result.behaviors())


def course_figure(result: Emergence, labels: np.ndarray, index: int | None = None) -> go.Figure:
    """The loss, where it is known, and all heads by what they do, one on the other, from `labels` (step, layer,
    head), names of behaviors; the checkpoint `index` is marked."""
    known = not np.isnan(result.loss).all()
    titles = [*([f"{result.loss_name.capitalize()}, nats"] if known else []), "Heads by what they do"]
    heights = [0.35, 0.65][-len(titles) :]
    figure = make_subplots(
        len(titles), 1, shared_xaxes=True, vertical_spacing=0.16, subplot_titles=titles, row_heights=heights
    )
    if known:
        loss = _line(result, result.loss, "loss", BEST, "circle", " nats")
        figure.add_trace(loss | {"showlegend": False}, row=1, col=1)
    for trace in _behavior_traces(result, labels):
        figure.add_trace(trace, row=len(titles), col=1)
    figure.update_annotations(x=0, xanchor="left", font_size=13)
    figure.update_yaxes(range=[0, labels[0].size], row=len(titles), col=1)
    figure.update_xaxes(title=AXIS, row=len(titles), col=1)
    _finished(figure, result, 155 * len(titles) + 70)
    beside = {"orientation": "v", "x": 1.02, "y": 0.5, "yanchor": "top", "yref": "paper", "traceorder": "reversed"}
    chosen = [] if index is None else _lines(figure, index, MARK)
    return figure.update_layout(margin={"t": 30, "l": 35, "r": 10}, legend=beside, shapes=chosen)


def relations_figure(result: Emergence, names: Sequence[str], base: int = 1) -> go.Figure:
    """A panel for each relation: the best head of every step, the finally best head all along, the best fixed offset,
    of a causal model a random word; percent. n is the number of words on which the finally best head is scored."""
    rows = max(1, -(-len(names) // ACROSS))
    numbers = [result.relations.index(name) for name in names]
    n = result.dependency(-1).best_n
    titles = [f"{escape(name)} (n = {n[row]:,})" for name, row in zip(names, numbers, strict=True)]
    figure = make_subplots(
        rows, ACROSS, shared_yaxes=True, vertical_spacing=0.36 / rows, horizontal_spacing=0.04, subplot_titles=titles
    )
    courses = result.best_accuracy, result.heldout(), result.followed
    for panel, row in enumerate(numbers):
        for trace in _relation_traces(result, row, [100 * course[:, row] for course in courses], base):
            trace.showlegend = panel == 0
            figure.add_trace(trace, row=panel // ACROSS + 1, col=panel % ACROSS + 1)
    figure.update_annotations(font_size=13)
    figure.update_yaxes(range=[-2, 102])
    figure.update_yaxes(title="accuracy, percent", col=1)
    figure.update_xaxes(title=AXIS, row=rows)
    return _finished(figure, result, 210 * rows + 90)


def head_figure(result: Emergence, head: Head) -> go.Figure:
    """One head over the training: where its attention goes, and its entropy beside that of uniform attention."""
    traces, right = [], {"xaxis": "x2", "yaxis": "y2"}
    without = "to_first" if "to_cls" in result.present else "to_cls"  # one token, by two names
    for name in (name for name in SHARES if name in result.present and name != without):
        column = ANALYSES["surface_patterns"].column(name)
        traces.append(_line(result, result[name][:, *head], column.short, *column.marker))
    marker = ANALYSES["entropy"].column("entropy").marker
    entropy = _line(result, result["entropy"][:, *head], "entropy", *marker, " nats")
    uniform = _level(result, result.uniform, "uniform attention", " nats")
    figure = go.Figure([*traces, entropy | right | {"showlegend": False}, uniform | right], _two_panels())
    figure.update_layout(yaxis_range=[-0.02, 1.02], yaxis2_range=[0, 1.1 * result.uniform])
    return _finished(figure, result, 300)


@cache
def _two_panels() -> go.Layout:
    """Of every head's figure, without the template, which each figure has: making it takes longer than the rest."""
    figure = make_subplots(1, 2, horizontal_spacing=0.08, subplot_titles=["Average attention to", "Entropy, nats"])
    return figure.update_annotations(font_size=13).update_xaxes(title=AXIS).update_layout(template=None).layout


def columns(result: Emergence, index: int) -> list[Column]:
    """The quantities of every head at one step, for the map of heads."""
    names = ("surface_patterns", "entropy")
    pairs = ((name, c.quantity) for name in names for c in ANALYSES[name].columns if c.overview)
    return [Column(analysis, name, result[name][index]) for analysis, name in pairs if name in result.present]


def _behavior_traces(result: Emergence, labels: np.ndarray) -> Iterator[go.Scatter]:
    for name in behavior_counts(labels):
        color, *_, text = BEHAVIORS[name]
        line = _line(result, (labels == name).sum((1, 2)), text, color, unit=" heads")
        yield go.Scatter(line | {"line": {"color": color, "width": 0.5}, "fillcolor": color, "stackgroup": "heads"})


def _relation_traces(result: Emergence, row: int, courses: Sequence[np.ndarray], base: int) -> Iterator[go.Scatter]:
    """courses: (step,) percent of the best head, held out, and of the head that is followed."""
    best_accuracy, heldout, followed_accuracy = courses
    head = Head(*result.finally_best[row, 1:].tolist()).label(base)
    best = _line(result, best_accuracy, "best head of each step", BEST, "circle")
    hover = "step %{text}: %{y:.0f}%, held out %{customdata:.0f}%<extra>best head</extra>"
    yield go.Scatter(best | {"customdata": heldout, "hovertemplate": hover})
    followed = _line(result, followed_accuracy, "final best head", FOLLOWED)
    hover = f"step %{{text}}: %{{y:.0f}}%<extra>head {head}</extra>"
    yield go.Scatter(followed | {"line": followed["line"] | {"dash": "dot"}, "hovertemplate": hover})
    last = result.dependency(-1)
    yield go.Scatter(_level(result, 100 * last.baseline[row], "best fixed offset", "%"))
    if last.is_causal:
        yield go.Scatter(_level(result, 100 * last.random[row], "random word", "%", "dot"))


def _line(result: Emergence, values: np.ndarray, name: str, color: str, symbol: str = "", unit: str = "") -> dict:
    """A trace over the training; `unit` ends its hover text."""
    return {
        "type": "scatter",
        "x": np.arange(len(result.steps)),
        "y": values,
        "text": [f"{step:,}" for step in result.steps],
        "name": name,
        "legendgroup": name,
        "mode": "lines+markers" if symbol else "lines",
        "line": {"color": color, "width": 2},
        "marker": {"color": color, "size": 7} | ({"symbol": symbol} if symbol else {}),
        "hovertemplate": f"step %{{text}}: %{{y:.3~r}}{unit}<extra>{name}</extra>",
    }


def _level(result: Emergence, value: float, name: str, unit: str, dash: str = "dash") -> dict:
    """The trace of a level line from the first step to the last."""
    return {
        "type": "scatter",
        "x": [0, len(result.steps) - 1],
        "y": [value, value],
        "name": name,
        "legendgroup": name,
        "mode": "lines",
        "line": {"color": GRAY, "width": 2, "dash": dash},
        "hovertemplate": f"%{{y:.3~r}}{unit}<extra>{name}</extra>",
    }


def _finished(figure: go.Figure, result: Emergence, height: int) -> go.Figure:
    """The figure with the axis of checkpoints in every panel, the LABELED ones' steps, and room for the legend."""
    last = len(result.steps) - 1
    ticks = np.unique(np.linspace(0, last, LABELED).round().astype(int))
    figure.update_xaxes(
        tickvals=ticks,
        ticktext=[f"{step:,}" for step in result.steps[ticks]],
        range=[-0.03 * last - 0.2, 1.03 * last + 0.2],
        zeroline=False,
    )
    return finish(figure, height, legend={"yanchor": "top", "yref": "container"}, margin={"t": 65})


def _lines(figure: go.Figure, x: float, line: dict) -> list[dict]:
    """Shapes of a line through every panel. (add_vline makes one at a time, which takes longer than all the rest.)"""
    panels = {(trace.xaxis or "x", trace.yaxis or "y") for trace in figure.data}
    return [
        {"type": "line", "x0": x, "x1": x, "xref": of_x, "y0": 0, "y1": 1, "yref": f"{of_y} domain", "line": line}
        for of_x, of_y in sorted(panels)
    ]
