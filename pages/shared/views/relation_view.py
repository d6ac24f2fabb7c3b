"""The chosen relation: its best head in words and numbers, the table that chooses it, and sentences with arcs."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.dependency_heads.figure import SentenceExample, example_svg, examples
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, offset_name
from bertviz_core.analyses.dependency_heads.relations import ALL, UAS, RelationCounts, ShownRelations
from bertviz_core.analyses.dependency_heads.table import relation_table
from bertviz_core.analyses.proportions import wilson
from bertviz_core.heads import Head
from bertviz_core.plotting.style import percent
from pages.shared.boxes import plain
from pages.shared.components.drawings import drawings
from pages.shared.frame import viewer_link
from pages.shared.frame.selection import Selection

SHOWN = 10  # sentences on one page
ORDERS = {
    "most confident first": lambda example: -example.weight,
    "least confident first": lambda example: example.weight,
    "file order": lambda example: example.place,
}


def say_view(result: RelationCounts, view: str) -> None:
    """Which trees are shown, how they were read, and how they differ from the paper's."""
    origin = result.provenance
    share = origin["split_words"] / origin["words"]
    function_heads = "read with function words as governors and the paper's labels"
    text = function_heads if view == "function-heads" else "as in the file"
    st.caption(
        f"Read as {plain(origin['format'])}; trees {text}; {share:.1%} of the words are split into pieces (paper: "
        "about 8%). The paper's Table 1 is on Stanford Dependencies; its numbers are shown for labels of the same "
        "name."
    )


def choose(result: RelationCounts) -> tuple[str, int]:
    """The relation and the direction, kept in the address."""
    if st.session_state.get("relation") not in (None, *result.relations):
        del st.session_state["relation"]  # folded away, or of another treebank
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = result.relations.index(result.most_telling())
        relation = st.selectbox("Relation", result.relations, index=first, key="relation", bind="query-params")
        best = int(result.best()[result.relations.index(relation)][0])
        direction = st.segmented_control(
            "Direction", DIRECTIONS, default=DIRECTIONS[best], required=True, key="direction", bind="query-params"
        )
    return relation, DIRECTIONS.index(direction)


def headline(result: RelationCounts, relation: str, selection: Selection) -> None:
    """What this run shows for the relation, in one sentence."""
    row = result.to_frame().set_index("relation").loc[relation]
    head = Head.parse(row["head"]).label(selection.base)
    n = int(row["n"])
    above = "clearly above" if row["low"] > row["baseline_accuracy"] else "not clearly above"
    between = f"{percent(row['low'], n)} to {percent(row['high'], n)}"
    text, button = st.columns([5, 1], vertical_alignment="center")
    text.markdown(
        f"**Head {head}, {row['direction'].replace('->', ' → ')}, finds {percent(row['accuracy'], n)} of {n:,} "
        f"{plain(relation)}** ({between}), {above} the best fixed offset: "
        f"{offset_name(row['baseline_offset'])} is right for {percent(row['baseline_accuracy'], n)}."
    )
    index = result.relations.index(relation)
    button.button(f"Choose {head}", on_click=_take, args=(result, index), icon=":material/my_location:")


def numbers(result: RelationCounts, relation: str, direction: int, selection: Selection) -> list[tuple[str, str, str]]:
    """Metrics: the chosen head, the best one, its held-out check, the baseline; with the paper's numbers."""
    index = result.relations.index(relation)
    row = result.to_frame().iloc[index]
    paper_values = paper.TABLE_1.get(relation)
    at = (direction, index, selection.head.layer, selection.head.head)
    right, n = int(result.correct.sum(0)[at]), int(result.n.sum(0)[index])
    low, high = wilson(np.array(right), np.array(n))
    entries = [
        (
            "Best head",
            percent(row["accuracy"], n),
            f"paper: {paper_values[1]} ({paper_values[0]})" if paper_values else "not in the paper",
        ),
        (
            "Best fixed offset",
            percent(row["baseline_accuracy"], n),
            f"paper: {paper_values[2]} ({paper_values[3]:+d})" if paper_values else "not in the paper",
        ),
        (
            f"Chosen head {selection.label}",
            percent(right / n, n),
            f"{percent(float(low), n)} to {percent(float(high), n)}",
        ),
    ]
    if "heldout_accuracy" in row:
        entries.insert(1, ("Best head, held out", percent(row["heldout_accuracy"], n), "selected on the other half"))
    return entries


def table(result: RelationCounts, selection: Selection) -> None:
    """Every relation, sortable; a click on a row chooses the relation, its best head and that head's direction."""
    st.dataframe(
        relation_table(result, selection.base),
        key="relations",
        hide_index=True,
        on_select=lambda: _row_clicked(result),
        selection_mode="single-row",
        column_config={"offset": st.column_config.NumberColumn(format="%+d")},
        height=min(420, 37 + 35 * len(result.relations)),
        placeholder="",
        alt="A row for each relation: its best head, interval, held-out accuracy, best offset, and the paper's",
    )
    st.caption(
        "*all* is UAS with punctuation, as in the paper's Table 1; *UAS* excludes it, as in Table 3. Fixed offsets "
        "stay within the sentence: offset +1 attaches the last word to itself, while the probes' right-branching "
        "baseline attaches it to ROOT."
    )


def _row_clicked(result: RelationCounts) -> None:
    rows = st.session_state["relations"]["selection"]["rows"]
    if rows:
        _take(result, rows[0])


def _take(result: RelationCounts, place: int) -> None:
    """Choose a relation, its best head, and that head's direction."""
    direction, layer, head = (int(value) for value in result.best()[place])
    st.session_state["relation"] = result.relations[place]
    st.session_state["direction"] = DIRECTIONS[direction]
    st.session_state["head"] = Head(layer, head).label()


@st.fragment
def sentences(result: ShownRelations, selection: Selection, relation: str, direction: int) -> None:
    """Sentences with the relation: gold arcs above, the chosen head's guesses below."""
    st.subheader(
        f"Head {selection.label} in sentences" + ("" if relation in (ALL, UAS) else f" with {plain(relation)}")
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = st.segmented_control("Guesses", ("all", "right", "wrong"), default="all", required=True, key="which")
        order = st.selectbox("Order", [*ORDERS], key="order", width=200)
        minimum = st.slider("Minimum weight", 0.0, 1.0, 0.0, 0.05, key="weight", width=260)
    found = [example for example in examples(result, selection.head, direction, relation) if example.weight > minimum]
    found = sorted((example for example in found if _wanted(example, which)), key=ORDERS[order])
    pages = max(1, -(-len(found) // SHOWN))
    number = st.number_input(f"Page of {pages:,}", 1, pages, key="sentence_page", width=140) if pages > 1 else 1
    st.caption(
        f"{len(found):,} of the first {len(result.sentences):,} sentences. Above, the gold arcs; below, the guesses: "
        "correct ones solid with a check mark, wrong ones dashed with a cross, and the attention they have."
    )
    shown = found[SHOWN * (number - 1) : SHOWN * number]
    drawings(
        [
            (
                f"{example.where}: {example.right} of {example.words} right",
                example_svg(result, example.place, selection.head, direction, relation),
            )
            for example in shown
        ],
        "sentences",
    )
    with st.container(horizontal=True, gap="small"):
        st.caption("In the attention viewer:")
        for example in shown:
            viewer_link.to_words(result.sentences[example.place]["words"], example.where.partition(",")[0])


def _wanted(example: SentenceExample, which: str) -> bool:
    return which == "all" or (example.right > 0 if which == "right" else example.right < example.words)
