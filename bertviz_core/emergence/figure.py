"""Figures of a training. Checkpoints are at even distances, since most changes are in the first ones."""

from collections.abc import Sequence
from html import escape
from itertools import cycle
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.behaviors import UNTRAINED
from bertviz_core.analyses.surface_patterns.result import BY_QUANTITY
from bertviz_core.emergence.order import ways
from bertviz_core.emergence.result import Emergence, followed
from bertviz_core.heads import Head, highest
from bertviz_core.overview.head_columns import behavior_counts
from bertviz_core.plotting import BEHAVIORS, BEST, NEUTRAL, OVERLAY, RING, SEP, finish

FOLLOWED = "#cc7000"  # color of the head that is best at the end
INDUCED = SEP[0]  # color of the second copy, as of prefix matching
COPIES = ("first copy", "second copy")
SHARES = ("previous", "next", "current", "to_cls", "to_first", "to_sep", "to_punct")
AXIS = "training step"
FAINT = 0.25  # opacity of the areas of heads that an untrained network has too
LABELED = 5  # checkpoints that have a label on the axis
ACROSS = 3  # panels of relations side by side


def paper_figure(result: Emergence, labels: np.ndarray | None = None, index: int | None = None) -> go.Figure:
    """The loss, if known, over the number of heads with each behavior in (step, layer, head) labels; marks `index`."""
    labels = result.behaviors() if labels is None else labels
    has_loss = not np.isnan(result.loss).all()
    rows = 2 if has_loss else 1
    titles = [f"{result.loss_name.capitalize()}, nats", "Heads by what they do"][-rows:]
    figure = make_subplots(
        rows,
        1,
        shared_xaxes=True,
        subplot_titles=titles,
        vertical_spacing=0.16,
        row_heights=[0.35, 0.65][-rows:],
    )
    if has_loss:
        loss = _line(result, result.loss, "loss", BEST, "circle", unit=" nats")
        figure.add_trace(loss | {"showlegend": False}, row=1, col=1)
    for name in behavior_counts(labels):
        color, *_, text = BEHAVIORS[name]
        line = _line(result, (labels == name).sum((1, 2)), text, color, unit=" heads")
        # What no training has shaped stands back behind the behaviors that arise.
        red, green, blue = bytes.fromhex(color.removeprefix("#"))
        fill = f"rgba({red}, {green}, {blue}, {FAINT if name in UNTRAINED else 1})"
        filled = {"line": {"color": color, "width": 0.5}, "fillcolor": fill, "stackgroup": "heads"}
        figure.add_trace(line | filled, row=rows, col=1)
    figure.update_annotations(x=0, xanchor="left", font_size=13)
    figure.update_yaxes(range=[0, labels[0].size], row=rows)
    figure.update_xaxes(title=AXIS, row=rows)
    _finish(figure, result, 155 * rows + 70)
    marks = []
    # All lines are made at once: add_vline makes one at a time, which takes longer than all the rest.
    if index is not None:
        mark = {"type": "line", "x0": index, "x1": index, "y0": 0, "y1": 1, "line": {"color": RING, "width": 1.5}}
        axes = sorted({(trace.xaxis or "x", trace.yaxis or "y") for trace in figure.data})
        marks = [mark | {"xref": x, "yref": f"{y} domain"} for x, y in axes]
    legend = {"orientation": "v", "x": 1.02, "y": 0.5, "yanchor": "top", "yref": "paper", "traceorder": "reversed"}
    return figure.update_layout(margin={"t": 30, "l": 35, "r": 10}, legend=legend, shapes=marks)


def relations_figure(result: Emergence, names: Sequence[str]) -> go.Figure:
    """A panel for each relation, in percent; n is the number of words on which the final best head is scored."""
    rows = max(1, -(-len(names) // ACROSS))
    last = result.dependencies[-1]
    numbers = [result.relations.index(name) for name in names]
    titles = [f"{escape(name)} (n = {last.best_n[row]:,})" for name, row in zip(names, numbers, strict=True)]
    figure = make_subplots(
        rows,
        ACROSS,
        shared_yaxes=True,
        subplot_titles=titles,
        vertical_spacing=0.36 / rows,
        horizontal_spacing=0.04,
    )
    courses = [100 * course for course in (result.best_accuracy, result.heldout, result.followed())]
    for panel, row in enumerate(numbers):
        best, heldout, followed = (course[:, row] for course in courses)
        head = Head(*last.best()[row, 1:].tolist()).label()
        of_step = _line(result, best, "best head of each step", BEST, "circle")
        of_step["customdata"] = heldout
        of_step["hovertemplate"] = "step %{text}: %{y:.0f}%, held out %{customdata:.0f}%<extra>best head</extra>"
        final = _line(result, followed, "final best head", FOLLOWED, dash="dot")
        final["hovertemplate"] = f"step %{{text}}: %{{y:.0f}}%<extra>head {head}</extra>"
        offset = _line(result, 100 * last.baseline[row], "best fixed offset", NEUTRAL[0], unit="%", dash="dash")
        traces = [of_step, final, offset]
        if last.is_causal:
            traces.append(_line(result, 100 * last.random[row], "random word", NEUTRAL[0], unit="%", dash="dot"))
        for trace in traces:
            figure.add_trace(trace | {"showlegend": panel == 0}, row=panel // ACROSS + 1, col=panel % ACROSS + 1)
    figure.update_annotations(font_size=13)
    figure.update_yaxes(range=[-2, 102])
    figure.update_yaxes(title="accuracy, percent", col=1)
    figure.update_xaxes(title=AXIS, row=rows)
    return _finish(figure, result, 210 * rows + 90)


def curves_figure(result: Emergence) -> go.Figure:
    """A panel for each of the further quantities: the highest head of each step, the highest of the last step, and the
    mean over heads; then one for the losses of both copies of repeated tokens."""
    columns = followed()
    titles = [escape(columns[name].short if name in columns else name) for name in result.curves]
    titles += ["loss of repeated tokens, nats"] * (result.copy_losses is not None)
    rows = -(-len(titles) // ACROSS)
    figure = make_subplots(
        rows,
        ACROSS,
        subplot_titles=titles,
        vertical_spacing=0.36 / rows,
        horizontal_spacing=0.06,
    )
    for panel, name in enumerate(result.curves):
        values = result.curve(name)
        last = highest(values[-1])
        final = _line(result, values[:, *last], "head that is highest at the end", FOLLOWED, dash="dot")
        final["hovertemplate"] = f"step %{{text}}: %{{y:.3~r}}<extra>head {last.label()}</extra>"
        for trace in (
            _line(result, np.nanmax(values, axis=(1, 2)), "highest head of each step", BEST, "circle"),
            final,
            _line(result, np.nanmean(values, axis=(1, 2)), "mean of all heads", NEUTRAL[0], dash="dash"),
        ):
            figure.add_trace(trace | {"showlegend": panel == 0}, row=panel // ACROSS + 1, col=panel % ACROSS + 1)
        if name in columns and columns[name].maximum == 1:
            figure.update_yaxes(range=[-0.02, 1.02], row=panel // ACROSS + 1, col=panel % ACROSS + 1)
    if result.copy_losses is not None:
        panel = len(result.curves)
        for values, name, color in zip(result.copy_losses.T, COPIES, (NEUTRAL[0], INDUCED), strict=True):
            trace = _line(result, values, name, color, "circle", unit=" nats")
            figure.add_trace(trace, row=panel // ACROSS + 1, col=panel % ACROSS + 1)
        figure.update_yaxes(rangemode="tozero", row=panel // ACROSS + 1, col=panel % ACROSS + 1)
    figure.update_annotations(font_size=13)
    figure.update_xaxes(title=AXIS, row=rows)
    return _finish(figure, result, 210 * rows + 90)


def order_figure(result: Emergence) -> go.Figure:
    """The share that each quantity has made of its way from the first checkpoint to the last, in percent."""
    figure = go.Figure()
    for way, color in zip(ways(result), cycle(OVERLAY), strict=False):
        name = f"{way.name} ({way.head})" if way.head else way.name
        trace = _line(result, 100 * way.share, escape(name), color, "circle", unit="% of its way")
        figure.add_trace(trace | {"connectgaps": True})
    figure.add_hline(50, line={"color": NEUTRAL[0], "width": 1, "dash": "dash"})
    figure.update_yaxes(title="share of its way, percent", tickvals=[0, 50, 100])
    figure.update_xaxes(title=AXIS)
    return _finish(figure, result, 330)


def head_figure(result: Emergence, head: Head) -> go.Figure:
    """One head's attention during training."""
    # Both are the same share where [CLS] is the first token.
    repeated = "to_first" if "to_cls" in result.present else "to_cls"
    traces = []
    for name in SHARES:
        if name in result.present and name != repeated:
            column = BY_QUANTITY[name]
            traces.append(_line(result, result[name][:, *head], column.short, *column.marker))
    yaxis = {"title": "average attention", "range": [-0.02, 1.02]}
    figure = go.Figure(traces, {"xaxis": {"title": AXIS} | _steps_axis(result), "yaxis": yaxis})
    return _with_look(figure, 300)


def _line(
    result: Emergence, values: np.ndarray, name: str, color: str, symbol: str = "", unit: str = "", dash: str = "solid"
) -> dict[str, Any]:
    """A trace over the training, of (step,) values or of a constant; `unit` ends its hover text."""
    return {
        "type": "scatter",
        "x": np.arange(len(result.steps)),
        "y": np.broadcast_to(values, len(result.steps)),
        "text": [f"{step:,}" for step in result.steps],
        "name": name,
        "legendgroup": name,
        "mode": "lines+markers" if symbol else "lines",
        "line": {"color": color, "width": 2, "dash": dash},
        "marker": {"color": color, "size": 7, "symbol": symbol or None},
        "hovertemplate": f"step %{{text}}: %{{y:.3~r}}{unit}<extra>{name}</extra>",
    }


def _finish(figure: go.Figure, result: Emergence, height: int) -> go.Figure:
    figure.update_xaxes(_steps_axis(result))
    return _with_look(figure, height)


def _steps_axis(result: Emergence) -> dict[str, Any]:
    """An axis of checkpoints, some of which are labeled with their step."""
    last = len(result.steps) - 1
    ticks = np.unique(np.linspace(0, last, LABELED).round().astype(int))
    return {
        "tickvals": ticks,
        "ticktext": [f"{step:,}" for step in result.steps[ticks]],
        "range": [-0.03 * last - 0.2, 1.03 * last + 0.2],
        "zeroline": False,
    }


def _with_look(figure: go.Figure, height: int) -> go.Figure:
    return finish(figure, height, legend={"yanchor": "top", "yref": "container"}, margin={"t": 65})
