"""Table 1 as figures and tables; fixed offsets of a relation; sentences with arcs."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core import paper
from bertviz_core.analyses.base.blocks import Chart, Map, Offer, Say
from bertviz_core.analyses.base.list_view import Order
from bertviz_core.analyses.base.result import cached_on_result
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import RelationView
from bertviz_core.analyses.dependency_heads.sentences import GuessedSentences, SentenceExample
from bertviz_core.corpora.treebank import ALL, UAS, explain, meaning
from bertviz_core.heads import DirectedHead, Head, arrow
from bertviz_core.numbers import fixed
from bertviz_core.plotting import BEST, finish, scores, tabular
from bertviz_core.plotting.arcs import Arc, gold_arc, sentence_svg
from bertviz_core.plotting.head_map import HeadMap, accuracy_map
from bertviz_core.text_display import isolated

GRAY = "#8c8c8c"
TABLE_1 = "Table 1: best head of both directions for each relation (%)"
# Pixels; the paper's columns are in sight.
WIDTHS = {
    "relation": 62,
    "meaning": 146,
    "n": 60,
    "head": 46,
    "direction": 148,
    "accuracy": 68,
    "interval": 80,
    "held out": 64,
    "offset": 55,
    "by offset": 68,
    "paper": 50,
    "its head": 60,
}
TOTALS = "all is UAS with punctuation, as in the paper's Table 1; UAS excludes it, as in Table 3."


def paper_figure(result: RelationCounts, max_relations: int | None = None) -> go.Figure:
    """A line for each relation, or the most frequent ones: the best head, the best fixed offset, and the paper's head
    where it counts the same words of the same language."""
    frame = result.to_frame()
    frame = frame.loc[sorted(frame["n"].nlargest(max_relations or len(frame)).index)]
    percent = 100 * frame[["accuracy", "low", "high", "baseline_accuracy"]]
    # The labels of a treebank are text, not markup.
    labels = frame["relation"].map(escape)
    directions = frame["direction"].map(arrow)
    best = scores(
        labels,
        percent,
        ("accuracy", "low", "high"),
        name="best head",
        marker={"color": BEST, "size": 10},
        customdata=frame[["head", "direction", "n", "relation"]].assign(direction=directions),
        hovertemplate="%{y}: %{x:.1f}%, head %{customdata[0]}, %{customdata[1]}, n = %{customdata[2]:,}<extra></extra>",
    )
    figure = go.Figure(best)

    def mark(name: str, percents: Sequence[float | None], symbol: str, hover: str, color: str = GRAY) -> None:
        line = {"width": 1 if color != GRAY else 2}
        figure.add_scatter(
            x=percents,
            y=labels,
            mode="markers",
            name=name,
            marker={"color": color, "size": 8, "symbol": symbol, "line": line},
            customdata=frame["baseline_offset"],
            hovertemplate=f"%{{y}}: %{{x:.1f}}% {hover}<extra></extra>",
        )

    mark("best fixed offset", percent["baseline_accuracy"], "line-ns-open", "at offset %{customdata:+d}")
    if result.in_paper:
        cited = [result.in_paper[name][1] if name in result.in_paper else None for name in frame["relation"]]
        mark("paper (BERT-base, WSJ)", cited, "diamond-open", "in the paper", "#cc7000")
    if result.is_causal:
        mark("random word", 100 * frame["random_accuracy"], "x-thin-open", "by a random word")
    figure.update_xaxes(title="accuracy, percent", range=[-2, 102])
    figure.update_yaxes(autorange="reversed", type="category", showticklabels=False)
    for relation, label in zip(frame["relation"], labels, strict=True):
        hover = explain(relation, "<b>{}</b>", "<i>{}</i>")
        figure.add_annotation(text=label, hovertext=hover, x=0, xref="paper", xanchor="right", y=label, showarrow=False)
    return finish(figure, 110 + 22 * len(frame), margin={"l": 24 + 8 * int(labels.str.len().max())})


def offset_figure(result: RelationCounts, relation: str, direction: int = 0) -> go.Figure:
    """Accuracy of every fixed offset for one relation, and its best head in one direction; of a causal model among the
    words which that direction counts."""
    row = result.relations.index(relation)
    offsets = result.offsets
    values = 100 * result.offset_accuracy(direction)[:, row]
    accuracy = result.accuracy[:, row]
    if result.is_causal:
        is_visible = offsets * (2 * direction - 1) > 0
        offsets = offsets[is_visible]
        values = values[is_visible]
    best_head = 100 * float(accuracy[direction].max())
    colors = [GRAY] * len(values)
    colors[values.argmax()] = BEST
    names = [f"{each:+d}" for each in offsets]
    hover = "offset %{x}: %{y:.1f}%<extra></extra>"
    figure = go.Figure(go.Bar(x=names, y=values, marker_color=colors, hovertemplate=hover))
    label = {"text": f"best head, {arrow(DIRECTIONS[direction])}: {best_head:.1f}%", "font_size": 12}
    line = {"dash": "dash", "color": BEST, "width": 1}
    figure.add_hline(y=best_head, line=line, annotation=label, annotation_position="top left")
    figure.update_xaxes(title="fixed offset, words to the right (within the sentence)", type="category")
    figure.update_yaxes(title="accuracy, percent", range=[0, 105])
    return finish(figure, 250, margin={"t": 10})


def relation_map(counts: RelationCounts, relation: str, direction: int) -> Map:
    """The map of heads of a relation in a direction."""
    return Map(
        name="relation-map",
        title=f"{relation}, {arrow(DIRECTIONS[direction])}",
        build=_relation_squares,
        arguments=(counts, relation, direction),
        alt=f"Map of all heads, layer by head, colored by accuracy on {relation}",
    )


def _relation_squares(counts: RelationCounts, relation: str, direction: int) -> HeadMap:
    return accuracy_map(counts.accuracy[direction, counts.relations.index(relation)], relation)


def offset_chart(counts: RelationCounts, relation: str, direction: int) -> Chart:
    """The accuracy of every fixed offset for a relation."""
    return Chart(
        name="offsets-figure",
        title=f"Fixed offsets: {relation}",
        build=offset_figure,
        arguments=(counts, relation, direction),
        alt=f"Accuracy of fixed offsets on {relation}",
        note="Fixed offsets stay within the sentence: offset +1 attaches the last word to itself, while the probes' "
        "right-branching baseline attaches it to ROOT.",
    )


def better_head(counts: RelationCounts, relation: str, choice: DirectedHead) -> Iterator[Offer]:
    """The way to the best head of a relation in a direction, where the chosen one finds less."""
    best = counts.in_direction(choice.direction).best_choice(relation)
    accuracy = counts.accuracy[:, counts.relations.index(relation)]
    if accuracy[choice.at] != accuracy[best.at]:
        yield Offer(f"Choose {best.head.label()}", best.head)


def explanation(relation: str) -> Iterator[Say]:
    """What a relation is, with an example of it where there is one."""
    if styled := explain(relation, "**{}**", "*{}*"):
        text = f"{relation}: {explain(relation)}."
        yield Say(text, markdown=f": {styled} (**dependent**, *governor*).", subject=relation)


def left_out(counts: RelationCounts) -> Iterator[Say]:
    """Why there is no relation to choose, where none has enough words."""
    if set(counts.relations) <= {ALL, UAS}:
        least = counts.provenance["options"]["min_count"]
        yield Say(
            f"No relation has {least:,} words or more, so only totals are shown. “Minimum words” in Options, or "
            "--min-count, lowers the limit."
        )


def table_chart(counts: RelationCounts) -> Chart:
    """Table 1 as a chart, a dot of which chooses the relation."""
    of_arcs = ", of the arcs that a direction sees" if counts.is_causal else ""
    beside = ", and the paper's best head" if counts.in_paper else ""
    return Chart(
        name="table-figure",
        title=f"Table 1 as a chart, best head of both directions{of_arcs}",
        build=paper_figure,
        arguments=(counts,),
        alt=f"For each relation the best head with its interval, the best fixed offset{beside}",
        has_heads=True,
        choose=lambda dot: _chosen(counts, dot[3]),
        hint="click a dot to choose the relation",
    )


def table_1(counts: RelationCounts) -> Table:
    """Table 1, a row of which chooses the relation and its best head."""
    papers = f" The paper's columns: {paper.TITLE}, Table 1 (WSJ, Stanford Dependencies)." if counts.in_paper else ""
    return Table(
        name="table_1",
        title=TABLE_1,
        table=relation_table(counts),
        note=f"{TOTALS}{papers}",
        decimals=1,
        signed=("offset",),
        choose=lambda row: _chosen(counts, counts.relations[row]),
        hint="click a row to choose the relation and its best head",
        widths=WIDTHS,
        height=420,
        in_report=True,
    )


def _chosen(counts: RelationCounts, relation: str) -> dict[str, Any]:
    """A relation, its best head, and that head's direction, by their fields."""
    best = counts.best_choice(relation)
    return {"relation": relation, "direction": DIRECTIONS[best.direction], "head": best.head}


def examples(
    result: RelationCounts, choice: DirectedHead, relation: str, order: Order = "file order", count: int | None = None
) -> list[SentenceExample]:
    """The sentences of a result that have the relation, in one of ORDERS; the first `count`, or all."""
    view = RelationView(relation=relation, direction=DIRECTIONS[choice.direction], head=choice.head.key(), order=order)
    return GuessedSentences(result, view, lists=None).page(count=count)[1]


def example_svg(example: SentenceExample, choice: DirectedHead, *, every: bool = True) -> str:
    """A sentence: gold arcs above, those that count strong; the head's guesses for their words below. Without `every`
    gold arc those that do not count are left out."""
    words = example.sentence["words"]
    governors = example.sentence["governors"]
    gold = []
    guessed = []
    for i, (governor, name) in enumerate(zip(governors, example.sentence["relations"], strict=True)):
        is_chosen = i in example.chosen
        if is_chosen or every:
            gold.append(gold_arc(words, i, governor, name, shown=is_chosen))
        if is_chosen and len(words) > 1:
            guess = int(example.guesses[i])
            weight = f"{example.weights[i] / 255:.2f}"
            right = guess == governor - 1
            mark, word = ("✓", "right") if right else ("✗", "wrong")
            note = f"{isolated(words[i])} ← {isolated(words[guess])}, weight {weight}, {word}"
            guessed.append(Arc(i, guess, f"{mark} {weight}", note, right))
    direction = DIRECTIONS[choice.direction]
    head = f"{choice.head.label()}, {direction}"
    return sentence_svg(words, gold, guessed, f"Gold arcs and the guesses of head {head}, for: {' '.join(words)}")


@cached_on_result
def relation_table(result: RelationCounts) -> pd.DataFrame:
    """A row for each relation, in percent, for the screen; the paper's columns are empty where it has no such label,
    and absent where its numbers are of something else."""
    frame = result.to_frame()

    def percents(shares: str) -> list[float]:
        """Numbers, so that the table can be sorted, all with one decimal."""
        return [round(100 * share, 1) for share in frame[shares]]

    table = frame[["relation", "n"]].copy()
    table.insert(1, "meaning", frame["relation"].map(meaning))
    table["head"] = [Head.parse(label).label() for label in frame["head"]]
    table["direction"] = frame["direction"].map(arrow)
    table["accuracy"] = percents("accuracy")
    ends = zip(100 * frame["low"], 100 * frame["high"], strict=True)
    table["interval"] = [f"{fixed(low, 1)}–{fixed(high, 1)}" for low, high in ends]
    table["held out"] = percents("heldout_accuracy")
    if result.is_causal:
        table["counted"] = frame["counted"]
        table["of all words"] = percents("accuracy_of_all_words")
    table["offset"] = frame["baseline_offset"]
    table["by offset"] = percents("baseline_accuracy")
    if result.is_causal:
        table["random word"] = percents("random_accuracy")
    if result.in_paper:
        paper_values = [result.in_paper.get(relation, (None, None)) for relation in frame["relation"]]
        table["paper"] = [accuracy for _, accuracy, *_ in paper_values]
        table["its head"] = [head for head, *_ in paper_values]
    return table


def latex(result: RelationCounts) -> str:
    """The rows as a LaTeX tabular (booktabs) in percent: the columns of the paper's Table 1, the direction, intervals,
    and the paper's numbers where it has the relation."""
    frame = result.to_frame()
    ends = zip(100 * frame["low"], 100 * frame["high"], strict=True)
    frame["interval"] = ["" if np.isnan(low) else f"{low:.1f}–{high:.1f}" for low, high in ends]
    names = {"relation": "Relation", "n": "n", "head": "Head", "direction": "Direction"}
    names |= {"accuracy": "Accuracy", "interval": "95% interval", "heldout_accuracy": "Held out"}
    names |= {"baseline_accuracy": "Baseline", "baseline_offset": "Offset"}
    if result.in_paper:
        printed = [result.in_paper.get(relation, ("", np.nan)) for relation in frame["relation"]]
        frame["paper"] = [accuracy for _, accuracy, *_ in printed]
        frame["paper_head"] = [head for head, *_ in printed]
    if result.is_causal:
        names |= {"random_accuracy": "Random word", "counted": "Counted", "accuracy_of_all_words": "Of all words"}
    if result.in_paper:
        names |= {"paper": "Paper", "paper_head": "Its head"}
    shares = [name for name in names if "accuracy" in name]
    frame[shares] *= 100
    frame["baseline_offset"] = [f"{offset:+d}" for offset in frame["baseline_offset"]]
    return tabular(frame[list(names)].rename(columns=names))
