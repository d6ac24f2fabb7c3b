"""Dependency heads: which counts and which relation are shown, the relation's best head in words and numbers, the table
that chooses it, and sentences with arcs."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.dependency_heads import relation_finding
from bertviz_core.analyses.dependency_heads.figure import example_svg, relation_table
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, VIEW_NAMES, offset_name
from bertviz_core.analyses.dependency_heads.relations import ALL, UAS, RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, RelationFilter
from bertviz_core.analyses.dependency_heads.sentences import SentenceQuery
from bertviz_core.analyses.details import ORDERS
from bertviz_core.analyses.proportions import wilson
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.treebank.glossary import explained, meaning
from bertviz_core.heads import DirectedHead, Head, arrow, highest
from bertviz_core.numbers import small_int
from bertviz_core.plotting.style import percent
from pages.shared import services
from pages.shared.components import drawings
from pages.shared.frame import address, choices, links
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import findings_view, guess_list

SHOWN = 10  # sentences on one page
WIDTHS = {  # pixels, so that the paper's columns are in sight
    "relation": 62, "meaning": 146, "n": 44, "head": 46, "direction": 142, "accuracy": 68, "interval": 72,
    "held out": 64, "by offset": 68, "paper": 50, "its head": 60,
}  # fmt: skip
NOT_IN_PAPER = "not in the paper"


def choose_rule(selection: Selection) -> Request:
    """Draw the choice of what is computed: the rule for `poss` is part of mode "paper", and offered without it."""
    if not selection.settings.paper:
        choices.checkbox(
            "Paper's rule for *poss*", key="possessives", help="The word before 's takes the guess made for 's."
        )
    return _request(selection)


def _request(selection: Selection) -> Request:
    ruled = choices.ahead("possessives", "false") == "true" and not selection.settings.paper
    return selection.request("dependency_heads", {"possessives": True} if ruled else {})


def counts(stored: DependencyHeads, selection: Selection) -> RelationFilter:
    """Draw the choice of the counts."""
    default = stored.default_filter()
    view = choices.segmented(
        "Trees", [*VIEW_NAMES], key="view", default=default.view, format_func=VIEW_NAMES.__getitem__
    )
    min_count = choices.number("Minimum words", 1, default=default.min_count, key="least", step=10)
    offsets = default.offsets
    if not selection.settings.paper:
        offsets = choices.number("Maximum offset", 1, 20, offsets, key="offsets")
    merge = choices.checkbox("Merge subtypes", key="merge", help="Counts nmod:poss as nmod.")
    return RelationFilter(view, min_count, offsets, merge)


def named(relation: str) -> str:
    """A relation with its meaning, as Markdown."""
    return plain(f"{relation} ({meaning(relation)})" if meaning(relation) else relation)


def meaning_of(relation: str) -> None:
    """What the label of a relation means, with an example."""
    if glossed := explained(relation, "**{}**", "*{}*"):
        st.caption(f"{plain(relation)}: {glossed} (**dependent**, *governor*).")


def choose(result: RelationCounts) -> tuple[str, int]:
    """Draw the choice of relation and direction. A relation brings its best head's direction along."""
    relation = choices.selectbox(
        "Relation",
        result.relations,
        key="relation",
        default=result.clearest_relation(),
        follows=True,
        format_func=lambda name: f"{name}: {meaning(name)}" if meaning(name) else name,
        on_change=lambda: address.release("direction"),
        width=240,
        label_visibility="collapsed",
    )
    best = DIRECTIONS[result.best_choice(relation).direction]
    direction = choices.segmented(
        "Direction", DIRECTIONS, key="direction", default=best, follows=True, format_func=arrow,
        label_visibility="collapsed",
    )  # fmt: skip
    return relation, DIRECTIONS.index(direction)


def take(result: RelationCounts, relation: str) -> None:
    """Choose a relation, its best head, and that head's direction, in a callback."""
    best = result.best_choice(relation)
    address.choose(relation=relation, direction=DIRECTIONS[best.direction], head=best.head.label())


def default_head(selection: Selection) -> Head | None:
    """The best head of the relation in the direction that the page is about to show."""
    stored = services.find(_request(selection))
    if not isinstance(stored, DependencyHeads):
        return None
    default = stored.default_filter()
    view = choices.ahead("view", default.view)
    chosen = RelationFilter(
        view if view in VIEW_NAMES else default.view,
        small_int(choices.ahead("least", "")) or default.min_count,
        min(small_int(choices.ahead("offsets", "")) or default.offsets, 20),
        choices.ahead("merge", "false") == "true",
    )
    result = memoize(DependencyHeads.show, stored, chosen)
    relation = choices.ahead("relation", result.clearest_relation())
    relation = relation if relation in result.relations else result.clearest_relation()
    best = result.best_choice(relation)
    direction = choices.ahead("direction", "")
    if direction not in DIRECTIONS:
        return best.head
    return highest(result.correct.sum(0)[DIRECTIONS.index(direction), result.relations.index(relation)])


def best_head(selection: Selection, relations: Sequence[str]) -> Head | None:
    """The best head of the first of some relations that the stored result has."""
    stored = services.find(selection.request("dependency_heads"))
    if not isinstance(stored, DependencyHeads):
        return None
    result = memoize(DependencyHeads.show_default, stored)
    known = [relation for relation in relations if relation in result.relations]
    return result.best_choice(known[0]).head if known else None


def caption(result: RelationCounts) -> None:
    """Caption of the table: which trees are shown, how they were read, and how they differ from the paper's."""
    origin = result.provenance
    share = origin["split_words"] / origin["words"]
    st.caption(
        f"Trees: {result.trees}; read as {plain(origin['format'])}; {share:.1%} of the words are split into pieces "
        "(paper: about 8%). The paper's Table 1 is on Stanford Dependencies, with function words as governors; its "
        "numbers are shown for labels of the same name."
    )


def headline(result: RelationCounts, relation: str, choice: DirectedHead, base: int) -> None:
    """The finding of the relation, and the way to its best head where another is chosen."""
    findings_view.headline(memoize(relation_finding, result, relation, base))
    best = result.best_choice(relation)
    if _accuracy(result, choice, relation) != _accuracy(result, best, relation):
        label = f"Choose {best.head.label(base)}"
        st.button(label, on_click=take, args=(result, relation), icon=":material/my_location:")


def _accuracy(result: RelationCounts, choice: DirectedHead, relation: str) -> float:
    return float(result.accuracy[:, result.relations.index(relation)][choice.at])


def numbers(result: RelationCounts, relation: str, choice: DirectedHead, label: str) -> list[tuple[str, str, str]]:
    """Metrics: the best head, its held-out check, the baseline, the shown head; with the paper's numbers."""
    row, share = result.row(relation), _accuracy(result, choice, relation)
    n, own = int(row["n"]), int(result.counted.sum(0)[choice.direction, result.relations.index(relation)])
    low, high = (percent(float(end), own) for end in wilson(share * own, own))
    best = offset = NOT_IN_PAPER
    if values := paper.TABLE_1.get(relation):
        best, offset = f"paper: {values[1]} ({values[0]})", f"paper: {values[2]} ({values[3]:+d})"
    entries = [
        ("Best head", percent(row["accuracy"], n), best),
        ("Best head, held out", percent(row["heldout_accuracy"], n), "selected on the other half"),
        (f"Best fixed offset, {offset_name(row['baseline_offset'])}", percent(row["baseline_accuracy"], n), offset),
        (f"Chosen head {label}", percent(share, own), f"{low} to {high}"),
    ]
    return _of_arcs(entries, row, own) if result.is_causal else entries


def _of_arcs(entries: list[tuple[str, str, str]], row: pd.Series, own: int) -> list[tuple[str, str, str]]:
    """The metrics of a causal model: in place of the paper's numbers the words counted, and a random word."""
    n, every, (best, heldout, _, chosen) = int(row["n"]), int(row["n_of_all_words"]), entries
    offset = f"Best fixed offset, {row['baseline_offset']:+d}", percent(row["baseline_accuracy"], n)
    return [
        (*best[:2], f"of {n:,}"),
        ("Best head, of all words", percent(row["accuracy_of_all_words"], every), f"of {every:,}"),
        (*heldout[:2], "on the other half"),
        (*offset, f"random word: {percent(row['random_accuracy'], n)}"),
        (*chosen[:2], f"of {own:,}: {chosen[2]}"),
    ]


def table(result: RelationCounts, selection: Selection) -> None:
    """Every relation, sortable; a click on a row chooses the relation, its best head and that head's direction."""
    st.dataframe(
        relation_table(result, selection.base),
        key="relations",
        hide_index=True,
        on_select=lambda: _row_clicked(result),
        selection_mode="single-row",
        column_config={
            **{name: st.column_config.Column(width=pixels) for name, pixels in WIDTHS.items()},
            "n": st.column_config.NumberColumn(format="localized", width=WIDTHS["n"]),
            "offset": st.column_config.NumberColumn(format="%+d", width=55),
        },
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
        take(result, result.relations[rows[0]])


@address.fragment
def sentences(
    stored: DependencyHeads, chosen: RelationFilter, request: Request, relation: str, choice: DirectedHead, label: str
) -> None:
    """Sentences with the relation: gold arcs above, the chosen head's guesses below."""
    is_total = relation in (ALL, UAS)
    st.header(f"Head {label} in sentences" + ("" if is_total else f" with {plain(relation)}"))
    causal = bool(stored.provenance["model"]["causal"])
    every, first = stored.provenance["sentences"], len(stored.sentences)
    parts = guess_list.all_parts(request, first == every)
    collection = parts or memoize(DependencyHeads.show, stored, chosen)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        filtered = guess_list.choose("which", ORDERS[0], "weight", "search")
        query = SentenceQuery(choice, *filtered, relation, chosen.view, chosen.merge_subtypes, causal)
        total, shown = guess_list.entries_of_page(collection, query, SHOWN, "sentence_page")
    is_all = first == every or parts
    searched_in = f"all {every:,} sentences" if is_all else f"the first {first:,} of {every:,} sentences"
    st.caption(
        f"{total:,} of {searched_in}. Above, the gold arcs; below, the guesses: correct ones solid with a check mark, "
        "wrong ones dashed with a cross, and the attention they have."
    )
    drawn = [
        (f"{example.where}: {example.right} of {example.words} right", example_svg(example, choice))
        for example in shown
    ]
    targets = [
        links.to_tree(example.sentence, () if is_total else example.chosen, choice.direction) for example in shown
    ]
    drawings(drawn, "sentences", links.addresses(targets))
