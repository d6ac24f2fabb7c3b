"""Dependency heads: which head finds which relation, and where it is right and wrong (section 4.2; Table 1)."""

from functools import partial

import streamlit as st

from bertviz_core import exports
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.dependency_heads import figure, guesses
from bertviz_core.analyses.dependency_heads.cards import cards
from bertviz_core.analyses.dependency_heads.guess_preview import of_guesses
from bertviz_core.analyses.dependency_heads.head_facts import attended_words
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, RelationView
from bertviz_core.analyses.dependency_heads.sentence_list import (
    LEGEND,
    PER_PAGE,
    drawing_title,
    list_title,
    sentence_query,
)
from bertviz_core.analyses.dependency_heads.statements import relation_finding
from bertviz_core.corpora.treebank import ALL, UAS, explain, meaning
from bertviz_core.heads import DirectedHead, arrow
from pages.shared import endnotes, head_panel, page, stored, widgets
from pages.shared.costly import accuracy_map, show_relations
from pages.shared.frame import links
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.analysis_choices import DependencyHeadsChoices
from pages.shared.views import lists

words_of = memoized(attended_words)
choose_view = memoized(RelationView.choose)
finding_of = memoized(relation_finding)
in_direction = memoized(RelationCounts.in_direction)
relation_table = memoized(figure.relation_table)
cards_of = memoized(cards)
to_latex = memoized(exports.to_latex)

TABS = ["Table 1", "Offsets", "Words attended to", "All numbers", "Method", "Export"]
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
    "by offset": 68,
    "paper": 50,
    "its head": 60,
}


def choose(relation: str) -> None:
    """Choose a relation, its best head, and that head's direction, in a callback."""
    directed = result.best_choice(relation)
    direction = guesses.DIRECTIONS[directed.direction]
    session.choose(relation=relation, direction=direction, head=directed.head)


def draw_options(result: DependencyHeads) -> None:
    """Draw the choices that seldom change, and compute nothing."""
    views = [*guesses.VIEW_NAMES]
    widgets.segmented("Trees", views, "view", chosen.view, format_func=guesses.VIEW_NAMES.__getitem__)
    widgets.number("Minimum words", "least", chosen.least or result.min_count, step=10)
    if not is_paper:
        widgets.number("Maximum offset", "offsets", chosen.offsets)
    widgets.toggle("Merge subtypes", "merge", chosen.merge, help="Counts nmod:poss as nmod.")


def choose_relation(counts: RelationCounts) -> tuple[str, int]:
    """Draw the choice of the relation and of the direction in which heads are read."""
    relation, direction = chosen.resolve(counts)
    widgets.select(
        "Relation",
        counts.relations,
        "relation",
        relation,
        # Without a direction, the page follows the best head of each relation.
        on_change=lambda: session.choose(direction=None),
        format_func=lambda name: f"{name}: {meaning(name)}" if meaning(name) else name,
        width=220,
        label_visibility="collapsed",
    )
    widgets.segmented(
        "Direction",
        guesses.DIRECTIONS,
        "direction",
        guesses.DIRECTIONS[direction],
        format_func=arrow,
        label_visibility="collapsed",
    )
    return relation, direction


def draw_map() -> None:
    """The map of the relation, and under it what the relation is and the way to its best head."""
    st.markdown(f"**Head map**: {plain(relation)}, {shown_direction}")
    squares = accuracy_map(accuracy[direction], relation)
    lines = of_guesses(result, choice, relation) or None
    alt = f"Map of all heads, layer by head, colored by accuracy on {relation}"
    page.head_map(squares, "relation-map", alt, selection, lines=lines)
    if accuracy[choice.at] != accuracy[best.at]:
        label = f"Choose {best.head.label()}"
        st.button(label, on_click=session.choose, kwargs={"head": best.head}, icon=":material/my_location:")
    if glossed := explain(relation, "**{}**", "*{}*"):
        st.caption(f"{plain(relation)}: {glossed} (**dependent**, *governor*).")


@session.fragment
def draw_sentences() -> None:
    """The chosen head's guesses, sentence by sentence."""
    title = st.container()
    every = session.page(DependencyHeadsChoices).arcs
    names = ("which", "weight", "search", "sentence_page")
    draw_toggle = partial(widgets.toggle, "Arcs of other relations", "arcs", every)
    stored_list = lists.stored_list(result, request)
    query = partial(sentence_query, result, choice, relation)
    total, listed = lists.guesses(stored_list or result, query, PER_PAGE, names, draw_toggle)
    named_list = list_title(result.with_lists(stored_list), choice.head, relation, total)
    label, _, rest = named_list.partition(" in ")
    title.markdown(f"**{label}** in {plain(rest)}", help=LEGEND)
    items = []
    for example in listed:
        dependents = () if relation in (ALL, UAS) else example.chosen
        origin = f"{request.source.name}, {example.where}"
        link = links.to_words(example.sentence["words"], choice.head, dependents, choice.direction, origin=origin)
        items.append(page.Drawing(drawing_title(example), figure.example_svg(example, choice, every=every), link))
    page.drawings(items, "sentences", selection.basis)


def draw_table_1() -> None:
    """The best heads of all relations, as a chart and as a table."""
    of_arcs = ", of the arcs that a direction sees" if result.is_causal else ""
    st.markdown(f"**Table 1 as a chart**, best head of both directions{of_arcs}; click a dot to choose the relation")
    beside = ", and the paper's best head" if result.in_paper else ""
    alt = f"For each relation the best head with its interval, the best fixed offset{beside}"
    drawing = page.drawn(figure.paper_figure, result)
    basis = selection.basis
    page.chart(drawing, "table-figure", alt, basis, head=selection.head, choose=lambda dot: choose(dot[3]))
    st.markdown(f"**{figure.TABLE_1}**; click a row to choose the relation and its best head.")
    config = {name: st.column_config.Column(width=pixels) for name, pixels in WIDTHS.items()}
    config["n"] = st.column_config.NumberColumn(format="localized", width=WIDTHS["n"])
    for name in ("accuracy", "held out", "of all words", "by offset", "random word", "paper"):
        config[name] = st.column_config.NumberColumn(format="%.1f", width=WIDTHS.get(name))
    config["offset"] = st.column_config.NumberColumn(format="%+d", width=55)
    page.clickable_table(
        relation_table(result),
        "relations",
        lambda row: choose(result.relations[row]),
        f"A row for each relation: its best head, interval, held-out accuracy, best offset{beside}",
        column_config=config,
        height=min(420, 37 + 35 * len(result.relations)),
        placeholder="",
    )
    st.caption(figure.TOTALS)


def draw_offsets() -> None:
    """Draw the accuracy of every fixed offset for the relation."""
    st.markdown(f"**Fixed offsets**: {named}")
    alt = f"Accuracy of fixed offsets on {relation}"
    page.chart(page.drawn(figure.offset_figure, result, relation, direction), "offsets-figure", alt, selection.basis)
    st.caption(
        "Fixed offsets stay within the sentence: offset +1 attaches the last word to itself, while the probes' "
        "right-branching baseline attaches it to ROOT."
    )


def draw_method() -> None:
    """Draw how the treebank was read, and the end of the page."""
    origin = result.provenance
    of_paper = (
        "is on Stanford Dependencies, with function words as governors; its numbers are shown for labels of the same "
        "name."
        if result.in_paper
        else "is on English and counts every word; its numbers are not shown beside these."
    )
    st.caption(
        f"Trees: {result.trees}; read as {plain(origin['format'])}; {origin['split_words'] / origin['words']:.1%} of "
        f"the words are split into pieces (paper: about 8%). The paper's Table 1 {of_paper}"
    )
    endnotes.ending(result, guesses.best_words, unit="sentences")


def draw_export() -> None:
    """Draw the files of the chosen counts, and Table 1 as LaTeX."""
    now = session.current()  # Read anew, because the list may change without the rest of the page.

    def shown() -> Result:
        view = now.of_page(DependencyHeadsChoices).reported(result, selection.head)
        return view.choose(result.with_lists(lists.stored_list(result, request)))

    page.downloads(result, shown)
    of_page = choose_view(chosen.reported(result, selection.head), result)
    endnotes.folded("LaTeX", ":material/table:", "latex", lambda: st.code(to_latex(of_page), "latex"))


selection = session.selection()
chosen = session.page(DependencyHeadsChoices)
is_paper = selection.settings.paper
controls, options = page.with_options(page.controls())
request = selection.request("dependency_heads", chosen.options(is_paper))
if options.open and not is_paper:
    about = "The word before 's takes the guess made for 's."
    with options:
        widgets.toggle("Paper's rule for *poss*", "possessives", chosen.possessives, help=about)
computed = stored.result_or_stop(request, DependencyHeads)
if options.open:
    with options:
        draw_options(computed)
counted = chosen.filter(computed, is_paper)
result = show_relations(computed, counted)
page.restriction(result)
with controls:
    relation, direction = choose_relation(result)
choice = DirectedHead(direction, selection.head)
shown_direction = arrow(guesses.DIRECTIONS[direction])
directed = in_direction(result, direction)
best = directed.best_choice(relation)
best_of_both = result.best_choice(relation)
column = result.relations.index(relation)
# (direction, layer, head)
accuracy = result.accuracy[:, column]
explanation = meaning(relation)
named = plain(f"{relation} ({explanation})" if explanation else relation)

page.finding(finding_of(directed, relation), bold=True)
left, right = st.columns([2, 3], gap="medium")
with left:
    draw_map()
with right:
    draw_sentences()
table_1, offsets, attended, numbers, method, export = st.tabs(TABS)
with table_1:
    draw_table_1()
with offsets:
    draw_offsets()
with attended:
    head_panel.draw_facts(words_of(computed, counted.view, selection.head))
with numbers:
    st.markdown(f"**Numbers**: {named}, {shown_direction}")
    page.metrics(cards_of(result, relation, choice))
with method:
    draw_method()
with export:
    draw_export()
