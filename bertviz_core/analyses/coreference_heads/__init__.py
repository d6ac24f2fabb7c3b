"""Coreference heads: does a head's attention point from a mention to an antecedent? (section 4.3; Table 2)"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core import paper
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.findings import HELD_OUT, Answer, Finding, Statement, decide
from bertviz_core.analyses.base.statistics import MIN_SCORED, share
from bertviz_core.analyses.coreference_heads.guesses import BREAKDOWNS, COMPARED, DIRECTIONS, SIMPLE, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.result import AntecedentCounts, CoreferenceHeads, CoreferenceView
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.plotting import finish, tabular
from bertviz_core.plotting.head_map import accuracy_map, map_figure

CLOSE = 0.1
HEAD_2 = paper.TABLE_2["head 5-4"][0]
RULE = "with the interval of the difference. " + HELD_OUT
# Color, dash and marker of each line.
LINES = (
    ("#4c6ef5", "solid", "circle"),
    ("#e8890c", "dot", "square"),
    ("#0c9aa8", "dash", "diamond"),
    ("#9c36b5", "dashdot", "triangle-up"),
    ("#8c8c8c", "longdash", "x"),
)
AXES = {"distance": "words back to the nearest antecedent", "gender": "gender of the pronoun"}
MODES = {"distance": "lines+markers", "gender": "markers"}
HOVER = "%{y:.1%} (%{customdata[1]:,.1~f} of %{customdata[0]:,})<extra></extra>"


def against_baseline(
    counts: AntecedentCounts, base: int, system: str = "", points: float = 0.0, direction: int = 0
) -> Answer:
    """The best head of one direction beside one system, or the baselines of SIMPLE."""
    best = counts.best(direction=direction)
    row = counts.row(best)
    shares = {name: counts.of_system(name)[0] for name in counts.systems}
    strongest = max(SIMPLE, key=shares.__getitem__)
    other = shares[system or strongest]
    gap = row["accuracy"] - other
    named = system or f"the best simple baseline, {strongest}"
    distance = f"{100 * abs(gap):.1f} points {'below' if gap < 0 else 'above'} {named} ({other:.1%})"
    if system not in ("", strongest):
        distance += f"; the best simple baseline is {strongest} ({shares[strongest]:.1%})"
    if not system:
        distance += f"; rules find {shares['rule-based']:.1%}"
    interval = "no interval"
    if not np.isnan(row["low"]):
        interval = f"95% interval {row['low']:.1%} to {row['high']:.1%}"
    interval += f" over {counts.units_text}"
    if not np.isnan(row["heldout_accuracy"]):
        interval += f"; {row['heldout_accuracy']:.1%} held out"
    mentions = f"{row['n']:,} mentions"
    notes = ""
    if counts.is_causal:
        mentions += " (only those with an antecedent that comes earlier count)"
        accuracy = f"{row['accuracy_of_all_mentions']:.1%}"
        notes += f" Of all {counts.of_all:,} mentions with an antecedent the head finds {accuracy}."
    if row["n"] < MIN_SCORED:
        notes += f" Fewer than {MIN_SCORED} mentions are too few to decide."
    return Answer(
        decide(counts.gain(system, direction) if system else counts.simple_gain(direction), points),
        f"Head {best.head.label(base)}, {arrow(DIRECTIONS[direction])}, finds an antecedent of {row['accuracy']:.1%} "
        f"of {mentions} ({interval}), {distance}.{notes}",
        best.head,
    )


def direction_finding(counts: AntecedentCounts, direction: int, base: int = 1) -> Finding:
    """The best head of one direction beside the baselines of SIMPLE."""
    answer = partial(against_baseline, direction=direction)
    return replace(STATEMENTS[-1], answer=answer).finding("coreference_heads", "", counts, base)


STATEMENTS = (
    Statement(
        "nearest",
        "4.3",
        f"One head finds the antecedents of {HEAD_2}% of the mentions, where the nearest mention is right in "
        f"{paper.TABLE_2['nearest'][0]}%.",
        f"The best head is above the nearest mention, {RULE}",
        partial(against_baseline, system="nearest"),
    ),
    Statement(
        "head_match",
        "4.3",
        f"That head is above a match of head words ({paper.TABLE_2['head match'][0]}%).",
        f"The best head is above the match of head words, {RULE}",
        partial(against_baseline, system="head match"),
    ),
    Statement(
        "rule_based",
        "4.3",
        f"It comes close to a rule-based system ({paper.TABLE_2['rule-based'][0]}%).",
        f"The best head is at most {CLOSE:.0%} below the rule-based system, {RULE}",
        partial(against_baseline, system="rule-based", points=-CLOSE),
    ),
    Statement(
        "simple_baselines",
        "",
        "",
        f"The best head is above every simple baseline ({', '.join(SIMPLE)}), {RULE}",
        against_baseline,
    ),
)


def paper_figure(result: AntecedentCounts) -> go.Figure:
    """A map of heads for all mentions and for each type: accuracy in the paper's direction."""
    titles = [f"{kind}, n = {n:,}" for kind, n in zip(TYPE_ROWS, result.n, strict=True)]
    figure = make_subplots(2, 2, subplot_titles=titles, horizontal_spacing=0.1, vertical_spacing=0.14)
    for index, (kind, values) in enumerate(zip(TYPE_ROWS, result.accuracy[0], strict=True)):
        below, right = divmod(index, 2)
        panel = {"row": below + 1, "col": right + 1}
        single = map_figure(accuracy_map(values, f"{kind} mentions"))
        figure.add_trace(single.data[0].update(showscale=index == 0), **panel)
        figure.update_xaxes(single.layout.xaxis, title_text="layer" if below else "", **panel)
        figure.update_yaxes(single.layout.yaxis, title_text="" if right else "head", **panel)
    figure.data[0].colorbar.title.text = f"accuracy of attention {arrow(DIRECTIONS[0])}"
    height = round(1.3 * single.layout.height)
    return finish(figure, height, showlegend=False, margin={"t": 30, "b": 80}, title=None, meta=DIRECTIONS[0])


def by_group(
    result: AntecedentCounts, shown: Sequence[DirectedHead | str], base: int = 1, breakdown: str = "distance"
) -> go.Figure:
    """Accuracy of each head or system by distance of the nearest antecedent, or by gender of the pronoun, with bars of
    95% intervals over documents; groups without items are gaps."""
    figure = go.Figure()
    ticks = BREAKDOWNS[breakdown]
    for index, (at, (color, dash, symbol)) in enumerate(zip(shown, LINES, strict=False)):
        name = at if isinstance(at, str) else f"head {at.head.label(base)}"
        if isinstance(at, DirectedHead) and at.direction:  # the paper's direction is omitted
            name += f", {arrow(DIRECTIONS[at.direction])}"
        right, total, low, high = result.scores(at).of(breakdown)
        accuracy = share(right, total)
        bars = {"type": "data", "array": high - accuracy, "arrayminus": accuracy - low, "thickness": 1, "width": 3}
        beside = 0.07 * (index - (len(shown) - 1) / 2)  # so that lines do not hide each other
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
    figure.update_xaxes(tickvals=list(range(len(ticks))), ticktext=list(ticks))
    figure.update_yaxes(title="accuracy", range=[-0.02, 1.02], tickformat=".0%")
    return finish(figure, 340)


def more_figures(result: AntecedentCounts) -> dict[str, go.Figure]:
    return {"Accuracy by distance": by_group(result, (result.best(), *COMPARED))}


def latex(result: AntecedentCounts) -> str:
    """A row for each system and each best head, a column for each type, percent (booktabs)."""
    table = result.to_frame().pivot_table("accuracy", ["system"], "type", aggfunc="first", sort=False, dropna=False)
    counts = {kind: f"{kind.capitalize()} (n = {n:,})" for kind, n in zip(TYPE_ROWS, result.n, strict=True)}
    percents = 100 * table.reindex(columns=list(TYPE_ROWS)).rename(columns=counts)
    return tabular(percents.rename_axis("Model").reset_index())


def _antecedents(result: CoreferenceHeads) -> np.ndarray:
    """(layer, head) of all mentions, by the paper's measure: from a mention to its antecedent."""
    return np.asarray(result.default_view().accuracy[0, 0])


def _head_match(result: CoreferenceHeads) -> tuple[float, str]:
    """The baseline that the paper compares its head with, and that needs no rules."""
    return float(result.default_view().of_system("head match")[0]), "head match"


class CoreferenceAnalysis(Analysis):
    """Right guesses of antecedents by every head."""

    name = "coreference_heads"
    title = "Coreference heads"
    summary = "Which head's attention points from a mention to its antecedent (section 4.3; Table 2)."
    section = "Section 4.3, Table 2"
    icon = ":material/link:"
    corpus = "coreference"
    result_class = CoreferenceHeads
    view = CoreferenceView
    columns = (HeadColumn("all", "antecedents found", _antecedents, _head_match, percent=True),)
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    prefix = "coreference_"
