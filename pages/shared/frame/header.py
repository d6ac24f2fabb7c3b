"""The frame of every page: navigation and jobs in the sidebar, and under the title the choice of what is shown."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.engine.recent_models import recent_models, remember_model
from bertviz_core.errors import InputError
from bertviz_core.heads import Head, all_heads, all_labels
from bertviz_core.models.checkpoint import DEMO, Checkpoint, find, short_names
from bertviz_core.models.model_sources import models as allowed_models
from bertviz_core.settings import DTYPES, MODES, WEIGHTS, Settings
from pages.shared import jobs, messages, services, widgets
from pages.shared.components import component
from pages.shared.frame import corpora, links, neighbor
from pages.shared.state import session
from pages.shared.state.choices import Header, Tour
from pages.shared.state.selection import Basis, Selection

STYLE = Path(__file__).with_name("appearance.css")  # of all pages
# Label of the setting, as messages name it.
MAX_LENGTH = "Maximum tokens per input"


def draw(entry: links.Entry, default_head: Callable[[str, Selection], Head]) -> Selection:
    """Draw the frame of a page, which opens on `default_head`; raises BertvizError for a missing model or corpus."""
    now = session.current()
    with st.sidebar:
        st.markdown("**What does it look at?**  \nThe attention heads of a transformer, one by one.")
        if problem := services.store().problem:
            st.warning(f"{messages.plain(problem.what)} {messages.plain(problem.hint)}", icon=":material/database_off:")
        jobs.announce()
        menu = st.container()
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="page-header", wrap=False)
    now.title_line = line
    now.title = line.empty()
    retitle(entry.title)
    line.caption(messages.plain(entry.section), wrap=False)
    try:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="page-choices", wrap=False):
            checkpoint = _model(now, entry)
            opened = corpora.choose(entry.corpora)
            settings = _settings(now.header, checkpoint, entry)
        corpora.check(entry.corpora, opened)
        checkpoint = replace(checkpoint, digest=checkpoint.fingerprint())  # so that its files are looked at once
        base = 0 if now.header.zero else 1
        sources = {kind: source for kind, source in opened.items() if not isinstance(source, InputError)}
        selection = Selection(checkpoint, sources, settings, Head(0, 0), base)
        selection = replace(selection, basis=_basis(entry, selection))
        with line:
            selection = replace(selection, head=_head(selection, partial(default_head, entry.name, selection)))
    finally:  # the menu's links carry choices
        with menu:
            data = {"sections": links.menu(), "current": entry.name, "viewer": links.VIEWER.name}
            component("menu")(data=data, key="menu")
    now.selection = selection
    corpora_shown = selection.basis.corpora
    tab = f"{entry.title}: {checkpoint.label} on {corpora_shown}" if corpora_shown else entry.title
    st.set_page_config(page_title=tab)
    with line:
        if entry.name != "tour" and (step := now.pages[entry.name].tour):
            links.to(Tour(step=step), f"Tour, slide {step}", links.BACK)
    return selection


def retitle(text: str) -> None:
    """Draw the page's title, in place of an earlier one."""
    title = session.current().title
    assert title is not None, "the header is drawn before the page"
    title.title(text, anchor=False, width="content")


def title_line() -> DeltaGenerator:
    """The container of the title, in which a page may draw too."""
    line = session.current().title_line
    assert line is not None, "the header is drawn before the page"
    return line


def _basis(entry: links.Entry, selection: Selection) -> Basis:
    """What stands under the figures of a page and in the names of its files, unless the page has a basis of its own."""
    model = selection.checkpoint
    settings = selection.settings
    sources = [selection.corpora[kind] for kind in entry.corpora]
    names = ", ".join(source.name for source in sources)
    described = ", ".join(f"{source.name} ({source.digest[:8]})" for source in sources)
    if entry is links.VIEWER:
        names = described = "one text"
    mode = "as in the paper" if settings.paper else "corrected"
    if settings.weights == "norms" and entry.reads_maps:
        mode += ", norms in place of weights"
    caption = f"{model.label} ({model.fingerprint()[:8]}), {described}, {mode}; after Clark et al. 2019"
    return Basis(caption, model.label, names)


def _model(now: session.Session, entry: links.Entry) -> Checkpoint:
    """Draw the choice of the model, on a page that is about it."""
    access = services.access()
    if not entry.has_model:
        return find(now.header.model, access=access)
    own = [DEMO, *allowed_models(access)]
    if not now.models:
        latest = [] if access.public else recent_models(services.store())
        now.models = list(dict.fromkeys([*own, *latest]))
    checkpoint = pick_model("Model", now.models, "model", now.header.model)
    name = checkpoint.name
    if now.remembered_model != name:
        now.remembered_model = name
        if not access.public and name not in own:
            remember_model(services.store(), name)
    return checkpoint


def pick_model(
    label: str,
    known: list[str],
    field: str,
    value: str,
    width: int | Literal["stretch"] = "stretch",
    label_visibility: Literal["visible", "collapsed"] = "visible",
) -> Checkpoint:
    """Draw the choice of a model, and find its files; a model that is not yet `known` is added."""
    access = services.access()
    if value not in known:
        known.append(value)
    names = short_names(known)
    chosen = f" Chosen: `{value}`." if names[value] != value else ""
    entered = ""
    if access.folders is None:
        entered += ", or enter a local folder (written by save_pretrained)"
    if access.downloads != 0:
        entered += ", or enter a hub name, also with a revision: owner/name@revision"
    name = widgets.select(
        label,
        known,
        field,
        value,
        width=width,
        label_visibility=label_visibility,
        help=f"`demo` ships with the project. Choose from the list{entered}.{chosen}",
        format_func=lambda name: names.get(name, name),
        accept_new_options=bool(entered),
    )
    return find(name or DEMO, access=access)


def _settings(chosen: Header, checkpoint: Checkpoint, entry: links.Entry) -> Settings:
    """Draw the settings, those that seldom change in a popover."""
    if entry.has_settings:
        _often_changed(chosen, entry)
    longest = checkpoint.max_length or 512
    chosen_length = chosen.max_length
    length = chosen_length if chosen_length and chosen_length <= longest else min(128, longest)
    panel = widgets.popover("", ":material/tune:", "more-settings", help="More settings")
    if panel.open:
        with panel:
            if entry.has_settings:
                _seldom_changed(chosen, length, longest)
            widgets.toggle("Count heads from 0", "zero", chosen.zero, help="Labels as in arrays: 0-0 for 1-1.")
            if entry.has_model:
                _describe(checkpoint)
    return Settings(length, chosen.limit or None, chosen.seed, chosen.mode, chosen.dtype, chosen.weights)


def _often_changed(chosen: Header, entry: links.Entry) -> None:
    about = "`paper` follows the authors' code: all token types zero, smoothed entropies."
    widgets.select("Mode", MODES, "mode", chosen.mode, width=118, help=about)
    about = (
        "`norms` multiplies each attention weight by the length of the vector that the token passes on (Kobayashi et "
        "al. 2020). It does not affect sink gradients and ablation."
    )
    is_fixed = not entry.reads_maps
    widgets.select("Weights", WEIGHTS, "weights", chosen.weights, width=118, disabled=is_fixed, help=about)


def _seldom_changed(chosen: Header, length: int, longest: int) -> None:
    about = f"At most {longest} here. Longer inputs are cut or skipped, and counted."
    widgets.number(MAX_LENGTH, "max_length", length, longest, help=about)
    widgets.number("Limit inputs (0 = all)", "limit", chosen.limit)
    widgets.number("Random seed", "seed", chosen.seed)
    about = "bfloat16 is for previews: errors up to 0.006 nats."
    widgets.select("Precision", DTYPES, "dtype", chosen.dtype, help=about)


def _describe(checkpoint: Checkpoint) -> None:
    size = f"{checkpoint.layers} × {checkpoint.heads} heads, {checkpoint.parameters() / 1e6:,.0f} M parameters"
    st.caption(f"Model: {size}, device: auto.")


def _head(selection: Selection, default: Callable[[], Head]) -> Head:
    """Draw the choice of a head between its two buttons; the default is shown until the reader chooses."""
    model = selection.checkpoint
    heads = all_heads(model.layers, model.heads)
    chosen = session.current().header.head
    value = chosen if chosen in heads else default()
    options = all_labels(model.layers, model.heads)
    labels = dict(zip(options, all_labels(model.layers, model.heads, selection.base), strict=True))
    with st.container(horizontal=True, gap="xxsmall", width="content", wrap=False):
        st.button("Previous head", key="step-previous", on_click=_step, args=(value, options, -1))
        widgets.head(
            "Head",
            (model.layers, model.heads),
            "head",
            value,
            label_visibility="collapsed",
            width=131,
            format_func=lambda option: f"Head {labels[option]}",
        )
        st.button("Next head", key="step-next", on_click=_step, args=(value, options, 1))
    return value


def _step(head: Head, options: Sequence[str], step: int) -> None:
    session.choose(head=Head.parse(neighbor(head.label(), options, step)))
