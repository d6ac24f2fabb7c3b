"""Which input is looked at: an example sentence, the reader's own text, or a segment of the loaded corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from bertviz_core.models.labels import layout_of
from bertviz_core.models.single_input import FirstSegments, OneInput, from_text
from pages.shared.frame.selection import Selection
from pages.shared.frame.viewer_link import MAX_CHARACTERS
from pages.shared.views.sentences import SENTENCES

if TYPE_CHECKING:
    from bertviz_core.models.model import AttentionModel

KINDS = ("example", "own text", "corpus")
EACH_ITS_DIRECTION = "<style>textarea { unicode-bidi: plaintext; text-align: start; }</style>"  # Arabic from the right


def choose(selection: Selection, model: AttentionModel) -> OneInput:
    """Draw the choice; raises InputError for a text without tokens and a segment that is not there."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control(
            "Text", KINDS, default=KINDS[0], required=True, key="input", bind="query-params", on_change=forget_marks
        )
        if kind == "corpus":
            return _segment(selection, model)
        if kind == "example":
            name = st.selectbox(
                "Sentence", list(SENTENCES), key="example", bind="query-params", on_change=forget_marks, width=280
            )
            return from_text(*SENTENCES[name], model.tokens, selection.settings)
    return _own(selection, model)


def again(selection: Selection, model: AttentionModel) -> OneInput:
    """The input that `choose` has drawn, as another model reads it."""
    state = st.session_state
    if state["input"] == "corpus":
        return _pick(selection, model, int(state["segment"]))
    if state["input"] == "example":
        return from_text(*SENTENCES[state["example"]], model.tokens, selection.settings)
    texts = (state["text"] or "", state["second"] or "")
    return from_text(*texts, model.tokens, selection.settings, given=state["given"])


def forget_marks() -> None:
    """Masks and pins are positions in one text: another text begins without them, and came from elsewhere."""
    forget_masks()
    st.query_params.pop("pin", None)
    st.query_params.pop("document", None)


def forget_masks() -> None:
    """The text as it was given."""
    st.query_params.pop("mask", None)


def _own(selection: Selection, model: AttentionModel) -> OneInput:
    st.html(EACH_ITS_DIRECTION)
    left, right = st.columns(2)
    text, second = (
        column.text_area(
            label,
            value,
            max_chars=MAX_CHARACTERS,
            height=90,
            key=key,
            bind="query-params",
            on_change=forget_marks,
            placeholder="A sentence" if key == "text" else "Leave empty for a single segment.",
        )
        for column, label, value, key in (
            (left, "Segment A", "The cat sat on the mat because it was warm.", "text"),
            (right, "Segment B (optional)", "", "second"),
        )
    )
    given = st.toggle(
        "Split words at spaces only",
        key="given",
        bind="query-params",
        on_change=forget_marks,
        help="As in treebanks: each word is tokenized separately.",
    )
    return from_text(text or "", second or "", model.tokens, selection.settings, given=given)


def _segment(selection: Selection, model: AttentionModel) -> OneInput:
    number = st.number_input(
        "Segment of the corpus", 1, 10**9, 1, key="segment", bind="query-params", on_change=forget_marks, width=180
    )
    one = _pick(selection, model, int(number))
    st.caption(f"{selection.source.name}, {one.example.where}")
    return one


def _pick(selection: Selection, model: AttentionModel, number: int) -> OneInput:
    made_of = (selection.checkpoint.fingerprint(), selection.source.digest, repr(selection.settings))
    example = _segments(made_of, selection, model).pick(number)
    return OneInput(example, layout_of(example, model.tokens))


@st.cache_resource(max_entries=8, show_spinner=False)
def _segments(made_of: tuple[str, ...], _selection: Selection, _model: AttentionModel) -> FirstSegments:
    from bertviz_core.models.segments import Segments

    return FirstSegments(Segments(_selection.source, _model.tokens, _selection.settings))
