"""The line under the title, "demo on encyclopedia · change", and the panel in which all that is chosen."""

from collections.abc import Mapping, Sequence

import streamlit as st

from bertviz_core.analyses.base.presentation import CorpusKind
from bertviz_core.choices import hints
from bertviz_core.corpora.source import Source
from bertviz_core.errors import BertvizError, InputError
from bertviz_core.models.checkpoint import DEMO, Checkpoint, find_checkpoint, short_names
from bertviz_core.numbers import plural
from bertviz_core.settings import MODES, WEIGHTS, Settings, offered_dtypes
from pages.shared import services, widgets
from pages.shared.frame import PANEL, corpora, links
from pages.shared.frame.add_corpus import PASTE
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import HeaderChoices
from pages.shared.state.kinds import kind_of

# Label of the setting, as messages name it.
MAX_LENGTH = "Maximum tokens per input"
USUAL_LENGTH = 128  # tokens, where the model takes as many
DEFAULT_MAX_TOKENS = 512  # tokens, where the model does not say
UPLOAD_FIRST = "panel for a corpus"  # key of whether the panel begins with what adds a corpus
METHODS = {"corrected": "corrected", "paper": "as published"}
MEASURES = {"attention": "weights", "norms": "weights × vector length"}


def settings(chosen: HeaderChoices, checkpoint: Checkpoint) -> Settings:
    """The settings of the header, with a length that the model takes."""
    length, _ = _lengths(chosen, checkpoint)
    return Settings(**{name: getattr(chosen, name) for name in hints(Settings)} | {"max_length": length})


def open_for_upload() -> None:
    """Open the panel on what adds a corpus, in a callback."""
    widgets.open_popover(PANEL)
    widgets.open_popover(UPLOAD_FIRST)


def draw(
    entry: links.PageEntry,
    kinds: Sequence[CorpusKind],
    checkpoint: Checkpoint | BertvizError,
    opened: Mapping[CorpusKind, Source | InputError],
) -> None:
    """Draw the line of a page that reads these kinds of corpora, with its panel; nothing where the header has nothing
    that the page depends on.

    Args:
        kinds: Of the corpora that its numbers come from, as it is chosen.
        checkpoint: The chosen model, or why it cannot be used.
        opened: The chosen corpus of each kind, or why it cannot be opened.
    """
    words = _words(entry, kinds, checkpoint, opened)
    if not words:
        return
    with st.container(key="context-line", horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        st.markdown(f"{words} ·", width="content")
        panel = widgets.popover("change", None, PANEL, type="tertiary")
        with panel:
            if panel.open:
                _draw_panel(entry, kinds, checkpoint, opened)
            else:
                widgets.close(UPLOAD_FIRST)
                if widgets.entered(PASTE):  # Streamlit would forget a text that is not drawn
                    corpora.offer_upload(kinds)


def _words(
    entry: links.PageEntry,
    kinds: Sequence[CorpusKind],
    checkpoint: Checkpoint | BertvizError,
    opened: Mapping[CorpusKind, Source | InputError],
) -> str:
    """What is shown, and what differs from the defaults, as Markdown."""
    chosen = session.current().header
    model = f"**{plain(_names([*session.current().models, chosen.model])[chosen.model])}**" if entry.has_model else ""
    read = ", ".join(dict.fromkeys(_corpus_name(opened[kind]) for kind in kinds))  # one file may be two kinds
    shown = " on ".join(filter(None, (model, read)))
    return " · ".join(filter(None, (shown, *_unlike_default(entry, kinds, checkpoint, chosen)))) if shown else ""


def _corpus_name(source: Source | InputError) -> str:
    if isinstance(source, InputError):
        return "a corpus that cannot be opened"
    return f"**{plain(source.name)}**"


def _unlike_default(
    entry: links.PageEntry,
    kinds: Sequence[CorpusKind],
    checkpoint: Checkpoint | BertvizError,
    chosen: HeaderChoices,
) -> list[str]:
    """The settings that the page depends on and that are not at their defaults, in words."""
    words = []
    if _has_settings(entry):
        words += ["as published"] * (chosen.mode == "paper")
        words += ["vector lengths"] * (chosen.weights == "norms" and entry.reads_maps)
        length, longest = _lengths(chosen, checkpoint)  # not a chosen one that the model does not take
        words += [f"at most {length:,} tokens"] if length != min(USUAL_LENGTH, longest) else []
        if kinds:
            words += [f"the first {plural(chosen.limit, 'inputs')}"] if chosen.limit else []
            words += [f"seed {chosen.seed}"] if chosen.seed else []
        words += [chosen.dtype] * (chosen.dtype != HeaderChoices.dtype)
    return words + ["heads counted from 0"] * chosen.zero


def _has_settings(entry: links.PageEntry) -> bool:
    """Whether the settings make a difference to a page, as it is chosen."""
    return entry.has_settings and (entry.has_model or session.page(kind_of(entry.name)).reads_header)


def _draw_panel(
    entry: links.PageEntry,
    kinds: Sequence[CorpusKind],
    checkpoint: Checkpoint | BertvizError,
    opened: Mapping[CorpusKind, Source | InputError],
) -> None:
    chosen = session.current().header
    if widgets.entered(UPLOAD_FIRST):
        corpora.offer_upload(kinds)
        st.divider()
    if entry.has_model:
        choose_model("Model", session.current().models, "model", chosen.model)
        if isinstance(checkpoint, Checkpoint):
            size = f"{checkpoint.layers} × {checkpoint.heads} heads"
            st.caption(f"{size}, {checkpoint.parameters() / 1e6:,.0f} M parameters, device: auto.")
    corpora.choose(kinds, opened)
    if not widgets.entered(UPLOAD_FIRST):
        corpora.offer_upload(kinds)
    with st.expander("Settings", icon=":material/tune:"):
        if _has_settings(entry):
            _draw_settings(entry, kinds, checkpoint)
        widgets.toggle("Count heads from 0", "zero", chosen.zero, help="Labels as in arrays: 0-0 for 1-1.")


def _draw_settings(entry: links.PageEntry, kinds: Sequence[CorpusKind], checkpoint: Checkpoint | BertvizError) -> None:
    chosen = session.current().header
    left, middle, right = st.columns(3, gap="small")
    about = "“As published” follows the authors' code: all token types zero, smoothed entropies."
    with left:
        widgets.select("Method", MODES, "mode", chosen.mode, format_func=METHODS.__getitem__, help=about)
    about = (
        "The second multiplies each attention weight by the length of the vector that the token passes on (Kobayashi "
        "et al. 2020)."
    )
    if entry.reads_maps:
        with middle:
            widgets.select("Measure", WEIGHTS, "weights", chosen.weights, format_func=MEASURES.__getitem__, help=about)
    length, longest = _lengths(chosen, checkpoint)
    about = f"At most {longest} here. Longer inputs are cut or skipped, and counted."
    with right:
        widgets.number(MAX_LENGTH, "max_length", length, longest, help=about)
    if kinds:
        with left:
            widgets.optional_number("Limit of inputs", "limit", chosen.limit, placeholder="all")
        with middle:
            widgets.number("Random seed", "seed", chosen.seed)
    about = "bfloat16 moves entropies by up to 0.06 nats. int8 and nf4 have 8 and 4 bits (docs/models.md)."
    with right:
        dtypes = tuple(dict.fromkeys((*offered_dtypes(), chosen.dtype)))
        widgets.select("Precision", dtypes, "dtype", chosen.dtype, help=about)


def _lengths(chosen: HeaderChoices, checkpoint: Checkpoint | BertvizError) -> tuple[int, int]:
    """The most tokens of an input, and the most that the model takes."""
    longest = checkpoint.max_length if isinstance(checkpoint, Checkpoint) else None
    longest = longest or DEFAULT_MAX_TOKENS
    length = chosen.max_length
    return length if length and length <= longest else min(USUAL_LENGTH, longest), longest


def _names(known: Sequence[str]) -> dict[str, str]:
    """How models are named where each of them can be told from the others."""
    return short_names(list(dict.fromkeys(known)))


def choose_model(label: str, known: list[str], field: str, value: str) -> str:
    """Draw the choice of a model, and return its name; a model that is not yet `known` is added."""
    access = services.access()
    if value not in known:
        known.append(value)
    names = _names(known)
    chosen = f" Chosen: `{value}`." if names[value] != value else ""
    entered = ""
    if access.folders is None:
        entered += ", or enter a local folder (written by save_pretrained)"
    if access.downloads != 0:
        entered += ", or enter a hub name, also with a revision: owner/name@revision"
    return widgets.select(
        label,
        known,
        field,
        value,
        help=f"`demo`, an encoder, and `demo-decoder` ship with the project. Choose from the list{entered}.{chosen}",
        format_func=lambda name: names.get(name, name),
        accept_new_options=bool(entered),
    )


def pick_model(label: str, known: list[str], field: str, value: str) -> Checkpoint:
    """Draw the choice of a model, and find its files."""
    return find_checkpoint(choose_model(label, known, field, value) or DEMO, access=services.access())
