"""Coreference heads: which head's attention points from a mention to its antecedent (section 4.3; Table 2)."""

from functools import partial
from typing import Any

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.coreference_heads import document_figure, passages
from bertviz_core.analyses.coreference_heads.baselines import CHANCE, COMPARED, RANDOM
from bertviz_core.analyses.coreference_heads.figure import BY_TYPE, by_distance_title, by_group
from bertviz_core.analyses.coreference_heads.groups import TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, DIRECTIONS, answers
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads, CoreferenceView
from bertviz_core.analyses.coreference_heads.statements import type_finding
from bertviz_core.corpora.files import SAMPLES
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.plotting import percent, percent_decimals
from bertviz_core.text_display import isolated
from pages.shared import endnotes, page, stored, widgets
from pages.shared.costly import accuracy_map, head_frame, show_mentions
from pages.shared.frame import links
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.analysis_choices import CoreferenceHeadsChoices
from pages.shared.views import lists

finding_of = memoized(type_finding)

PAPER_HEAD = "head 5-4"
PAPER_SYSTEMS = ("nearest", "head match", "rule-based")
PER_PAGE = 1  # passages on one page, of several sentences
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
    query = partial(passages.PassageQuery, choice, kind=kind)
    names = ("guesses", "over", "document_search", "passage_page")
    is_whole = len(result.stored.items) == result.n[0]
    total, listed, is_all = lists.guesses(result, request, is_whole, query, PER_PAGE, names)
    part = "" if is_all else f" in the documents of the first {passages.MAX_ITEMS:,} of {result.n[0]:,} mentions"
    only = "" if kind == TYPE_ROWS[0] else f", with guesses for {mentions} only"
    about = (
        "Head words are bold; mentions of one chain have one color. A green box with a check mark: the guess is right; "
        "a red, dashed one with a cross: it is wrong. Point at a box to see what is guessed. Each guess below a "
        "passage is a link to the attention behind it."
    )
    title.markdown(f"**Guesses of head {selection.label}**: {total:,} passages{part}{only}", help=about)
    items = []
    for passage in listed:
        outside = len(passage.listed) - len(passage.drawn)
        more = f"; guesses that point out of the passage, listed alone: {outside}" if outside else ""
        where = f"{passage.where}: {passage.right} of {passage.total} guesses right{more}"
        notes = []
        origin = f"{request.source.name}, {passage.where}"
        for guess in passage.listed:
            mark = "✓" if guess.right else "✗"
            text = f"{mark} {isolated(guess.mention)} → {isolated(guess.guessed)} {guess.weight:.3f}"
            link = links.to_words(guess.window, choice.head, [guess.head], choice.direction, least=0.0, origin=origin)
            notes.append({"text": text, "link": link})
        drawing = document_figure.draw(passage.document, passage.drawn, LETTERS)
        items.append(page.Drawing(where, drawing, notes=notes))
    page.drawings(items, "passages", selection.basis)


def cited() -> dict[str, tuple[int, ...]]:
    """The paper's Table 2, beside numbers of the corpus that it is about."""
    origin = result.provenance
    is_sample = origin["corpus"]["name"] in SAMPLES["coreference"]
    return paper.TABLE_2 if "CoNLL-2012" in origin["format"] and not is_sample else {}


def key_numbers() -> list[page.Metric]:
    """The best head and the baselines, beside the paper's."""
    printed = {name: f"paper: {numbers[index]}%" for name, numbers in cited().items() if index < len(numbers)}
    note = "" if direction else printed.get(PAPER_HEAD, "")
    entries = [(f"Best head: {best.head.label()}", percent(result.row(best, kind)["accuracy"], n), note)]
    if result.is_causal and kind == TYPE_ROWS[0]:
        of_all_mentions = percent(result.row(best)["accuracy_of_all_mentions"], result.of_all)
        entries.append(("Best head, of all mentions", of_all_mentions, f"of {result.of_all:,}"))
    for name in (CHANCE, RANDOM, *PAPER_SYSTEMS):
        entries.append((name.capitalize(), percent(result.of_system(name)[index], n), printed.get(name, "")))
    return entries


def systems_by_type() -> dict[str, Any]:
    """The accuracy of each system on each type of mention."""
    accuracy = result.accuracy.transpose(0, 2, 3, 1)  # (direction, layer, head, type)
    shares: dict[str, Any] = dict(zip(result.systems, result.systems_accuracy, strict=True))
    shares[paper_row] = accuracy[paper_best.at]
    shares["best head for each type"] = [
        accuracy[directed.at][row] if directed else float("nan") for row, directed in enumerate(by_type)
    ]
    for other in range(1, len(result.directions)):
        directed = result.best(direction=other)
        shares[f"{arrow(DIRECTIONS[other])}: best head, {directed.head.label()}"] = accuracy[directed.at]
    return shares | {f"{shown_direction}: chosen head, {selection.label}": accuracy[choice.at]}


def draw_table_2() -> None:
    """Draw Table 2, with the paper's numbers beside this run's where both are of one corpus, and the best heads."""
    rows = []
    printed = cited()
    for name, by_kind in systems_by_type().items():
        cells = [percent(share, count).removesuffix("%") for share, count in zip(by_kind, result.n, strict=True)]
        for row, number in enumerate(printed.get(PAPER_HEAD if name == paper_row else name, ())):
            cells[row] += f" ({number})"
        rows.append({"system": name} | dict(zip(TYPE_ROWS, cells, strict=True)))
    beside = "; in parentheses: the paper's, on CoNLL-2012" if printed else ""
    st.markdown(f"**Table 2**: accuracy (%), mention → antecedent{beside}")
    st.dataframe(rows, hide_index=True, alt="Accuracy by system and type of mention, the paper's in parentheses")
    labels = [directed.head.label() if directed else "none" for directed in by_type]
    counts = [f"{name} {count:,} ({head})" for name, count, head in zip(TYPE_ROWS, result.n, labels, strict=True)]
    neural = ""
    if printed:
        neural = f"Wiseman et al.'s neural system reaches {printed['neural coreference'][0]} in the paper."
    st.caption(f"n and best head: {', '.join(counts)}. {neural}")


def draw_groups(title: str, key: str, about: str, grouping: str) -> None:
    """The chart of the chosen head and the baselines by a grouping of mentions."""
    st.markdown(f"**{title}**, {shown_direction}")
    alt = f"Accuracy of the chosen head and of the baselines {about}, with intervals"
    page.chart(page.drawn(by_group, result, systems, grouping, kind), key, alt, selection.basis)


def draw_genders() -> None:
    """Draw the accuracies by gender of the pronoun."""
    drawing = page.drawn(by_group, result, systems, "gender")
    alt = "Accuracy of the chosen head and of the baselines on masculine, feminine and neuter pronouns"
    page.chart(drawing, "coreference-gender", alt, selection.basis)


def draw_all_heads() -> None:
    """Draw the key numbers, and the accuracy of every head by type of mention."""
    page.metrics(key_numbers())
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


selection = session.selection()
chosen = session.page(CoreferenceHeadsChoices)
request = selection.request("coreference_heads")
computed = stored.result_or_stop(request, CoreferenceHeads)

result = show_mentions(computed, chosen.candidates)
direction = chosen.resolve(result)
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
view = CoreferenceView(chosen.candidates, kind, DIRECTIONS[direction], selection.head.key())
shown = view.choose(result)
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
systems = (choice, *COMPARED)
paper_best = result.best()
paper_row = f"best head, {paper_best.head.label()}"
by_type = [result.best(name) if count else None for name, count in zip(TYPE_ROWS, result.n, strict=True)]
table_2, types, distances, numbers, method, export = st.tabs(TABS)
with table_2:
    draw_table_2()
with types:
    draw_groups(BY_TYPE, "coreference-type", "on each type of mention", "type")
    if result.scores(choice).of("gender").n.any():
        endnotes.folded("Accuracy by gender of the pronoun", ":material/wc:", "gender", draw_genders)
with distances:
    draw_groups(by_distance_title(kind), "coreference-distance", "against the distance to the antecedent", "distance")
with numbers:
    draw_all_heads()
with method:
    draw_method()
with export:
    page.downloads(shown)
