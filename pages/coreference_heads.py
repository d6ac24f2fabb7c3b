"""Coreference heads: which head's attention points from a mention to its antecedent (section 4.3; Table 2)."""

from functools import partial

import streamlit as st

from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.coreference_heads import document_figure
from bertviz_core.analyses.coreference_heads.figure import group_charts
from bertviz_core.analyses.coreference_heads.groups import TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, DIRECTIONS, answers
from bertviz_core.analyses.coreference_heads.passage_list import (
    LEGEND,
    PER_PAGE,
    drawing_title,
    guess_text,
    list_title,
    passage_query,
)
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads, CoreferenceView
from bertviz_core.analyses.coreference_heads.statements import type_finding
from bertviz_core.analyses.coreference_heads.systems_table import cards, systems_table
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.plotting import percent_decimals
from pages.shared import blocks, endnotes, page, stored, widgets
from pages.shared.costly import accuracy_map, head_frame, show_mentions
from pages.shared.frame import links
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.views import lists

finding_of = memoized(type_finding)
cards_of = memoized(cards)
table_of = memoized(systems_table)

LETTERS = 52  # in a line of a passage beside the map
TABS = ["Table 2", "By type", "By distance", "All heads", "Method", "Export"]
AMONG = {"mentions": "the preceding mentions", "words": "all other words"}


def draw_map() -> None:
    """Draw the map of the chosen mentions and direction, and the way to the best head."""
    st.markdown(f"**Head map**: {mentions}, {shown_direction}")
    squares = accuracy_map(result.accuracy[direction, index], mentions)
    alt = f"Map of all heads, layer by head, colored by accuracy on {mentions}"
    page.head_map(squares, "coreference-map", alt, selection)
    if best.head != selection.head:
        label = f"Choose head {best.head.label()}"
        st.button(label, icon=":material/visibility:", on_click=session.choose, kwargs={"head": best.head}, key="look")


@session.fragment
def draw_documents() -> None:
    """Passages with mentions in the color of their chain, and the chosen head's guesses among preceding mentions."""
    title = st.container()
    stored_list = lists.stored_list(result, request)
    query = partial(passage_query, choice, kind)
    total, listed = lists.guesses(stored_list or result, query, PER_PAGE)
    label, separator, rest = list_title(result.with_lists(stored_list), choice.head, kind, total).partition(":")
    title.markdown(
        f"**{label}**{separator}{rest}",
        help=f"{LEGEND} Each guess below a passage is a link to the attention behind it.",
    )
    items = []
    for passage in listed:
        notes = []
        origin = f"{request.source.name}, {passage.where}"
        for guess in passage.listed:
            link = links.to_words(guess.window, choice.head, [guess.head], choice.direction, least=0.0, origin=origin)
            notes.append({"text": guess_text(guess), "link": link})
        drawing = document_figure.draw(passage.document, passage.drawn, LETTERS)
        items.append(page.Drawing(drawing_title(passage), drawing, notes=notes))
    page.drawings(items, "passages", selection.basis)


def draw_table_2() -> None:
    """Draw Table 2, with the paper's numbers beside this run's where both are of one corpus, and the best heads."""
    table = table_of(result, choice)
    title, separator, beside = table.title.partition(":")
    st.markdown(f"**{title}**{separator}{beside}")
    st.dataframe(table.table, hide_index=True, alt="Accuracy by system and type of mention, the paper's in parentheses")
    st.caption(table.note)


def draw_all_heads() -> None:
    """Draw the key numbers, and the accuracy of every head by type of mention."""
    page.metrics(cards_of(result, kind, choice))
    st.markdown(f"**Accuracy of all heads** (%), {shown_direction}")
    decimals = {name: percent_decimals(count) for name, count in zip(TYPE_ROWS, result.n, strict=True)}
    percents = dict(zip(TYPE_ROWS, 100 * result.accuracy[direction], strict=True))
    page.table(head_frame(percents), TYPE_ROWS, selection, "coreference-table", decimals)


def draw_method() -> None:
    """Draw how the corpus was read, and the end of the page."""
    origin = result.provenance
    beyond = "The paper does not measure this direction. " if direction else ""
    st.caption(
        f"All of {n:,} {mentions}. Candidates: {AMONG[result.candidates]}. {beyond}Of all {result.n[0]:,} mentions "
        f"{result.stored.single:,} have only one candidate. Read as {plain(origin['format'])}; head words found by "
        f"{origin['head_words']}."
    )
    endnotes.ending(result, answers, unit="windows")


def draw_export() -> None:
    """Draw the files of what is chosen, with the whole list of guesses where it is stored."""
    now = session.current()  # the list may change without the rest of the page

    def shown() -> Result:
        view = now.view(CoreferenceView).resolve(result)
        return view.choose(result.with_lists(lists.stored_list(result, request)))

    page.downloads(result, shown)


selection = session.selection()
chosen = session.view(CoreferenceView)
request = selection.request("coreference_heads")
computed = stored.result_or_stop(request, CoreferenceHeads)

result = show_mentions(computed, chosen.candidates)
direction = result.directions.index(chosen.resolve(result).direction)
controls, options = page.with_options(page.controls())
with controls:
    kind = widgets.segmented("Mentions", TYPE_ROWS, "kind", chosen.kind, label_visibility="collapsed")
    directions = result.directions
    at = directions[direction]
    widgets.segmented("Direction", directions, "direction", at, format_func=arrow, label_visibility="collapsed")
if options.open:
    about = "`mentions`: the head words of preceding mentions. `words`: any other word (stricter)."
    with options:
        widgets.segmented("Candidates", CANDIDATES, "candidates", chosen.candidates, help=about)
choice = DirectedHead(direction, selection.head)
shown_direction = arrow(DIRECTIONS[direction])
page.restriction(result)
index = TYPE_ROWS.index(kind)
n = int(result.n[index])
mentions = TYPE_NAMES[kind]
if n == 0:
    st.info(f"This corpus has no {mentions} with an antecedent.", icon=":material/info:")
    raise session.PageEnd
best = result.best(kind, direction)
page.finding(finding_of(result, kind, direction), bold=True)
if result.candidates == "mentions" and 2 * result.stored.single > result.n[0]:
    st.info(
        "Most mentions have only one candidate, so no head can be wrong about them: the file marks few mentions "
        "(like WinoBias). Choose “words” as candidates.",
        icon=":material/info:",
    )
left, right = st.columns([2, 3], gap="medium")
with left:
    draw_map()
with right:
    draw_documents()
table_2, types, distances, numbers, method, export = st.tabs(TABS)
with table_2:
    draw_table_2()
of_groups = {chart.name: chart for chart in group_charts(result, kind, choice)}
with types:
    blocks.draw([of_groups["coreference-type"]], nested=True)
    if gender := of_groups.get("coreference-gender"):
        endnotes.folded(gender.title, ":material/wc:", "gender", blocks.draw, [gender], nested=True)
with distances:
    blocks.draw([of_groups["coreference-distance"]], nested=True)
with numbers:
    draw_all_heads()
with method:
    draw_method()
with export:
    draw_export()
