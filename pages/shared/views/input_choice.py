"""Which input is looked at: an example sentence, the reader's own text, or a segment of the loaded corpus."""

from __future__ import annotations

import streamlit as st

from bertviz_core.corpora.word_search import Hit
from bertviz_core.models.first_segments import FirstSegments
from bertviz_core.models.labels import layout_of
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, from_text
from pages.shared.frame import address, choices, viewer_link
from pages.shared.frame.selection import Selection
from pages.shared.views import corpus_search
from pages.shared.views.sentences import SENTENCES

KINDS = ("example", "own text", "corpus")
EACH_ITS_DIRECTION = "<style>textarea { unicode-bidi: plaintext; text-align: start; }</style>"  # Arabic from the right


def choose(selection: Selection, model: AttentionModel) -> OneInput:
    """Draw the choice; raises InputError for a text without tokens and a segment that is not there."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choices.segmented("Text", KINDS, key="input", default=KINDS[0], on_change=forget_marks)
        viewer_link.back()
        if kind == "corpus":
            return _segment(selection, model)
        if kind == "example":
            names = [*SENTENCES]
            name = choices.selectbox(
                "Sentence", names, key="example", default=names[0], on_change=forget_marks, width=280
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
    return from_text(*texts, model.tokens, selection.settings, pre_split=state["given"])


def forget_marks() -> None:
    """Masks and pins are positions in one text: another text begins without them, and came from elsewhere."""
    forget_masks()
    address.put("pin", "")
    address.release("from_token", "to_token")
    viewer_link.forget()


def forget_masks() -> None:
    """Remove all masks."""
    address.put("mask", "")


def _own(selection: Selection, model: AttentionModel) -> OneInput:
    st.html(EACH_ITS_DIRECTION)
    left, right = st.columns(2)
    text, second = (
        choices.text(
            column.text_area,
            label,
            key=key,
            default=value,
            maximum=viewer_link.MAX_CHARACTERS,
            height=90,
            on_change=forget_marks,
            placeholder="A sentence" if key == "text" else "Leave empty for a single segment.",
        )
        for column, label, value, key in (
            (left, "Segment A", "The cat sat on the mat because it was warm.", "text"),
            (right, "Segment B (optional)", "", "second"),
        )
    )
    if max(len(text), len(second)) > viewer_link.MAX_CHARACTERS:
        st.warning(
            f"A segment here has up to {viewer_link.MAX_CHARACTERS:,} characters, so that a link can hold it; what "
            "follows was cut off. For a longer text, upload it in the sidebar and choose “corpus” above.",
            icon=":material/content_cut:",
        )
        text, second = text[: viewer_link.MAX_CHARACTERS], second[: viewer_link.MAX_CHARACTERS]
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
    identity = (selection.checkpoint.fingerprint(), selection.source.digest, repr(selection.settings))
    return _segments(identity, selection, model)


@st.cache_resource(max_entries=8, show_spinner=False)
def _segments(identity: tuple[str, ...], _selection: Selection, _model: AttentionModel) -> FirstSegments:
    from bertviz_core.models.segments import Segments

    return FirstSegments(Segments(_selection.source, _model.tokens, _selection.settings))
