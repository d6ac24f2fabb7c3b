"""Table 3 as a chart and in LaTeX, accuracy by distance, sentences with two trees."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core import paper
from bertviz_core.analyses.dependency_heads.guesses import offset_name
from bertviz_core.analyses.probes.result import AS_RELEASED, Probes
from bertviz_core.plotting import BEST, finish, scores, tabular
from bertviz_core.plotting.arcs import Arc, gold_arc, sentence_svg

PAPER = "#e8890c"
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
COMPARED = ("distances-and-words", "attention-only", "attention-and-words")  # by distance, at first
STYLES |= {name + AS_RELEASED: (color, "x") for name, (color, _) in STYLES.items() if "words" in name}


def paper_figure(result: Probes) -> go.Figure:
    """A line for each probe: its score with the 95% interval, that with punctuation, and the paper's."""
    percent = 100 * result.to_frame()[["score", "low", "high", "with_punctuation"]]
    names = titles(result)
    without, including = papers_scores(result)
    printed = [a or b for a, b in zip(without, including, strict=True)]
    described = {
        "customdata": np.stack([result.metrics, percent["low"].round(1), percent["high"].round(1)], 1),
        "hovertemplate": "%{y}: %{customdata[0]} %{x:.1f}% (%{customdata[1]} to %{customdata[2]})<extra></extra>",
    }
    own = {"name": "this run", "marker": {"color": BEST, "size": 11}}
    figure = go.Figure(scores(names, percent, ("score", "low", "high"), **own, **described))
    circle = {"color": BEST, "size": 9, "symbol": "circle-open"}
    diamond = {"color": PAPER, "size": 9, "symbol": "diamond-open", "line": {"width": 2}}
    for values, name, marker, hover in (
        (percent["with_punctuation"], "with punctuation", circle, "UAS with punctuation %{x:.1f}%"),
        (printed, "paper (BERT-base, WSJ)", diamond, "%{x}% in the paper%{customdata}"),
    ):
        figure.add_scatter(
            x=values,
            y=names,
            mode="markers",
            name=name,
            marker=marker,
            customdata=[", with punctuation" if score else "" for score in including],
            hovertemplate=f"%{{y}}: {hover}<extra></extra>",
        )
    figure.update_xaxes(title="UAS (UUAS), percent", range=[-2, 102])
    figure.update_yaxes(autorange="reversed", type="category")
    return finish(figure, 130 + 34 * len(names), margin={"l": 10})


def distance_figure(result: Probes) -> go.Figure:
    """Accuracy by where the governor stands; at 0, words that hang from ROOT. A click on the legend shows the probes
    that are not COMPARED."""
    figure = go.Figure()
    far = int(np.abs(result.distances).max(initial=1))
    ticks = ["ROOT" if d == 0 else f"{d:+d}" + "…" * (abs(d) == far) for d in result.distances.tolist()]
    for index, (probe, name) in enumerate(zip(result.probes, titles(result), strict=True)):
        n, right = result.distance_n[index], result.distance_right[index]
        figure.add_scatter(
            x=ticks,
            y=100 * right / np.where(n > 0, n, np.nan),
            mode="lines+markers",
            name=name.partition(" (")[0],
            line={"color": STYLES[probe][0], "width": 1.5},
            marker={"symbol": STYLES[probe][1], "size": 8},
            customdata=n,
            visible=True if probe.removesuffix(AS_RELEASED) in COMPARED else "legendonly",
            hovertemplate=f"{name}, governor at %{{x}}: %{{y:.1f}}%, n = %{{customdata:,}}<extra></extra>",
        )
    entries = 20 + 9 * (len(result.probes) + 1)  # pixels, two in a line
    axis = {"type": "category", "tickfont_size": 11, "autotickangles": [0, -45]}
    figure.update_xaxes(title="offset of the governor, words to the right", **axis)
    figure.update_yaxes(title="accuracy, percent", range=[-3, 103])
    return finish(figure, 325 + entries, legend={"font": {"size": 11}}, margin={"t": entries, "b": 70})


def more_figures(result: Probes) -> dict[str, go.Figure]:
    """Accuracy by distance."""
    return {"Accuracy by distance to the governor": distance_figure(result)}


def sentence_drawing(sentence: dict[str, Any], probe: str) -> tuple[str, str]:
    """(what is right, SVG): the tree of the treebank above, the probe's guesses below."""
    words, governors = sentence["words"], sentence["governors"]
    gold = list(map(partial(gold_arc, words), range(len(words)), governors, sentence["relations"]))
    if probe == "structural":  # an edge has no direction: drawn as the tree has it where it is right
        ends = [(b, a) if governors[b] == a + 1 else (a, b) for a, b in sentence["guesses"][probe]]
    else:
        ends = [(word, governor - 1) for word, governor in enumerate(sentence["guesses"][probe])]
    marks = [(word, governor, governors[word] == governor + 1) for word, governor in ends]
    guessed = [
        Arc(word, governor, "✓" if right else "✗", "right" if right else "wrong", right)
        for word, governor, right in marks
    ]
    punctuation = {i for i, name in enumerate(sentence["relations"]) if name.split(":")[0] == "punct"}
    scored = [right for word, _, right in marks if probe == "structural" or word not in punctuation]
    text = f"{sum(scored)} of {len(scored)} {'edges' if probe == 'structural' else 'words'} right"
    return text, sentence_svg(words, gold, guessed, f"The treebank's tree and the guesses of {title(probe)}")


def title(probe: str, result: Probes | None = None) -> str:
    """A probe's name as Table 3 writes it; for a row of a result, what distinguishes it from the others."""
    if probe == "right-branching":
        return "Right-branching (last word to ROOT)"
    if probe == "best-offset" and result:
        return f"Best {offset_name(result.about['best_offset'])}"
    name = probe.removesuffix(AS_RELEASED).replace("-", " ").capitalize()
    if probe.endswith(AS_RELEASED):
        return f"{name}, as released"
    return f"{name}, aligned" if result and probe + AS_RELEASED in result.probes else name


def titles(result: Probes) -> list[str]:
    """Titles of all rows."""
    return [title(probe, result) for probe in result.probes]


def papers_scores(result: Probes) -> tuple[list[float | None], list[float | None]]:
    """The paper's score beside each row, percent: without punctuation, and with it. Of two rows of a probe the paper's
    is the one as released; the best offset has Table 1's where it is the same offset."""
    names = ["" if name + AS_RELEASED in result.probes else name.removesuffix(AS_RELEASED) for name in result.probes]
    _, _, score, offset = paper.TABLE_1["all"]
    over_all_words = paper.TABLE_3_WITH_PUNCTUATION | (
        {"best-offset": score} if result.about["best_offset"] == offset else {}
    )
    return [paper.TABLE_3.get(name) for name in names], [over_all_words.get(name) for name in names]


def latex(result: Probes) -> str:
    """A row for each probe: its score with the 95% interval, that with punctuation, the paper's; percent (booktabs)."""
    frame = result.to_frame()
    percents = 100 * frame[["score", "low", "high", "with_punctuation"]].set_axis(
        ["Score", "Low", "High", "With punctuation"], axis=1
    )
    paper_scores = [a or b for a, b in zip(*papers_scores(result), strict=True)]
    named = pd.DataFrame({"Probe": titles(result), "Metric": frame["metric"]})
    return tabular(named.join(percents).assign(Paper=pd.Series(paper_scores, dtype=float)))
