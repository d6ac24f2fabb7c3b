"""The frame of every page: navigation and jobs in the sidebar, the title with the head, and the line under it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.engine.recent_models import recent_models, remember_model
from bertviz_core.errors import BertvizError, DownloadNeeded, InputError
from bertviz_core.heads import Head, all_heads, all_keys, all_labels
from bertviz_core.models.checkpoint import DEMO, SHIPPED_MODELS, Checkpoint, find_checkpoint
from bertviz_core.models.hub_questions import HubPending
from bertviz_core.models.model_sources import models as allowed_models
from pages.shared import jobs, messages, services, widgets
from pages.shared.components import component
from pages.shared.frame import context, corpora, links, neighbor
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices, HeadChoices, TourChoices
from pages.shared.state.kinds import kind_of
from pages.shared.state.selection import Basis, Selection

JOB_SLOT = 64  # pixels: the height of the place of the running jobs


def draw(entry: links.PageEntry, default_head: Callable[[str, Selection], Head]) -> Selection:
    """Draw the frame of a page, which opens on `default_head`; raises BertvizError for a missing model or corpus."""
    now = session.current()
    place_of_link, menu = _sidebar()
    place_of_head = _title(now, entry)
    try:
        selection = _choose(now, entry)
        with place_of_head:
            selection = replace(selection, head=_head(selection, partial(default_head, entry.name, selection)))
    finally:  # The menu comes last, because its links carry the choices.
        if entry.name != HeadChoices.page_name:  # whose link stands beside its file
            with place_of_link:
                copy_link(are_icons=True)
        with menu:
            data = {"sections": links.menu(), "current": entry.name, "viewer": links.VIEWER.name}
            component("menu")(data=data, key="menu")
    now.selection = selection
    corpora_shown = selection.basis.corpora
    tab = f"{entry.title}: {selection.checkpoint.label} on {corpora_shown}" if corpora_shown else entry.title
    st.set_page_config(page_title=tab)
    with title_line():
        if entry.name != "tour" and (step := now.pages[entry.name].tour):
            links.to(TourChoices(step=step), f"Tour, slide {step}", links.BACK)
    return selection


def _sidebar() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Draw the sidebar; returns the place of the link, and that of the menu, above which the jobs have a place that is
    always as high."""
    with st.sidebar:
        name = st.container(horizontal=True, vertical_alignment="center", key="app-name", wrap=False)
        name.markdown("**What does it look at?**", width="content")
        with st.container(key="job-slot", height=JOB_SLOT, border=False, gap="xxsmall"):
            jobs.announce()
        if problem := services.store().problem:
            st.warning(f"{messages.plain(problem.what)} {messages.plain(problem.hint)}", icon=":material/database_off:")
        return name, st.container()


def _title(now: session.Session, entry: links.PageEntry) -> DeltaGenerator:
    """Draw the page's title and its section; returns the place of the head, at the right."""
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="page-header", wrap=False)
    now.title = line.empty()
    retitle(entry.title)
    line.caption(messages.plain(entry.section), wrap=False)
    right = line.container(key="page-head", horizontal=True, vertical_alignment="center", gap="xsmall", width="content")
    now.title_line = right.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content")
    return right


def _choose(now: session.Session, entry: links.PageEntry) -> Selection:
    """Draw the line under the title, and in it the place of the page's own choices; returns what is chosen, without the
    head. Raises BertvizError for a missing model or corpus."""
    kinds = entry.corpora if now.of_page(kind_of(entry.name)).reads_header else ()
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="page-choices")
    now.choices_line = line
    with line:
        corpora.take(kinds)
        checkpoint = _find_model(now, entry)
        opened = corpora.opened()
        context.draw(entry, kinds, checkpoint, opened)
    if isinstance(checkpoint, BertvizError):
        _refuse(checkpoint)
    corpora.check(kinds, opened, needed=set() if entry.does_without else set(kinds))
    # The digest is set here so that the files are looked at only once.
    checkpoint = replace(checkpoint, digest=checkpoint.fingerprint())
    sources = {kind: source for kind, source in opened.items() if not isinstance(source, InputError)}
    selection = Selection(checkpoint, sources, context.settings(now.header, checkpoint), Head(0, 0))
    return replace(selection, basis=_basis(entry, selection))


def copy_link(*, are_icons: bool) -> None:
    """Draw the button that copies the page's address and, where other sites may show the app in a frame, one that
    copies the frame."""
    data = {
        "icons": are_icons,
        "sites": ", ".join(services.access().frame_ancestors),
        "copied": "Copied, without your file" if session.has_private_upload() else "Copied",
    }
    component("copy_link")(data=data, key="copy-link", width="content")


def _refuse(problem: BertvizError) -> NoReturn:
    """End the page with what is wrong with the model, and a button that chooses the one that ships; a model that is not
    here yet is offered or awaited."""
    if isinstance(problem, DownloadNeeded | HubPending):
        raise problem
    messages.error(problem)
    st.button(f"Use the model “{DEMO}”", on_click=session.choose, kwargs={"model": DEMO}, icon=":material/undo:")
    raise session.PageEnd


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


def _basis(entry: links.PageEntry, selection: Selection) -> Basis:
    """What stands under the figures of a page and in the names of its files, unless the page has a basis of its own."""
    model = selection.checkpoint
    settings = selection.settings
    sources = [selection.corpora[kind] for kind in entry.corpora if kind in selection.corpora]
    names = ", ".join(dict.fromkeys(source.name for source in sources))
    described = ", ".join(f"{source.name} ({source.digest[:8]})" for source in sources)
    if entry is links.VIEWER:
        names = described = session.current().of_page(AttentionViewerChoices).origin or "one text"
    mode = "as in the paper" if settings.paper else "corrected"
    if settings.weights == "norms" and entry.reads_maps:
        mode += ", norms in place of weights"
    caption = f"{model.label} ({model.fingerprint()[:8]}), {described}, {mode}; after Clark et al. 2019"
    return Basis(caption, model.label, names)


def _find_model(now: session.Session, entry: links.PageEntry) -> Checkpoint | BertvizError:
    """The model of the header, or why it cannot be used; it is remembered where the page is about it."""
    access = services.access()
    own = [*SHIPPED_MODELS, *allowed_models(access)]
    if not now.models:
        latest = [] if access.public else recent_models(services.store())
        now.models = list(dict.fromkeys([*own, *latest]))
    try:
        checkpoint = find_checkpoint(now.header.model or DEMO, access=access)
    except BertvizError as problem:
        return problem
    name = checkpoint.name
    if entry.has_model and now.remembered_model != name:
        now.remembered_model = name
        if not access.public and name not in own:
            remember_model(services.store(), name)
    return checkpoint


def _head(selection: Selection, default: Callable[[], Head]) -> Head:
    """Draw the choice of a head between its two buttons; the default is shown until the reader chooses."""
    model = selection.checkpoint
    heads = all_heads(model.layers, model.heads)
    chosen = session.current().header.head
    value = chosen if chosen in heads else default()
    options = all_keys(model.layers, model.heads)
    labels = dict(zip(options, all_labels(model.layers, model.heads), strict=True))
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
    session.choose(head=Head.parse(neighbor(head.key(), options, step)))
