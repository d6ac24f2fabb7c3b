"""The sidebar: model, corpus, mode and head, each bound to the address bar; the store at the bottom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from bertviz_core.heads import Head
from bertviz_core.models import allowed
from bertviz_core.models.checkpoint import DEMO, Checkpoint, find, short_names
from bertviz_core.settings import DTYPES, MODES, WEIGHTS, Mode, Settings, Weights
from pages.shared import boxes, services
from pages.shared.components import component
from pages.shared.frame import address, catalogue, choices, corpus_picker, links
from pages.shared.frame.selection import Selection, head_options, neighbor
from pages.shared.jobs import panel as job_panel

STYLE = Path(__file__).with_name("appearance.css")  # of all pages
MAX_LENGTH = "Maximum tokens per input"  # label of the setting, as messages name it
ON_PAGE = "head-on-page"  # key of the page's own picker
HOW_TO_NAME = {  # (any folder may be opened, models may be downloaded)
    (True, True): "Enter a local folder (written by save_pretrained) or a hub name.",
    (True, False): "Enter a local folder (written by save_pretrained).",
    (False, True): "Choose from the list, or enter a hub name.",
    (False, False): "Choose from the list.",
}


def choose(entry: catalogue.Page, opening_head: Callable[[str, Selection], Head]) -> None:
    """Draw the sidebar and hand the choice to the page; raises BertvizError for a model or corpus not there.

    Args:
        entry: The page.
        opening_head: The head that a page shows until the reader chooses one.
    """
    with st.sidebar:
        st.markdown("**What does it look at?**  \nThe attention heads of a transformer, one by one.")
        if problem := services.store().problem:
            st.warning(f"{boxes.plain(problem.what)} {boxes.plain(problem.hint)}", icon=":material/database_off:")
        menu = st.container()
        job_panel.beside()
        try:
            checkpoint = _model()
            source = corpus_picker.choose(entry)
            selection = Selection(checkpoint, source, _settings(checkpoint, entry), Head(0, 0))
            st.session_state["selection"] = _head(selection, opening_head(entry.name, selection))
            component("theme_switch")(data={"pages": [each.name for each in catalogue.ENTRIES]}, key="theme")
            address.share()
        finally:  # its links carry the choices below it
            with menu:
                _menu()
        st.caption(f"Store: {services.store_size() / 1e6:,.1f} MB on this machine.")


def current() -> Selection:
    """What `choose` has handed over: a page is a script, and takes no arguments."""
    selection: Selection = st.session_state["selection"]
    return selection


def _menu() -> None:
    for section, pages in catalogue.sections().items():
        st.caption(section)
        with st.container(gap="xxsmall"):
            for page in pages:
                st.page_link(
                    page, width="stretch", query_params=links.last_visit(page.url_path or catalogue.DEFAULT.name)
                )
    st.divider()


def _model() -> Checkpoint:
    known: list[str] = st.session_state.setdefault("models", _known_models())
    checkpoint, name = pick_model("Model", known, key="model", default=DEMO)
    if name and st.session_state.get("model remembered") != name:
        st.session_state["model remembered"] = name
        if not services.access().public and name not in (DEMO, *allowed.models(services.access())):
            services.uploads().remember_model(name)
    millions = checkpoint.parameters() / 1e6
    st.caption(f"{checkpoint.layers} × {checkpoint.heads} heads, {millions:,.0f} M parameters, device: auto")
    return checkpoint


def pick_model(label: str, known: list[str], *, key: str, default: str, **more: Any) -> tuple[Checkpoint, str]:
    """Draw the choice of a model, and find it; `known` gets the one that the address names."""
    access = services.access()
    can_name = access.folders is None, access.downloads != 0
    requested = choices.ahead(key, default)
    if requested not in known:
        known.append(requested)
    names = short_names(known)
    at = f" Chosen: `{requested}`." if names[requested] != requested else ""
    name = choices.selectbox(
        label,
        known,
        key=key,
        default=default,
        accept_new_options=any(can_name),
        format_func=lambda name: names.get(name, name),
        help=f"`demo` ships with the project. {HOW_TO_NAME[can_name]}{at}",
        **more,
    )
    return find(name or DEMO, access=access), name


def _known_models() -> list[str]:
    """The demo, the models that this server offers, and on one's own machine those that were opened lately."""
    latest = [] if services.access().public else services.uploads().models()
    return list(dict.fromkeys([DEMO, *allowed.models(services.access()), *latest]))


def _settings(checkpoint: Checkpoint, entry: catalogue.Page) -> Settings:
    mode = choices.segmented(
        "Mode",
        MODES,
        default=MODES[0],
        key="mode",
        help="`paper` follows the authors' code: all token types zero, smoothed entropies.",
    )
    weights = choices.segmented(
        "Weights",
        WEIGHTS,
        default=WEIGHTS[0],
        key="weights",
        disabled=not entry.reads_maps,
        help="`norms` weighs each attention weight by the length of what the token passes on: how much it moves "
        "(Kobayashi et al. 2020). It makes no difference to [SEP] gradients and ablation.",
    )
    with st.popover("More settings", icon=":material/tune:", width="stretch"):
        return _more_settings(checkpoint, mode, weights)


def _more_settings(checkpoint: Checkpoint, mode: Mode, weights: Weights) -> Settings:
    """What is seldom changed; every change is another result, kept beside the others."""
    max_length = checkpoint.max_length or 512
    length = choices.number(
        MAX_LENGTH,
        8,
        max_length,
        min(128, max_length),
        key="max_length",
        follows=True,
        help=f"At most {max_length} for this model. Longer inputs are cut or skipped, and counted.",
    )
    limit = choices.number("Limit inputs (0 = all)", 0, key="limit")
    seed = choices.number("Random seed", 0, key="seed")
    dtype = choices.selectbox(
        "Precision", DTYPES, key="dtype", default=DTYPES[0], help="bfloat16 is for previews: errors up to 0.006 nats."
    )
    return Settings(length, limit or None, seed, mode, dtype, weights)


def _head(selection: Selection, opening: Head) -> Selection:
    """The selection with the head of the picker, which stands at the page's opening head until the reader chooses."""
    options = head_options(selection.checkpoint)
    before, picker, after = st.columns([1, 3, 1], vertical_alignment="bottom", gap="small")
    with picker:
        label = choices.selectbox(
            "Head",
            options,
            key="head",
            default=opening.label(),
            follows=True,
            help="layer-head, counted from 1",
            unavailable=f"head {{}}: this model has heads {options[0]} to {options[-1]}",
        )
    for column, step in ((before, -1), (after, 1)):
        with column:
            step_button(step, options, "sidebar")
    from_zero = choices.toggle("Count heads from 0", key="zero", help="Labels as in arrays: 0-0 for 1-1.")
    return replace(selection, head=Head.parse(label), base=0 if from_zero else 1)


def stepper(selection: Selection) -> None:
    """The chosen head on a page itself: previous, picker, next; the sidebar's picker follows."""
    options = head_options(selection.checkpoint)
    st.session_state[ON_PAGE] = selection.head.label()
    with st.container(horizontal=True, gap="xxsmall", width="content", wrap=False):
        step_button(-1, options, "page")
        st.selectbox(
            "Head",
            options,
            key=ON_PAGE,
            format_func=lambda option: f"Head {Head.parse(option).label(selection.base)}",
            label_visibility="collapsed",
            on_change=_take,
            width=131,
        )
        step_button(1, options, "page")


def step_button(step: int, options: list[str], at: str) -> None:
    """An arrow to the head before (-1) or after (1) the chosen one."""
    way = "previous" if step < 0 else "next"
    st.button(f"{way.capitalize()} head", key=f"step-{way}-{at}", on_click=_step, args=(options, step))


def _take() -> None:
    address.choose(head=st.session_state[ON_PAGE])


def _step(options: list[str], step: int) -> None:
    address.choose(head=neighbor(st.session_state["head"], options, step))
