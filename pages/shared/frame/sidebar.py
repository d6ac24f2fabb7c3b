"""The sidebar: model, corpus, mode and head, each bound to the address bar; the store at the bottom."""

from __future__ import annotations

import streamlit as st

from bertviz_core.engine import recent
from bertviz_core.heads import Head
from bertviz_core.models import allowed
from bertviz_core.models.checkpoint import DEMO, Checkpoint, find
from bertviz_core.settings import DTYPES, MODES, WEIGHTS, Mode, Settings, Weights
from pages.shared import boxes, services
from pages.shared.frame import appearance, catalogue, corpus_picker, links, uploads
from pages.shared.frame.catalogue import Entry
from pages.shared.frame.selection import Selection, head_options, neighbor
from pages.shared.jobs import panel as job_panel

ON_PAGE = "head-on-page"  # key of the page's own picker
HOW_TO_NAME = {  # (any folder may be opened, models may be downloaded)
    (True, True): "Enter a local folder (written by save_pretrained) or a hub name.",
    (True, False): "Enter a local folder (written by save_pretrained).",
    (False, True): "Choose from the list, or enter a hub name.",
    (False, False): "Choose from the list.",
}


def choose(entry: Entry) -> None:
    """Draw the sidebar and hand the choice to the page; raises BertvizError for a model or corpus not there."""
    links.drop_bad_numbers("max_length", "limit", "seed", "segment")
    with st.sidebar:
        st.markdown("**What does it look at?**  \nThe attention heads of a transformer, one by one.")
        if problem := services.store().problem:
            st.warning(f"{boxes.plain(problem.what)} {boxes.plain(problem.hint)}", icon=":material/database_off:")
        _menu()
        job_panel.beside()
        checkpoint = _model()
        source = corpus_picker.choose(entry)
        settings = _settings(checkpoint, entry)
        head, base = _head(checkpoint)
        appearance.choose()
        st.caption(f"Store: {services.store_size() / 1e6:,.1f} MB on this machine.")
    st.session_state["selection"] = Selection(checkpoint, source, settings, head, base)


def current() -> Selection:
    """What `choose` has handed over: a page is a script, and takes no arguments."""
    selection: Selection = st.session_state["selection"]
    return selection


def _menu() -> None:
    for section, pages in catalogue.sections().items():
        st.caption(section)
        with st.container(gap="xxsmall"):
            for page in pages:
                st.page_link(page, width="stretch")
    st.divider()


def _model() -> Checkpoint:
    access = services.access()
    known: list[str] = st.session_state.setdefault("models", _known_models())
    asked = st.session_state.get("model") or st.query_params.get("model", DEMO)
    if asked not in known:
        known.append(asked)
    name = st.selectbox(
        "Model",
        known,
        key="model",
        bind="query-params",
        accept_new_options=access.folders is None or access.downloads != 0,
        help="`demo` ships with the project. " + HOW_TO_NAME[access.folders is None, access.downloads != 0],
    )
    checkpoint = find(name or DEMO, access=access)
    if name and st.session_state.get("model remembered") != name:
        st.session_state["model remembered"] = name
        if name not in (DEMO, *allowed.models(access)):
            recent.remember(services.store(), uploads.owner(), name)
    millions = checkpoint.parameters() / 1e6
    st.caption(f"{checkpoint.layers} × {checkpoint.heads} heads, {millions:,.0f} M parameters, device: auto")
    return checkpoint


def _known_models() -> list[str]:
    """The demo, the models that this server offers, and those that this browser opened lately."""
    offered = [DEMO, *allowed.models(services.access())]
    return list(dict.fromkeys([*offered, *recent.models(services.store(), uploads.owner())]))


def _settings(checkpoint: Checkpoint, entry: Entry) -> Settings:
    mode = st.segmented_control(
        "Mode",
        MODES,
        default=MODES[0],
        required=True,
        key="mode",
        bind="query-params",
        help="`paper` follows the authors' code: all token types zero, smoothed entropies.",
    )
    weights = st.segmented_control(
        "Weights",
        WEIGHTS,
        default=WEIGHTS[0],
        required=True,
        key="weights",
        bind="query-params",
        disabled=not entry.reads_maps,
        help="`norms` weighs each attention weight by the length of what the token passes on: how much it moves "
        "(Kobayashi et al. 2020). It makes no difference to [SEP] gradients.",
    )
    with st.popover("More settings", icon=":material/tune:", width="stretch"):
        return _more_settings(checkpoint, mode or MODES[0], weights or WEIGHTS[0])


def _more_settings(checkpoint: Checkpoint, mode: Mode, weights: Weights) -> Settings:
    """What is seldom changed; every change is another result, kept beside the others."""
    max_length = checkpoint.max_length or 512
    length = st.number_input(
        "Maximum tokens per input",
        8,
        max_length,
        min(128, max_length),
        key="max_length",
        bind="query-params",
        help=f"At most {max_length} for this model. Longer inputs are cut or skipped, and counted.",
    )
    limit = st.number_input("Limit inputs (0 = all)", 0, 10**9, key="limit", bind="query-params")
    seed = st.number_input("Random seed", 0, 10**9, key="seed", bind="query-params")
    dtype = st.selectbox(
        "Precision", DTYPES, key="dtype", bind="query-params", help="bfloat16 is for previews: errors up to 0.006 nats."
    )
    return Settings(int(length), int(limit) or None, int(seed), mode, dtype, weights)


def _head(checkpoint: Checkpoint) -> tuple[Head, int]:
    options = head_options(checkpoint)
    if st.session_state.get("head") not in (None, *options):
        del st.session_state["head"]  # chosen in a larger model
    _follow_head(options)
    before, picker, after = st.columns([1, 3, 1], vertical_alignment="bottom", gap="small")
    label = picker.selectbox("Head", options, key="head", bind="query-params", help="layer-head, counted from 1")
    for column, step in ((before, -1), (after, 1)):
        with column:
            step_button(step, options, "sidebar")
    from_zero = st.toggle(
        "Count heads from 0", key="zero", bind="query-params", help="Labels as in arrays: 0-0 for 1-1."
    )
    return Head.parse(label or options[0]), 0 if from_zero else 1


def _follow_head(options: list[str]) -> None:
    """A link on a page names its head as `at`; the picker, which stays, would not follow `head`."""
    linked = st.query_params.get("at")
    if linked is None:
        return
    del st.query_params["at"]
    if linked in options:
        arrived = "head" not in st.session_state
        st.session_state["head"] = linked
        if arrived:  # in a new tab, where the picker would take the `head` that the address came with
            st.query_params["head"] = linked
            st.rerun()


def stepper(selection: Selection) -> None:
    """The chosen head on a page itself: previous, picker, next; the sidebar's picker follows."""
    options = head_options(selection.checkpoint)
    st.session_state[ON_PAGE] = selection.head.label()
    step_button(-1, options, "page")
    st.selectbox(
        "Head",
        options,
        key=ON_PAGE,
        format_func=lambda option: f"Head {Head.parse(option).label(selection.base)}",
        label_visibility="collapsed",
        on_change=_take,
        width=125,
    )
    step_button(1, options, "page")


def step_button(step: int, options: list[str], at: str) -> None:
    """An arrow to the head before (-1) or after (1) the chosen one."""
    way = "previous" if step < 0 else "next"
    st.button(f"{way.capitalize()} head", key=f"step-{way}-{at}", on_click=_step, args=(options, step))


def _take() -> None:
    st.session_state["head"] = st.session_state[ON_PAGE]


def _step(options: list[str], step: int) -> None:
    st.session_state["head"] = neighbor(st.session_state["head"], options, step)
