"""Coreference heads: which head's attention points from a mention to its antecedent (section 4.3; Table 2)."""

from functools import partial
from typing import Any

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.base.result import head_frame
from bertviz_core.analyses.coreference_heads import document_figure, passages
from bertviz_core.analyses.coreference_heads.baselines import CHANCE, COMPARED, RANDOM
from bertviz_core.analyses.coreference_heads.figure import BY_DISTANCE, BY_TYPE, by_group
from bertviz_core.analyses.coreference_heads.groups import TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, DIRECTIONS, answers
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads, CoreferenceView
from bertviz_core.analyses.coreference_heads.statements import type_finding
from bertviz_core.corpora.files import SAMPLES
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.plotting import percent, percent_decimals
from bertviz_core.plotting.head_map import accuracy_map
from bertviz_core.writing import isolated
from pages.shared import endnotes, page, stored, widgets
from pages.shared.frame import links
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import CoreferenceHeads as Choices
from pages.shared.views import lists

PAPER_HEAD = "head 5-4"
PAPER_SYSTEMS = ("nearest", "head match", "rule-based")
PER_PAGE = 3  # passages on one page
AMONG = {"mentions": "the preceding mentions", "words": "all other words"}


def draw_genders() -> None:
    drawing = page.drawn(by_group, result, systems, base, "gender")
    alt = "Accuracy of the chosen head and of the baselines on masculine, feminine and neuter pronouns"
    page.chart(drawing, "coreference-gender", alt, selection.basis)


@session.fragment
def draw_documents() -> None:
    """Passages with mentions in the color of their chain, and the chosen head's guesses among preceding mentions."""
    st.header(f"Guesses of head {selection.label}")
    query = partial(passages.PassageQuery, choice, kind=kind)
    names = ("guesses", "over", "document_search", "passage_page")
    is_whole = len(result.stored.items) == result.n[0]
    total, listed, is_all = lists.guesses(result, request, is_whole, query, PER_PAGE, names)
    part = "" if is_all else f" in the documents of the first {passages.MAX_ITEMS:,} of {result.n[0]:,} mentions"
    only = "" if kind == TYPE_ROWS[0] else f", with guesses for {mentions} only"
    st.caption(
        f"{total:,} passages{part}{only}. Head words are bold; mentions of one chain have one color. A green box with "
        "a check mark: the guess is right; a red, dashed one with a cross: it is wrong. Point at a box to see what is "
        "guessed. Each guess below a passage is a link to the attention behind it."
    )
    items = []
    for passage in listed:
        outside = len(passage.listed) - len(passage.drawn)
        more = f"; guesses that point out of the passage, listed alone: {outside}" if outside else ""
        title = f"{passage.where}: {passage.right} of {passage.total} guesses right{more}"
        notes = []
        for guess in passage.listed:
            mark = "✓" if guess.right else "✗"
            text = f"{mark} {isolated(guess.mention)} → {isolated(guess.guessed)} {guess.weight:.3f}"
            link = links.to_words(guess.window, choice.head, [guess.head], choice.direction, least=0.0)
            notes.append({"text": text, "link": link})
        items.append(page.Drawing(title, document_figure.draw(passage.document, passage.drawn), notes=notes))
    page.drawings(items, "passages", selection.basis)


selection = session.selection()
base = selection.base
chosen = session.page(Choices)
request = selection.request("coreference_heads")
computed = stored.result_or_stop(request, CoreferenceHeads)

result = memoize(CoreferenceHeads.show, computed, chosen.candidates)
direction = chosen.resolve(result)
with page.row(key="page-controls"):
    kind = widgets.segmented("Mentions", TYPE_ROWS, "kind", chosen.kind)
    about = "`mentions`: the head words of preceding mentions. `words`: any other word (stricter)."
    widgets.segmented("Candidates", CANDIDATES, "candidates", chosen.candidates, help=about)
    about = "The paper measures mention → antecedent; its numbers are shown for that direction only."
    directions = result.directions
    label = "Direction of attention"
    widgets.segmented(label, directions, "direction", directions[direction], format_func=arrow, help=about)
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
view = CoreferenceView(chosen.candidates, kind, DIRECTIONS[direction], selection.head.label())
shown = memoize(CoreferenceView.choose, view, result)
page.finding(memoize(type_finding, result, kind, direction, base), bold=True)
if result.candidates == "mentions" and 2 * result.stored.single > result.n[0]:
    st.info(
        "Most mentions have only one candidate, so no head can be wrong about them: the file marks few mentions "
        "(like WinoBias). Choose “words” as candidates.",
        icon=":material/info:",
    )
if best.head != selection.head:
    label = f"Choose head {best.head.label(base)}"
    st.button(label, icon=":material/visibility:", on_click=session.choose, kwargs={"head": best.head}, key="look")

left, right = st.columns([3, 2], gap="medium")
with left:
    systems = (choice, *COMPARED)
    st.markdown(f"**{BY_TYPE}**, {shown_direction}")
    alt = "Accuracy of the chosen head and of the baselines on each type of mention, with intervals"
    page.chart(page.drawn(by_group, result, systems, base, "type"), "coreference-type", alt, selection.basis)
with right:
    values = result.accuracy[direction, index]
    st.markdown(f"**Head map**: {mentions}, {shown_direction}")
    squares = memoize(accuracy_map, values, mentions, base)
    alt = f"Map of all heads, layer by head, colored by accuracy on {mentions}"
    page.head_map(squares, "coreference-map", alt, selection)

origin = result.provenance
is_sample = origin["corpus"]["name"] in SAMPLES["coreference"]
is_comparable = "CoNLL-2012" in origin["format"] and not is_sample
cited: dict[str, tuple[int, ...]] = paper.TABLE_2 if is_comparable else {}  # which is of CoNLL-2012
paper_notes = {name: f"paper: {numbers[index]}%" for name, numbers in cited.items() if index < len(numbers)}
note = "" if direction else paper_notes.get(PAPER_HEAD, "")
entries = [(f"Best head: {best.head.label(base)}", percent(result.row(best, kind)["accuracy"], n), note)]
if result.is_causal and kind == TYPE_ROWS[0]:
    of_all_mentions = percent(result.row(best)["accuracy_of_all_mentions"], result.of_all)
    entries.append(("Best head, of all mentions", of_all_mentions, f"of {result.of_all:,}"))
for name in (CHANCE, RANDOM, *PAPER_SYSTEMS):
    entries.append((name.capitalize(), percent(result.of_system(name)[index], n), paper_notes.get(name, "")))
page.metrics(entries)
beyond = "The paper does not measure this direction. " if direction else ""
st.caption(
    f"All of {n:,} {mentions}. Candidates: {AMONG[result.candidates]}. {beyond}Of all {result.n[0]:,} mentions "
    f"{result.stored.single:,} have only one candidate. Read as {plain(origin['format'])}; head words found by "
    f"{origin['head_words']}."
)

accuracy = result.accuracy.transpose(0, 2, 3, 1)  # (direction, layer, head, type)
paper_best = result.best()
paper_row = f"best head, {paper_best.head.label(base)}"
by_type = [result.best(name) if count else None for name, count in zip(TYPE_ROWS, result.n, strict=True)]
shares: dict[str, Any] = dict(zip(result.systems, result.systems_accuracy, strict=True))
shares[paper_row] = accuracy[paper_best.at]
shares["best head for each type"] = [
    accuracy[directed.at][index] if directed else float("nan") for index, directed in enumerate(by_type)
]
for index in range(1, len(result.directions)):
    other = result.best(direction=index)
    name = f"{arrow(DIRECTIONS[index])}: best head, {other.head.label(base)}"
    shares[name] = accuracy[other.at]
name = f"{shown_direction}: chosen head, {selection.label}"
shares[name] = accuracy[choice.at]
rows = []
for name, by_kind in shares.items():
    cells = [percent(share, count).removesuffix("%") for share, count in zip(by_kind, result.n, strict=True)]
    paper_name = PAPER_HEAD if name == paper_row else name
    for index, number in enumerate(cited.get(paper_name, ())):
        cells[index] += f" ({number})"
    rows.append({"system": name} | dict(zip(TYPE_ROWS, cells, strict=True)))
beside = "; in parentheses: the paper's, on CoNLL-2012" if cited else ""
st.markdown(f"**Table 2**: accuracy (%), mention → antecedent{beside}")
st.dataframe(rows, hide_index=True, alt="Accuracy by system and type of mention, the paper's in parentheses")
labels = [directed.head.label(base) if directed else "none" for directed in by_type]
neural = (
    f"Wiseman et al.'s neural system reaches {paper.TABLE_2['neural coreference'][0]} in the paper." if cited else ""
)
counts = [f"{name} {count:,} ({head})" for name, count, head in zip(TYPE_ROWS, result.n, labels, strict=True)]
st.caption(f"n and best head: {', '.join(counts)}. {neural}")
st.markdown(f"**{BY_DISTANCE}**, {shown_direction}")
alt = "Accuracy of the chosen head and of the baselines against the distance to the antecedent, with intervals"
page.chart(page.drawn(by_group, result, systems, base), "coreference-distance", alt, selection.basis)
if result.scores(choice).of("gender").n.any():
    endnotes.folded("Accuracy by gender of the pronoun", ":material/wc:", "gender", draw_genders)

draw_documents()
st.header(f"Accuracy of all heads (%), {shown_direction}")
decimals = {name: percent_decimals(count) for name, count in zip(TYPE_ROWS, result.n, strict=True)}
percents = dict(zip(TYPE_ROWS, 100 * result.accuracy[direction], strict=True))
page.table(memoize(head_frame, percents), TYPE_ROWS, selection, "coreference-table", decimals)
page.downloads(shown)
endnotes.ending(result, answers, unit="windows")
