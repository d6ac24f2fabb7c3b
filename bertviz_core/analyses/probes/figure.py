"""Table 3 as a chart, as a table and as LaTeX; accuracy by distance; sentences with a probe's guesses."""

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core import paper
from bertviz_core.analyses.base.blocks import Chart, Map
from bertviz_core.analyses.base.statistics import share
from bertviz_core.analyses.probes.options import AS_RELEASED
from bertviz_core.analyses.probes.result import ATTENTION_DIRECTIONS, Probes, SentenceRecord, title
from bertviz_core.heads import arrow
from bertviz_core.plotting import BEST, finish, scores, tabular
from bertviz_core.plotting.arcs import Arc, gold_arc, sentence_svg
from bertviz_core.plotting.head_map import HeadMap, signed_map

PAPER = "#cc7000"
STRUCTURAL = "structural"
# A color and a marker for each probe; gray for what has learned nothing from a trained network.
STYLES = {
    "right-branching": ("#8c8c8c", "triangle-right"),
    "best-offset": ("#8c8c8c", "triangle-right-open"),
    "distances-and-words": ("#0c9aa8", "square"),
    "random-attention-and-words": ("#9c36b5", "diamond-open"),
    "random-attention-only": ("#9c36b5", "circle-open"),
    "attention-only": ("#4c6ef5", "circle"),
    "attention-and-words": ("#e03131", "diamond"),
    "structural": ("#2b9348", "star"),
}
# Probes whose scores by distance are compared at first.
COMPARED = ("distances-and-words", "attention-only", "attention-and-words")
STYLES |= {name + AS_RELEASED: (color, "x") for name, (color, _) in STYLES.items() if "words" in name}


class GuessedEdge(NamedTuple):
    """A guess of a probe.

    Attributes:
        word: The dependent, from 0; of a wrong edge of the structural probe either end.
        governor: The governor that is guessed, from 0, -1 for ROOT; or the other end.
        right: Whether it is that of the tree.
        scored: Whether it counts: punctuation does not, but in edges without direction.
    """

    word: int
    governor: int
    right: bool
    scored: bool


def table_3(result: Probes) -> pd.DataFrame:
    """A row for each probe, in percent, beside the paper's scores without punctuation and with it, where these are of
    the same language and words. Of two rows of a probe the paper's is the one as released; the best offset has Table
    1's where it is the same."""
    frame = result.to_frame()
    frame[["score", "low", "high", "with_punctuation"]] *= 100
    names = frame["probe"].where(~(frame["probe"] + AS_RELEASED).isin(result.probes)).str.removesuffix(AS_RELEASED)
    _, _, score, offset = paper.TABLE_1["all"]
    best = {"best-offset": score} if result.about["best_offset"] == offset else {}
    if not result.counts_as_paper:
        names = pd.Series("", frame.index)
    return frame.assign(
        probe=[title(probe, result) for probe in result.probes],
        paper=names.map(paper.TABLE_3).astype(float),
        paper_with_punctuation=names.map({**paper.TABLE_3_WITH_PUNCTUATION, **best}).astype(float),
    )


def latex(result: Probes) -> str:
    """Table 3 (booktabs): of the paper's two scores of a probe the one that there is."""
    frame = table_3(result)
    beside = ["paper"] if result.counts_as_paper else []
    columns = ["probe", "metric", "score", "interval", "with_punctuation", *beside]
    intervals = [f"{low:.1f}–{high:.1f}" for low, high in zip(frame["low"], frame["high"], strict=True)]
    printed = frame["paper"].fillna(frame["paper_with_punctuation"])
    table = frame.assign(paper=printed, interval=intervals)[columns].rename(columns={"interval": "95% interval"})
    return tabular(table.rename(columns=lambda name: name.capitalize().replace("_", " ")))


def paper_figure(result: Probes) -> go.Figure:
    """A line for each probe: its score with the 95% interval, that with punctuation, and the paper's, see `table_3`."""
    frame = table_3(result)
    names = frame["probe"]
    including = frame["paper_with_punctuation"]
    here = scores(
        names,
        frame,
        ("score", "low", "high"),
        name="this run",
        marker={"color": BEST, "size": 11},
        customdata=np.stack([frame["metric"], frame["low"].round(1), frame["high"].round(1)], 1),
        hovertemplate="%{y}: %{customdata[0]} %{x:.1f}% (%{customdata[1]} to %{customdata[2]})<extra></extra>",
    )
    figure = go.Figure(here)
    circle = {"color": BEST, "size": 9, "symbol": "circle-open"}
    diamond = {"color": PAPER, "size": 9, "symbol": "diamond-open", "line": {"width": 2}}
    for values, name, marker, hover in (
        (frame["with_punctuation"], "with punctuation", circle, "UAS with punctuation %{x:.1f}%"),
        (frame["paper"].fillna(including), "paper (BERT-base, WSJ)", diamond, "%{x}% in the paper%{customdata}"),
    )[: 1 + result.counts_as_paper]:
        figure.add_scatter(
            x=values,
            y=names,
            mode="markers",
            name=name,
            marker=marker,
            customdata=np.where(including.notna(), ", with punctuation", ""),
            hovertemplate=f"%{{y}}: {hover}<extra></extra>",
        )
    figure.update_xaxes(title="UAS (UUAS), percent", range=[-2, 102])
    figure.update_yaxes(autorange="reversed", type="category")
    return finish(figure, 130 + 34 * len(names), margin={"l": 10})


def distance_figure(result: Probes) -> go.Figure:
    """Accuracy by where the governor stands, or ROOT; a click on the legend shows the probes that are not COMPARED."""
    figure = go.Figure()
    far = int(np.abs(result.distances).max(initial=1))
    ticks = ["ROOT" if d == 0 else f"{d:+d}" + "…" * (abs(d) == far) for d in result.distances.tolist()]
    accuracy = share(100 * result.distance_right, result.distance_n)
    for index, probe in enumerate(result.probes):
        name = title(probe, result)
        color, symbol = STYLES[probe]
        figure.add_scatter(
            x=ticks,
            y=accuracy[index],
            mode="lines+markers",
            name=name.partition(" (")[0],
            line={"color": color, "width": 1.5},
            marker={"symbol": symbol, "size": 8},
            customdata=result.distance_n[index],
            visible=True if probe.removesuffix(AS_RELEASED) in COMPARED else "legendonly",
            hovertemplate=f"{name}, governor at %{{x}}: %{{y:.1f}}%, n = %{{customdata:,}}<extra></extra>",
        )
    entries = 20 + 9 * (len(result.probes) + 1)  # pixels, two in a line
    figure.update_xaxes(title="offset of the governor, words to the right")
    figure.update_xaxes(type="category", tickfont_size=11, autotickangles=[0, -45])
    figure.update_yaxes(title="accuracy, percent", range=[-3, 103])
    return finish(figure, 325 + entries, legend={"font": {"size": 11}}, margin={"t": entries, "b": 70})


def sentence_drawing(sentence: SentenceRecord, probe: str) -> tuple[str, str]:
    """(what is right, SVG): the tree of the treebank above, the probe's guesses below."""
    words = sentence["words"]
    governors = sentence["governors"]
    relations = sentence["relations"]
    gold = list(map(partial(gold_arc, words), range(len(words)), governors, relations))
    guessed = []
    edges = guessed_edges(sentence, probe)
    for edge in edges:
        mark, note = ("✓", "right") if edge.right else ("✗", "wrong")
        guessed.append(Arc(edge.word, edge.governor, mark, note, edge.right))
    scored = [edge.right for edge in edges if edge.scored]
    text = f"{sum(scored)} of {len(scored)} {'edges' if probe == STRUCTURAL else 'words'} right"
    return text, sentence_svg(words, gold, guessed, f"The treebank's tree and the guesses of {title(probe)}")


def guessed_edges(sentence: SentenceRecord, probe: str) -> list[GuessedEdge]:
    """A probe's guesses in a sentence; an edge of the structural probe has no direction, and is as the tree has it
    where it is right."""
    governors = sentence["governors"]
    guesses = sentence["guesses"][probe]
    if probe == STRUCTURAL:
        ends = [(b, a) if governors[b] == a + 1 else (a, b) for a, b in guesses]
    else:
        ends = [(word, governor - 1) for word, governor in enumerate(guesses)]
    return [
        GuessedEdge(
            word,
            governor,
            governors[word] == governor + 1,
            probe == STRUCTURAL or sentence["relations"][word].split(":")[0] != "punct",
        )
        for word, governor in ends
    ]


def distance_chart(result: Probes) -> Chart:
    """The accuracy of every probe by distance."""
    return Chart(
        name="distance-figure",
        title="Accuracy by distance to the governor",
        build=distance_figure,
        arguments=(result,),
        alt="Accuracy of every probe by distance to the governor",
    )


def table_chart(result: Probes) -> Chart:
    """Table 3 as a chart."""
    return Chart(
        name="probes-figure",
        title="Table 3 as a chart",
        build=paper_figure,
        arguments=(result,),
        alt="For each probe its score with its interval" + ", and the paper's score" * result.counts_as_paper,
    )


def weight_maps(result: Probes) -> list[Map]:
    """The map of heads of each of ATTENTION_DIRECTIONS; none without the attention-only probe."""
    return [
        Map(
            name=f"weights {name}",
            title=f"weight in the attention-only probe, {arrow(name)}: blue favors an arc, orange disfavors it",
            build=_weight_squares,
            arguments=(result, index),
            alt=f"Map of all heads colored by the weight of attention {arrow(name)}",
        )
        for index, name in enumerate(ATTENTION_DIRECTIONS[: len(result.attention)])
    ]


def _weight_squares(result: Probes, index: int) -> HeadMap:
    return signed_map(result.attention[index], f"weight {arrow(ATTENTION_DIRECTIONS[index])}:", "weight")
