"""Which input is looked at: an example sentence, the reader's own text, or a segment of the loaded corpus."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.corpora.word_search import Hit
from bertviz_core.models.first_segments import FirstSegments
from bertviz_core.models.labels import layout_of
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, from_text
from pages.shared import services
from pages.shared.frame import address, choices, links
from pages.shared.frame.links import MAX_CHARACTERS
from pages.shared.frame.selection import Selection
from pages.shared.frame.sidebar import MAX_LENGTH
from pages.shared.views import corpus_search
from pages.shared.views.sentences import SENTENCES

KINDS = ("example", "own text", "corpus")
EACH_ITS_DIRECTION = (
    "<style>.st-key-input-choice input { unicode-bidi: plaintext; text-align: start; }</style>"  # Arabic from the right
)


def choose(selection: Selection, model: AttentionModel, options: DeltaGenerator) -> OneInput:
    """Draw the choice in one line, and what is seldom changed into `options`; raises InputError for a text without
    tokens and a segment that is not there."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choices.segmented("Text", KINDS, key="input", default=KINDS[0], on_change=forget_marks)
        links.back()
        if kind == "corpus":
            return _segment(selection, model)
        if kind == "example":
            names = [*SENTENCES]
            name = choices.selectbox(
                "Sentence", names, key="example", default=names[0], on_change=forget_marks, width=280
            )
            return from_text(*SENTENCES[name], model.tokens, selection.settings)
        return _own(selection, model, options)


def say_cut(single: OneInput, selection: Selection) -> None:
    """What of the input is not shown, and the setting that shows it."""
    state = st.session_state
    if state["input"] == "own text" and max(len(state["text"] or ""), len(state["second"] or "")) > MAX_CHARACTERS:
        st.warning(
            f"A segment here has up to {MAX_CHARACTERS:,} characters, so that a link can hold it; what follows was cut "
            "off. For a longer text, upload it in the sidebar and choose “corpus” above.",
            icon=":material/content_cut:",
        )
    if single.cut:
        limit, allowed = selection.settings.max_length, selection.checkpoint.max_length
        more = f" Raise “{MAX_LENGTH}” in “More settings” to see them." if limit < (allowed or limit + 1) else ""
        st.warning(
            f"{single.cut:,} tokens over the limit of {limit} were cut from the end.{more}",
            icon=":material/content_cut:",
        )


def again(selection: Selection, model: AttentionModel) -> OneInput:
    """The input that `choose` has drawn, as another model reads it."""
    state = st.session_state
    if state["input"] == "corpus":
        return _pick(selection, model, int(state["segment"]))
    if state["input"] == "example":
        return from_text(*SENTENCES[state["example"]], model.tokens, selection.settings)
    text, second = ((state[key] or "")[:MAX_CHARACTERS] for key in ("text", "second"))
    return from_text(text, second, model.tokens, selection.settings, pre_split=state["given"])


def forget_marks() -> None:
    """Masks and pins are positions in one text: another text begins without them, and came from elsewhere."""
    forget_masks()
    address.put("pin", "")
    address.release("from_token", "to_token")
    links.forget()


def forget_masks() -> None:
    """Remove all masks."""
    address.put("mask", "")


def _own(selection: Selection, model: AttentionModel, options: DeltaGenerator) -> OneInput:
    st.html(EACH_ITS_DIRECTION)
    text, second = (
        choices.text(
            label,
            key=key,
            default=value,
            maximum=MAX_CHARACTERS,
            on_change=forget_marks,
            placeholder=placeholder,
            width=width,
        )[:MAX_CHARACTERS]
        for label, placeholder, value, key, width in (
            ("Segment A", "A sentence", "The cat sat on the mat because it was warm.", "text", "stretch"),
            ("Segment B", "A second segment", "", "second", 160),
        )
    )
    with options:
        pre_split = choices.toggle(
            "Split words at spaces only",
            key="given",
            on_change=forget_marks,
            help="As in treebanks: each word is tokenized separately.",
        )
    return from_text(text, second, model.tokens, selection.settings, pre_split=pre_split)


def _segment(selection: Selection, model: AttentionModel) -> OneInput:
    number = choices.number("Segment of the corpus", 1, default=1, key="segment", on_change=forget_marks, width=180)
    corpus_search.draw(selection.source, lambda hit: _open(hit, _known(selection, model)))
    single = _pick(selection, model, number)
    st.caption(f"{selection.source.name}, {single.example.where}")
    return single


def _pick(selection: Selection, model: AttentionModel, number: int) -> OneInput:
    example = _known(selection, model).pick(number)
    return OneInput(example, layout_of(example, model.tokens))


def _open(hit: Hit, segments: FirstSegments) -> None:
    """Go to the segment that has a line, in a callback."""
    address.choose(segment=segments.number_of(hit))
    forget_marks()


def _known(selection: Selection, model: AttentionModel) -> FirstSegments:
    return services.segments(selection.source, model, selection.settings)
