"""The frame of every page: navigation and jobs in the sidebar, and under the title the choice of what is shown."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.engine.recent_models import recent_models, remember_model
from bertviz_core.heads import Head, all_labels
from bertviz_core.models.checkpoint import DEMO, Checkpoint, find, short_names
from bertviz_core.models.sources import models as allowed_models
from bertviz_core.numbers import small_int
from bertviz_core.settings import DTYPES, MODES, WEIGHTS, Settings
from pages.shared import jobs, messages, services
from pages.shared.components import component
from pages.shared.frame import Selection, address, choices, corpora, links, neighbor

STYLE = Path(__file__).with_name("appearance.css")  # of all pages
# Label of the setting, as messages name it.
MAX_LENGTH = "Maximum tokens per input"


def draw(entry: links.Entry, default_head: Callable[[str, Selection], Head]) -> None:
    """Draw the frame of a page, which opens on `default_head`; raises BertvizError for a missing model or corpus."""
    with st.sidebar:
        st.markdown("**What does it look at?**  \nThe attention heads of a transformer, one by one.")
        if problem := services.store().problem:
            st.warning(f"{messages.plain(problem.what)} {messages.plain(problem.hint)}", icon=":material/database_off:")
        jobs.announce()
        menu = st.container()
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="page-header", wrap=False)
    st.session_state["title"] = line.empty()
    st.session_state["title line"] = line
    retitle(entry.title)
    line.caption(messages.plain(entry.section), wrap=False)
    try:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="page-choices", wrap=False):
            checkpoint = _model()
            sources = corpora.choose(entry.corpora)
            settings, base = _settings(checkpoint, entry)
        corpora.check(entry)
        checkpoint = replace(checkpoint, digest=checkpoint.fingerprint())  # so that its files are looked at once
        selection = Selection(checkpoint, sources, settings, Head(0, 0), base)
        with line:
            head = _head(checkpoint, default_head(entry.name, selection), base)
        selection = replace(selection, head=head)
    finally:  # the menu's links carry choices
        with menu:
            component("menu")(data={"sections": links.menu(), "current": entry.name}, key="menu")
    st.session_state["selection"] = selection
    _name_after(entry, selection)
    with line:
        if entry.name != "tour" and (step := small_int(address.get("tour"))):
            links.to("tour", f"Tour, slide {step}", links.BACK, step=str(step))


def current() -> Selection:
    """The selection that `draw` has stored: a page is a script, which takes no arguments."""
    return st.session_state["selection"]


def retitle(text: str) -> None:
    """Draw the page's title, in place of an earlier one."""
    st.session_state["title"].title(text, anchor=False, width="content")


def title_line() -> DeltaGenerator:
    """The container of the title, in which a page may draw too."""
    return st.session_state["title line"]


def _name_after(entry: links.Entry, selection: Selection) -> None:
    """Name the browser's tab, files and figures after the model and corpora that are shown."""
    model = selection.checkpoint
    settings = selection.settings
    sources = [selection.corpora[kind] for kind in entry.corpora]
    names = ", ".join(source.name for source in sources)
    basis = ", ".join(f"{source.name} ({source.digest[:8]})" for source in sources)
    if entry is links.VIEWER:
        names = basis = "one text"
    mode = "as in the paper" if settings.paper else "corrected"
    if settings.weights == "norms" and entry.reads_maps:
        mode += ", norms in place of weights"
    st.session_state["files"] = model.label, names
    st.session_state["origin"] = f"{model.label} ({model.fingerprint()[:8]}), {basis}, {mode}; after Clark et al. 2019"
    st.set_page_config(page_title=f"{entry.title}: {model.label} on {names}" if names else entry.title)


def _model() -> Checkpoint:
    access = services.access()
    own = [DEMO, *allowed_models(access)]
    state = st.session_state
    if "models" not in state:
        latest = [] if access.public else recent_models(services.store())
        state["models"] = list(dict.fromkeys([*own, *latest]))
    checkpoint = pick_model("Model", state["models"], key="model", default=DEMO)
    name = checkpoint.name
    if state.get("model remembered") != name:
        state["model remembered"] = name
        if not access.public and name not in own:
            remember_model(services.store(), name)
    return checkpoint


def pick_model(label: str, known: list[str], *, key: str, default: str, **more: Any) -> Checkpoint:
    """Draw the choice of a model, and find its files; a model that the address names is added to the `known` ones."""
    access = services.access()
    requested = choices.ahead(key, default)
    if requested not in known:
        known.append(requested)
    names = short_names(known)
    chosen = f" Chosen: `{requested}`." if names[requested] != requested else ""
    entered = ""
    if access.folders is None:
        entered += ", or enter a local folder (written by save_pretrained)"
    if access.downloads != 0:
        entered += ", or enter a hub name"
    more["help"] = f"`demo` ships with the project. Choose from the list{entered}.{chosen}"
    more["format_func"] = lambda name: names.get(name, name)
    more["accept_new_options"] = bool(entered)
    name = choices.selectbox(label, known, key=key, default=default, **more)
    return find(name or DEMO, access=access)


def _settings(checkpoint: Checkpoint, entry: links.Entry) -> tuple[Settings, int]:
    """Draw the settings, those that seldom change in a popover; also returns the number of the first layer and head."""
    about = "`paper` follows the authors' code: all token types zero, smoothed entropies."
    mode = choices.selectbox("Mode", MODES, default=MODES[0], key="mode", width=118, help=about)
    about = (
        "`norms` multiplies each attention weight by the length of the vector that the token passes on (Kobayashi et "
        "al. 2020). It does not affect sink gradients and ablation."
    )
    look = {"width": 118, "disabled": not entry.reads_maps, "help": about}
    weights = choices.selectbox("Weights", WEIGHTS, default=WEIGHTS[0], key="weights", **look)
    panel = st.popover("", icon=":material/tune:", help="More settings", key="more-settings", on_change="rerun")
    with panel:
        longest = checkpoint.max_length or 512
        about = f"At most {longest} here. Longer inputs are cut or skipped, and counted."
        look = {"key": "max_length", "follows": True, "help": about}
        length = choices.number(MAX_LENGTH, 8, longest, min(128, longest), **look)
        limit = choices.number("Limit inputs (0 = all)", 0, key="limit")
        seed = choices.number("Random seed", 0, key="seed")
        about = "bfloat16 is for previews: errors up to 0.006 nats."
        dtype = choices.selectbox("Precision", DTYPES, key="dtype", default=DTYPES[0], help=about)
        about = "Labels as in arrays: 0-0 for 1-1."
        from_zero = choices.toggle("Count heads from 0", key="zero", help=about, on_change=_send_head)
        if panel.open:
            size = f"{checkpoint.layers} × {checkpoint.heads} heads, {checkpoint.parameters() / 1e6:,.0f} M parameters"
            st.caption(f"Model: {size}, device: auto.")
    return Settings(length, limit or None, seed, mode, dtype, weights), 0 if from_zero else 1


def _head(checkpoint: Checkpoint, default: Head, base: int) -> Head:
    """Draw the choice of a head between its two buttons; the default is chosen until the reader chooses."""
    options = all_labels(checkpoint.layers, checkpoint.heads)
    labels = dict(zip(options, all_labels(checkpoint.layers, checkpoint.heads, base), strict=True))
    look: dict[str, Any] = {"label_visibility": "collapsed", "width": 131}
    look["format_func"] = lambda option: f"Head {labels[option]}"
    with st.container(horizontal=True, gap="xxsmall", width="content", wrap=False):
        before = st.container(width="content")
        label = choices.selectbox("Head", options, key="head", default=default.label(), follows=True, **look)
        after = st.container(width="content")
        before.button("Previous head", key="step-previous", on_click=_step, args=(options, -1))
        after.button("Next head", key="step-next", on_click=_step, args=(options, 1))
    return Head.parse(label)


def _send_head() -> None:
    """Send the choice of a head its value again: a browser keeps its label, which now is that of another head."""
    st.session_state["head"] = st.session_state["head"]


def _step(options: Sequence[str], step: int) -> None:
    address.choose(head=neighbor(st.session_state["head"], options, step))
