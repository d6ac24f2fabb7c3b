"""The chosen relation: its best head in words and numbers, the table that chooses it, and sentences with arcs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.dependency_heads.figure import example_svg
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, offset_name
from bertviz_core.analyses.dependency_heads.relations import ALL, UAS, RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.dependency_heads.sentence_blocks import (
    SentenceQuery,
    Sentences,
    StoredTreebank,
    stored_treebank,
)
from bertviz_core.analyses.dependency_heads.sentences import find, tally
from bertviz_core.analyses.dependency_heads.table import relation_table
from bertviz_core.analyses.ordered_lists import ORDERS
from bertviz_core.analyses.proportions import MIN_SCORED, wilson
from bertviz_core.analyses.request import Request
from bertviz_core.heads import Head
from bertviz_core.plotting.style import percent
from pages.shared import services
from pages.shared.boxes import plain
from pages.shared.components import drawings
from pages.shared.derived import derived
from pages.shared.frame import address, choices, links
from pages.shared.frame.selection import Selection
from pages.shared.views import corpus_search
from pages.shared.views.relation_choice import Counts, take

SHOWN = 10  # sentences on one page
NOT_THERE = "not in the paper"


class Choice(NamedTuple):
    """A head read in one direction, the index in DIRECTIONS."""

    direction: int
    head: Head


def say_view(result: RelationCounts, view: str) -> None:
    """Caption of the trees: which are shown, how they were read, and how they differ from the paper's."""
    origin = result.provenance
    share = origin["split_words"] / origin["words"]
    function_heads = "read with function words as governors and the paper's labels"
    text = function_heads if view == "function-heads" else "as in the file"
    st.caption(
        f"Read as {plain(origin['format'])}; trees {text}; {share:.1%} of the words are split into pieces (paper: "
        "about 8%). The paper's Table 1 is on Stanford Dependencies; its numbers are shown for labels of the same "
        "name."
    )


def headline(result: RelationCounts, relation: str, direction: int, selection: Selection) -> None:
    """What the shown head does for the relation, whether the best head is above the baseline, and the way to it: one
    line."""
    index = result.relations.index(relation)
    row, n = result.to_frame().iloc[index], int(result.n.sum(0)[index])
    shown, share = Choice(direction, selection.head), _share(result, index, direction, selection.head)
    best = Choice(int(result.best()[index][0]), Head.parse(row["head"]))
    is_best = share == row["accuracy"]
    with st.container(horizontal=True, vertical_alignment="center"):
        above = "above" if row["above_baseline"] else "not clearly above"
        held_out = f"{percent(row['heldout_accuracy'], n)} held out, {above} the best fixed offset's"
        rests_on = held_out if _has_verdict(row, n) else "no verdict; the best fixed offset has"
        at = "" if is_best else f"the best is {_named(best, selection)}: {percent(row['accuracy'], n)}; "
        st.markdown(
            f"**Head {_named(shown, selection)}, finds {percent(share, n)} of {n:,} {plain(relation)}**; {at}"
            f"{rests_on} {percent(row['baseline_accuracy'], n)}."
        )
        if not is_best:
            label = best.head.label(selection.base)
            st.button(f"Choose {label}", on_click=take, args=(result, index), icon=":material/my_location:")


def _has_verdict(row: Any, n: int) -> bool:
    return n >= MIN_SCORED and not np.isnan(row["heldout_accuracy"])


def verdict(result: RelationCounts, relation: str) -> str:
    """What the verdict on a relation's best head rests on, or why there is none; and what the best offset does."""
    index = result.relations.index(relation)
    row, n = result.to_frame().iloc[index], int(result.n.sum(0)[index])
    offset = f"The best fixed offset: {offset_name(row['baseline_offset'])}."
    if n < MIN_SCORED:
        return f"Fewer than {MIN_SCORED} words: too few for a verdict. {offset}"
    if not _has_verdict(row, n):
        return f"One half of the sentences has no such word: no held-out accuracy, and no verdict. {offset}"
    interval = f"{percent(row['heldout_low'], n)} to {percent(row['heldout_high'], n)}"
    return (
        "Held out: the best head is selected on one half of the sentences and scored on the other; the interval is "
        f"{interval}. {offset}"
    )


def _named(choice: Choice, selection: Selection) -> str:
    return f"{choice.head.label(selection.base)}, {DIRECTIONS[choice.direction].replace('->', ' → ')}"


def _share(result: RelationCounts, index: int, direction: int, head: Head) -> float:
    return float(result.accuracy[direction, index, head.layer, head.head])


def numbers(result: RelationCounts, relation: str, direction: int, selection: Selection) -> list[tuple[str, str, str]]:
    """Metrics: the best head, its held-out check, the baseline, the shown head; with the paper's numbers."""
    index = result.relations.index(relation)
    row, n = result.to_frame().iloc[index], int(result.n.sum(0)[index])
    values = paper.TABLE_1.get(relation)
    share = _share(result, index, direction, selection.head)
    low, high = wilson(np.array(share * n), np.array(n))
    entries = [
        ("Best head", percent(row["accuracy"], n), f"paper: {values[1]} ({values[0]})" if values else NOT_THERE),
        (
            "Best fixed offset",
            percent(row["baseline_accuracy"], n),
            f"paper: {values[2]} ({values[3]:+d})" if values else NOT_THERE,
        ),
        (
            f"Chosen head {selection.label}",
            percent(share, n),
            f"{percent(float(low), n)} to {percent(float(high), n)}",
        ),
    ]
    if not result.paper:
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
        take(result, rows[0])


@address.fragment
def sentences(
    stored: DependencyHeads, counts: Counts, request: Request, selection: Selection, relation: str, direction: int
) -> None:
    """Sentences with the relation: gold arcs above, the chosen head's guesses below."""
    st.subheader(
        f"Head {selection.label} in sentences" + ("" if relation in (ALL, UAS) else f" with {plain(relation)}")
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = choices.segmented("Guesses", ("all", "right", "wrong"), key="which", default="all")
        order = choices.selectbox("Order", ORDERS, key="order", default=ORDERS[0], width=200)
        minimum = choices.slider("Minimum weight", 0.0, 1.0, 0.0, 0.05, key="weight", width=260)
        searched = corpus_search.words("search")
    view, _, _, merge = counts
    query = SentenceQuery(selection.head, direction, relation, view, merge, which, minimum, searched, order)
    searched_sentences = _sentences(stored, counts, request)
    counts_by_weight = derived(tally, searched_sentences, query)
    total = int(counts_by_weight.sum())
    number = choices.page_of(total, SHOWN, key="sentence_page")
    every, first = stored.provenance["sentences"], len(stored.sentences)
    is_all = first == every or isinstance(searched_sentences, StoredTreebank)
    searched_in = f"all {every:,} sentences" if is_all else f"the first {first:,} of {every:,} sentences"
    st.caption(
        f"{total:,} of {searched_in}. Above, the gold arcs; below, the guesses: correct ones solid with a check mark, "
        "wrong ones dashed with a cross, and the attention they have."
    )
    shown = derived(find, searched_sentences, query, counts_by_weight, SHOWN * (number - 1), SHOWN)
    drawn = [
        (f"{example.where}: {example.right} of {example.words} right", example_svg(example, selection.head, direction))
        for example in shown
    ]
    targets = [
        links.to_tree(example.sentence, () if relation in (ALL, UAS) else example.chosen, direction)
        for example in shown
    ]
    drawings(drawn, "sentences", links.hidden("sentences", targets))


def _sentences(stored: DependencyHeads, counts: Counts, request: Request) -> Sentences:
    """All sentences where their guesses are on disk, else the first sentences of the result."""
    if len(stored.sentences) < stored.provenance["sentences"]:
        every = stored_treebank(services.store(), request.key(), request.source)
        if every is not None:
            return every
    return derived(DependencyHeads.show, stored, *counts)
