"""Dependency heads: which counts and which relation are shown, the relation's best head in words and numbers, the table
that chooses it, and sentences with arcs."""

from functools import partial

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.dependency_heads import relation_finding
from bertviz_core.analyses.dependency_heads.figure import example_svg, relation_table
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, VIEW_NAMES, SentenceQuery, offset_name
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, RelationFilter
from bertviz_core.analyses.proportions import wilson
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.treebank import ALL, UAS, meaning
from bertviz_core.heads import DirectedHead, Head, arrow, highest
from bertviz_core.plotting import percent
from pages.shared import page, services
from pages.shared.frame import Selection, address, choices, links
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.page import Drawing, Metric
from pages.shared.views import lists

SHOWN = 10  # sentences on one page
WIDTHS = {  # pixels, so that the paper's columns are in sight
    "relation": 62, "meaning": 146, "n": 44, "head": 46, "direction": 142, "accuracy": 68, "interval": 72,
    "held out": 64, "by offset": 68, "paper": 50, "its head": 60,
}  # fmt: skip


def choose_rule(selection: Selection) -> Request:
    """Draw the choice of what is computed: the rule for `poss` is part of mode "paper", and offered without it."""
    about = "The word before 's takes the guess made for 's."
    ruled = not selection.settings.paper and choices.toggle("Paper's rule for *poss*", key="possessives", help=about)
    return selection.request("dependency_heads", {"possessives": True} if ruled else {})


def choose_counts(stored: DependencyHeads, selection: Selection) -> RelationFilter:
    default, views = RelationFilter(), [*VIEW_NAMES]
    view = choices.segmented("Trees", views, key="view", default=default.view, format_func=VIEW_NAMES.__getitem__)
    min_count = choices.number("Minimum words", 1, default=stored.min_count, key="least", step=10)
    offsets = default.offsets
    if not selection.settings.paper:
        offsets = choices.number("Maximum offset", 1, 20, offsets, key="offsets")
    merge = choices.toggle("Merge subtypes", key="merge", help="Counts nmod:poss as nmod.")
    return RelationFilter(view, min_count, offsets, merge)


def choose(result: RelationCounts) -> tuple[str, int]:
    """Draw the choice of relation and direction. A relation brings its best head's direction along."""
    relation = choices.selectbox(
        "Relation", result.relations, key="relation", default=result.clearest_relation(), follows=True, width=240,
        format_func=lambda name: f"{name}: {meaning(name)}" if meaning(name) else name,
        on_change=lambda: address.release("direction"), label_visibility="collapsed",
    )  # fmt: skip
    best = DIRECTIONS[result.best_choice(relation).direction]
    direction = choices.segmented(
        "Direction", DIRECTIONS, key="direction", default=best, follows=True, format_func=arrow,
        label_visibility="collapsed",
    )  # fmt: skip
    return relation, DIRECTIONS.index(direction)


def default_head(selection: Selection) -> Head | None:
    """The best head of the relation in the direction that the page is about to show."""
    with choices.unseen():
        stored = services.find(choose_rule(selection))
        if not isinstance(stored, DependencyHeads):
            return None
        result = memoize(DependencyHeads.show, stored, choose_counts(stored, selection))
        relation, direction = choose(result)
    return highest(result.correct.sum(0)[direction, result.relations.index(relation)])


def take(result: RelationCounts, relation: str) -> None:
    """Choose a relation, its best head, and that head's direction, in a callback."""
    best = result.best_choice(relation)
    address.choose(relation=relation, direction=DIRECTIONS[best.direction], head=best.head.label())


def named(relation: str) -> str:
    """A relation with its meaning, as Markdown."""
    return plain(f"{relation} ({meaning(relation)})" if meaning(relation) else relation)


def headline(result: RelationCounts, relation: str, choice: DirectedHead, base: int) -> None:
    """The finding of the relation, and the way to its best head where another is chosen."""
    page.finding(memoize(relation_finding, result, relation, base), bold=True)
    best, accuracy = result.best_choice(relation), result.accuracy[:, result.relations.index(relation)]
    if accuracy[choice.at] != accuracy[best.at]:
        label = f"Choose {best.head.label(base)}"
        st.button(label, on_click=take, args=(result, relation), icon=":material/my_location:")


def numbers(result: RelationCounts, relation: str, choice: DirectedHead, label: str) -> list[Metric]:
    """The best head, its held-out check, the baseline and the chosen head, beside the paper's or further numbers."""
    row, index = result.row(relation), result.relations.index(relation)
    n, own = int(row["n"]), int(result.counted.sum(0)[choice.direction, index])
    share = float(result.accuracy[:, index][choice.at])
    low, high = (percent(float(end), own) for end in wilson(share * own, own))
    of_best = of_offset = "not in the paper"
    if result.is_causal:
        of_best, of_offset = f"of {n:,}", f"random word: {percent(row['random_accuracy'], n)}"
    elif values := paper.TABLE_1.get(relation):
        of_best, of_offset = f"paper: {values[1]} ({values[0]})", f"paper: {values[2]} ({values[3]:+d})"
    entries = [
        ("Best head", percent(row["accuracy"], n), of_best),
        ("Best head, held out", percent(row["heldout_accuracy"], n), "selected on the other half"),
        (f"Best fixed offset, {offset_name(row['baseline_offset'])}", percent(row["baseline_accuracy"], n), of_offset),
        (f"Chosen head {label}", percent(share, own), f"{low} to {high}"),
    ]
    if result.is_causal:
        every = int(row["n_of_all_words"])
        entries.insert(1, ("Best head, of all words", percent(row["accuracy_of_all_words"], every), f"of {every:,}"))
    return entries


def table(result: RelationCounts, selection: Selection) -> None:
    """Every relation, sortable; a click on a row chooses the relation, its best head and that head's direction."""
    config = {name: st.column_config.Column(width=pixels) for name, pixels in WIDTHS.items()}
    config["n"] = st.column_config.NumberColumn(format="localized", width=WIDTHS["n"])
    config["offset"] = st.column_config.NumberColumn(format="%+d", width=55)
    page.clickable_table(
        relation_table(result, selection.base), "relations", lambda row: take(result, result.relations[row]),
        "A row for each relation: its best head, interval, held-out accuracy, best offset, and the paper's",
        column_config=config, height=min(420, 37 + 35 * len(result.relations)), placeholder="",
    )  # fmt: skip
    st.caption(
        "*all* is UAS with punctuation, as in the paper's Table 1; *UAS* excludes it, as in Table 3. Fixed offsets "
        "stay within the sentence: offset +1 attaches the last word to itself, while the probes' right-branching "
        "baseline attaches it to ROOT."
    )
    origin = result.provenance
    share = origin["split_words"] / origin["words"]
    st.caption(
        f"Trees: {result.trees}; read as {plain(origin['format'])}; {share:.1%} of the words are split into pieces "
        "(paper: about 8%). The paper's Table 1 is on Stanford Dependencies, with function words as governors; its "
        "numbers are shown for labels of the same name."
    )


@address.fragment
def sentences(
    result: RelationCounts, request: Request, shown: RelationFilter, relation: str, choice: DirectedHead, label: str
) -> None:
    """Sentences with the relation: gold arcs above, the chosen head's guesses below."""
    is_total = relation in (ALL, UAS)
    st.header(f"Head {label} in sentences" + ("" if is_total else f" with {plain(relation)}"))
    every, first = result.provenance["sentences"], len(result.stored.sentences)
    query = partial(
        SentenceQuery, choice, relation=relation, view=shown.view, merge_subtypes=shown.merge_subtypes,
        causal=bool(result.provenance["model"]["causal"]),
    )  # fmt: skip
    keys = ("which", "weight", "search", "sentence_page")
    total, listed, is_all = lists.guesses(result, request, first == every, query, SHOWN, keys)
    searched_in = f"all {every:,} sentences" if is_all else f"the first {first:,} of {every:,} sentences"
    st.caption(
        f"{total:,} of {searched_in}. Above, the gold arcs; below, the guesses: correct ones solid with a check mark, "
        "wrong ones dashed with a cross, and the attention they have."
    )
    items = []
    for example in listed:
        target = links.to_words(example.sentence["words"], () if is_total else example.chosen, choice.direction)
        title = f"{example.where}: {example.right} of {len(example.chosen)} right"
        items.append(Drawing(title, example_svg(example, choice), target))
    page.drawings(items, "sentences")
