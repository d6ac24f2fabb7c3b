"""Probes: how much syntax the maps of all heads together encode (section 5; Table 3)."""

from dataclasses import replace
from functools import partial
from typing import Literal

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.probes import page_parts
from bertviz_core.analyses.probes.figure import (
    distance_figure,
    paper_figure,
    sentence_drawing,
    title,
    weight_maps,
)
from bertviz_core.analyses.probes.options import AS_RELEASED, PROBES, ProbeOptions
from bertviz_core.analyses.probes.page_parts import PER_PAGE
from bertviz_core.analyses.probes.result import Probes, ProbesView
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.treebank import ALL
from bertviz_core.errors import BertvizError, InputError
from bertviz_core.heads import arrow
from pages.shared import endnotes, messages, page, stored, uploads, widgets
from pages.shared.costly import findings_of
from pages.shared.frame import links
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.analysis_choices import ProbesChoices
from pages.shared.views import lists

maps_of = memoized(weight_maps)
relations_of = memoized(page_parts.relations_part)
scores_of = memoized(page_parts.scores_part)
weights_of = memoized(page_parts.weights_part)

DECIMAL = st.column_config.NumberColumn(format="%.1f")
Role = Literal["dev", "vectors"]
FILES: dict[Role, tuple[str, str]] = {  # beside the treebank, by their parameter in the address: kind, label
    "dev": ("treebank", "Test treebank (default: a fifth of the sentences is held out)"),
    "vectors": ("vectors", "Word vectors in GloVe format (default: the model's input embeddings)"),
}


def choose_file(role: Role) -> Source | None:
    """Draw the uploader of a file, and what can be done with the file in use; None without one."""
    kind, label = FILES[role]

    def begin() -> None:
        if file := widgets.entered(role):  # None where the reader has removed a file from the uploader
            uploads.begin([(file.name, file.getvalue())], kind, role, fixed=True)

    st.file_uploader(label, key=role, on_change=begin)
    try:
        if new := uploads.take(role):
            session.choose(**{role: new})
        address = getattr(session.page(ProbesChoices), role)
        if address and address not in uploads.visible(kind):
            session.choose(**{role: ""})
            uploads.open_link(address, kind)
            session.choose(**{role: address})
    except BertvizError as problem:
        messages.error(problem)
    address = getattr(session.page(ProbesChoices), role)
    try:
        upload = uploads.find(address, kind)
    except InputError:  # The file was deleted meanwhile; the next run computes without it.
        session.choose(**{role: ""})
        raise
    if upload is None:
        return None
    with page.row("center"):
        st.caption(f"In use: “{plain(upload.name)}”, stored {uploads.lifetime()}.")
        none: dict[str, str] = {role: ""}
        st.button("Stop using", key=f"{role}-stop", on_click=session.choose, kwargs=none, icon=":material/close:")
        icon = ":material/delete:"
        st.button("Delete now", key=f"{role}-delete", on_click=stop_using, args=(role, address), icon=icon)
    return uploads.source(upload)


def stop_using(role: Role, address: str) -> None:
    """Delete a file, and compute without it."""
    uploads.delete(address)
    if address not in uploads.visible(FILES[role][0]):
        session.choose(**{role: ""})


def probe_of(now: ProbesChoices) -> str:
    """The probe whose trees are shown, the result's first where it lacks the chosen one."""
    return now.probe if now.probe in result.probes else shown.choices["probe"]


def reported(now: ProbesChoices) -> ProbesView:
    """What the page shows of the result, as the options of the command say it."""
    return ProbesView(
        probe_of(now), selection.head.key() if len(result.attention) else None, now.probe_search, now.probe_page
    )


@session.fragment
def draw_sentences() -> None:
    """Draw the test sentences with their gold arcs above, and the guesses of a chosen probe below; it draws itself
    anew."""
    st.header("Gold and predicted trees", anchor=False)
    with page.row():
        now = session.page(ProbesChoices)
        probe = probe_of(now)
        widgets.select("Probe", result.probes, "probe", probe, format_func=partial(title, result=result), width=320)
        found = page_parts.matching(result, lists.search_box("probe_search", now.probe_search))
        number = widgets.page_of(len(found), PER_PAGE, "probe_page", now.probe_page)
    st.caption(f"{page_parts.list_note(result, len(found))} {page_parts.LEGEND}")
    items = []
    for sentence in found[PER_PAGE * (number - 1) : PER_PAGE * number]:
        text, svg = sentence_drawing(sentence, probe)
        origin = f"{selection.corpora['treebank'].name}, {sentence['where']}"
        link = links.to_words(sentence["words"], selection.head, origin=origin)
        items.append(page.Drawing(f"{sentence['where']}: {text}", svg, link))
    page.drawings(items, "probe-sentences", selection.basis)


selection = session.selection()
chosen = session.page(ProbesChoices)
with st.expander("Training and scoring", icon=":material/tune:"):
    with page.row():
        epochs = widgets.optional_number("Maximum epochs", "epochs", chosen.epochs, placeholder="default", width=150)
        rank = widgets.number("Rank of the structural probe", "rank", chosen.rank, width=210)
    known = [name for name in chosen.probes if name in PROBES]
    probes = widgets.multiselect("Probes", PROBES, "probes", known, format_func=title)
    files = {role: choose_file(role) for role in FILES}
options = ProbeOptions(probes or PROBES, epochs, rank)
others: dict[str, Source] = {role: source for role, source in files.items() if source}
request = replace(selection.request("probes", options.to_json()), others=others)
result = stored.result_or_stop(request, Probes)
shown = ProbesView().choose(result)

page.restriction(result)
page.finding(findings_of(ANALYSES["probes"], result)[0], bold=True)
left, right = st.columns(2, gap="medium")
with left:
    st.markdown("**Table 3 as a chart**")
    alt = "For each probe its score with its interval" + ", and the paper's score" * result.counts_as_paper
    page.chart(page.drawn(paper_figure, result), "probes-figure", alt, selection.basis)
with right:
    st.markdown("**Accuracy by distance to the governor**")
    alt = "Accuracy of every probe by distance to the governor"
    page.chart(page.drawn(distance_figure, result), "distance-figure", alt, selection.basis)

page.metrics(ANALYSES["probes"].cards(result))

if len(result.attention):
    st.header("Weights of the attention-only probe", anchor=False)
    columns = st.columns(2, gap="medium")
    for column, (way, squares) in zip(columns, maps_of(result).items(), strict=True):
        with column:
            name = arrow(way)
            st.markdown(f"**{name}**: blue favors an arc, orange disfavors it")
            alt = f"Map of all heads colored by the weight of attention {name}"
            page.head_map(squares, f"weights {name}", alt, selection)
    st.markdown(f"**{(weights := weights_of(result, selection.head)).title}**")
    st.dataframe(weights.table, hide_index=True, height="content", alt=weights.title)

scores = scores_of(result)
heading, separator, over = scores.title.partition(";")
st.markdown(f"**{heading.removesuffix(' (%)')}** (%){separator}{over}")
parts = result.about["sentences"]
until = (
    "for one epoch, as the release does"
    if selection.settings.paper
    else "until the loss of held-out sentences of the training part no longer falls"
)
st.caption(f"Trained on {parts['train']:,} sentences, {until}; scored on {parts['test']:,} others.")
formats = dict.fromkeys(("score", "with punctuation", "seconds"), DECIMAL)
formats["parameters"] = st.column_config.NumberColumn(format="localized")
alt = "A row for each probe"
st.dataframe(scores.table, hide_index=True, column_config=formats, placeholder="", height="content", alt=alt)
released = (
    " As released: the notebook scores a candidate with the vector of the next word (a misaligned ROOT); aligned: "
    "with its own vector."
)
is_released = any(probe.endswith(AS_RELEASED) for probe in result.probes)
as_in_paper = (
    ", as in the paper except for its right-branching "
    f"{paper.TABLE_3_WITH_PUNCTUATION['right-branching']}, which is over all words ({paper.TABLE_1[ALL][2]} in "
    "Table 1, offset +1)"
)
beside = as_in_paper if result.counts_as_paper else ""
st.caption(f"UAS excludes punctuation{beside}.{released if is_released else ''}")
if layer := result.about.get("structural"):
    name = f"layer {layer['layer']}" if layer["layer"] else "the embeddings"
    st.caption(f"Best layer of the structural probe, chosen without the test set: {name}; rank {layer['rank']}.")

relations = relations_of(result)
st.markdown("**Accuracy by relation** (%); punctuation is not scored")
st.caption(relations.note)
formats = dict.fromkeys(page_parts.probe_names(result), DECIMAL)
alt = "A row for each relation"
st.dataframe(relations.table, hide_index=True, column_config=formats, placeholder="", height=320, alt=alt)

draw_sentences()

current = session.current()  # the trees may change without the rest of the page
page.downloads(result, lambda: reported(current.of_page(ProbesChoices)).choose(result))
endnotes.ending(result, ANALYSES["probes"], unit="sentences")
