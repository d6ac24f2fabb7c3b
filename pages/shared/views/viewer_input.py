"""The input of the attention viewer, and which of its tokens are masked or pinned."""

import re
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.corpora.word_search import Hit
from bertviz_core.models.labels import layout_of
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, from_text
from pages.shared import services
from pages.shared.frame import Selection, address, choices, links
from pages.shared.frame.header import MAX_LENGTH
from pages.shared.frame.links import MAX_CHARACTERS
from pages.shared.messages import plain
from pages.shared.views import lists

KINDS = ("example", "own text", "corpus")
# Example sentences, each for something that heads follow (CC0, written for this project): name, which permalinks have
# -> (segment A, segment B)
COREFERENCE = "Coreference"
SENTENCES: dict[str, tuple[str, str]] = {
    COREFERENCE: ("Anna lost her keys in the park, so she asked her brother whether he had seen them.", ""),
    "Direct objects": ("The gardener planted tulips, watered the young trees and closed the gate.", ""),
    "Possessives": ("The captain's daughter kept her father's letters in the ship's library.", ""),
    "Prepositions": ("The key to the old door lay on a shelf in the kitchen of the house.", ""),
    "Passives": ("The bridge was built in a year and has been repaired by the town since.", ""),
    "Determiners and nouns": ("The stone city wall and the three market towers survived every long winter.", ""),
    "Two segments": ("The farmer opened the gate of the field.", "The sheep ran out and he followed them."),
    "Punctuation": ("It rained, it snowed, and then, at last, the sun came out.", ""),
    "Arabic (right to left)": ("قرأت المعلمة الكتاب ثم أعادته إلى المكتبة.", ""),
    "Chinese": ("小美愛花。王先生愛書。", ""),
}
# The relations (Stanford's label, UD's label) whose best head an example opens on.
RELATIONS = {
    "Direct objects": ("dobj", "obj"),
    "Possessives": ("poss", "nmod:poss"),
    "Prepositions": ("pobj", "case"),
    "Passives": ("auxpass", "aux:pass"),
    "Determiners and nouns": ("det",),
}


def choose(selection: Selection, model: AttentionModel, options: DeltaGenerator) -> OneInput:
    """Draw the choice of the input, the rare ones into `options`; raises InputError like `read`."""
    fresh: dict[str, Any] = {"on_change": forget_marks, "label_visibility": "collapsed"}
    kind = choices.segmented("Text", KINDS, key="input", default=KINDS[0], **fresh)
    links.back()
    if kind == "corpus":
        choices.number("Segment of the corpus", 1, default=1, key="segment", width=180, **fresh)

        def go_to(hit: Hit) -> None:
            segments = services.segments(selection.corpora["text"], model, selection.settings)
            address.choose(segment=segments.number_of(hit))
            forget_marks()

        lists.corpus_search(selection.corpora["text"], go_to)
    elif kind == "example":
        choices.selectbox("Sentence", [*SENTENCES], key="example", default=COREFERENCE, width=280, **fresh)
    else:
        # Arabic is written from the right.
        st.html("<style>.st-key-input-choice input { unicode-bidi: plaintext; text-align: start; }</style>")
        sentence = "The cat sat on the mat because it was warm."
        fresh["maximum"] = MAX_CHARACTERS
        choices.text("Segment A", key="text", default=sentence, placeholder="A sentence", width="stretch", **fresh)
        choices.text("Segment B", key="second", default="", placeholder="A second segment", width=160, **fresh)
        about = "As in treebanks: each word is tokenized separately."
        with options:
            choices.toggle("Split words at spaces only", key="given", on_change=forget_marks, help=about)
    single = read(selection, model)
    if kind == "corpus":
        st.caption(plain(f"{selection.corpora['text'].name}, {single.example.where}"))
    return single


def read(selection: Selection, model: AttentionModel) -> OneInput:
    """The chosen input as a model reads it; raises InputError for a text without tokens, and a missing segment."""
    state = st.session_state
    if state["input"] == "corpus":
        segments = services.segments(selection.corpora["text"], model, selection.settings)
        example = segments.pick(int(state["segment"]))
        return OneInput(example, layout_of(example, model.tokens))
    if state["input"] == "example":
        return from_text(*SENTENCES[state["example"]], model.tokens, selection.settings)
    text, second = (state[key][:MAX_CHARACTERS] for key in ("text", "second"))
    return from_text(text, second, model.tokens, selection.settings, pre_split=state["given"])


def warn_of_cut(single: OneInput, selection: Selection) -> None:
    """Warn that a part of the input is not shown, and name the setting that shows it."""
    state = st.session_state
    icon = ":material/content_cut:"
    if state["input"] == "own text" and max(len(state["text"]), len(state["second"])) > MAX_CHARACTERS:
        st.warning(
            f"A segment here has up to {MAX_CHARACTERS:,} characters, so that a link can hold it; what follows was cut "
            "off. For a longer text, add it under the title and choose “corpus” above.",
            icon=icon,
        )
    if single.cut:
        limit = selection.settings.max_length
        allowed = selection.checkpoint.max_length
        more = f" Raise “{MAX_LENGTH}” in “More settings” to see them." if limit < (allowed or limit + 1) else ""
        st.warning(f"{single.cut:,} tokens over the limit of {limit} were cut from the end.{more}", icon=icon)


def forget_marks() -> None:
    """Clear masks, pins and the way back: they belong to one text."""
    for key in ("mask", "pin", "back", "dependents"):
        address.put(key, "")
    address.release("from_token", "to_token")


def masked() -> list[int]:
    """The masked positions of the address, from 0: "3,7" is [2, 6]; anything else is ignored."""
    parts = address.get("mask").split(",")
    return sorted({int(part) - 1 for part in parts if re.fullmatch(r"[1-9]\d{0,4}", part)})


def toggle_mask(positions: set[int]) -> None:
    """Mask these positions, or unmask them if all of them are masked, in a callback."""
    before = set(masked())
    changed = before - positions if positions <= before else before | positions
    address.put("mask", ",".join(str(position + 1) for position in sorted(changed)))


def pins(key: str = "pin") -> list[tuple[str, int]]:
    """The pins of the address, positions from 0: "from3,to7" is [("from", 2), ("to", 6)]; anything else is ignored."""
    matches = (re.fullmatch(r"(from|to)([1-9]\d{0,4})", part) for part in address.get(key).split(","))
    return [(match[1], int(match[2]) - 1) for match in matches if match]


def pin_dependents(single: OneInput) -> None:
    """Pin words of the address ("from3": the third word on the left) until the reader pins others."""
    marked = pins("dependents")
    if marked and single.example.words is not None:
        owner = single.example.words.tolist()
        implied = [f"{side}{owner.index(word) + 1}" for side, word in marked if word in owner]
        address.current().implied["pin"] = ",".join(implied)
