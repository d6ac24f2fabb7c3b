"""The input of the attention viewer, and which of its tokens are masked or pinned."""

import re
from dataclasses import replace

import streamlit as st

from bertviz_core.corpora.word_search import Hit
from bertviz_core.inputs.labels import layout_of
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, from_text, most_tokens
from bertviz_core.viewer.input_attention import InputAttention
from pages.shared import services, widgets
from pages.shared.frame import links
from pages.shared.frame.context import MAX_LENGTH
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import MAX_CHARACTERS, AttentionViewerChoices
from pages.shared.state.selection import Selection
from pages.shared.views import lists

MOST_CHARACTERS = 100_000  # of a text that are read
DEFAULT_LENGTH = 512  # tokens of a text, for a model that takes any number
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
# Two words of an example, from which and to which such a head attends.
PAIRS = {
    COREFERENCE: ("he", "brother"),
    "Direct objects": ("tulips", "planted"),
    "Possessives": ("her", "letters"),
    "Prepositions": ("shelf", "on"),
    "Passives": ("been", "repaired"),
    "Determiners and nouns": ("the", "wall"),
    "Two segments": ("them", "sheep"),
}
# What an example is about, and opens on the best head of: the kind of corpus that shows it, and a relation by the label
# of Stanford, then that of UD, or all that its analysis is about.
TARGETS = {
    COREFERENCE: ("coreference", ("",)),
    "Direct objects": ("treebank", ("dobj", "obj")),
    "Possessives": ("treebank", ("poss", "nmod:poss")),
    "Prepositions": ("treebank", ("pobj", "case")),
    "Passives": ("treebank", ("auxpass", "aux:pass")),
    "Determiners and nouns": ("treebank", ("det",)),
}


def choose(selection: Selection, model: AttentionModel, options: widgets.Popover) -> OneInput:
    """Draw the choice of the input, the rare ones into `options`; raises InputError like `read`."""
    chosen = session.page(AttentionViewerChoices)
    names = {"own text": "sentence"} if chosen.origin else {}  # of a corpus, not the reader's
    widgets.segmented(
        "Text",
        KINDS,
        "input",
        chosen.input,
        format_func=lambda kind: names.get(kind, kind),
        on_change=forget_marks,
        label_visibility="collapsed",
    )
    links.back(chosen)
    if chosen.input == "corpus":
        _choose_segment(chosen, selection, model)
    elif chosen.input == "example":
        _choose_example(chosen)
    else:
        _write_text(chosen, options)
    single = read(selection, model)
    if chosen.input == "corpus":
        st.caption(plain(f"{selection.corpora['text'].name}, {single.example.where}"))
    elif chosen.input == "own text" and chosen.origin:
        st.caption(plain(chosen.origin))
    return single


def _choose_segment(chosen: AttentionViewerChoices, selection: Selection, model: AttentionModel) -> None:
    widgets.number(
        "Segment of the corpus",
        "segment",
        chosen.segment or 1,
        width=180,
        on_change=forget_marks,
        label_visibility="collapsed",
    )

    def go_to(hit: Hit) -> None:
        segments = services.segments(selection.corpora["text"], model, selection.settings)
        session.choose(segment=segments.number_of(hit))
        forget_marks()

    lists.corpus_search(selection.corpora["text"], go_to)


def _choose_example(chosen: AttentionViewerChoices) -> None:
    widgets.select(
        "Sentence",
        [*SENTENCES],
        "example",
        _example(chosen),
        width=280,
        on_change=forget_marks,
        label_visibility="collapsed",
    )


def _write_text(chosen: AttentionViewerChoices, options: widgets.Popover) -> None:
    widgets.text(
        "Segment A",
        "text",
        chosen.text,
        placeholder="A sentence",
        width="stretch",
        on_change=forget_marks,
        label_visibility="collapsed",
    )
    widgets.text(
        "Segment B",
        "second",
        chosen.second,
        placeholder="A second segment",
        width=160,
        on_change=forget_marks,
        label_visibility="collapsed",
    )
    if options.open:
        about = "As in treebanks: each word is tokenized separately."
        with options:
            widgets.toggle("Split words at spaces only", "given", chosen.given, on_change=forget_marks, help=about)


def _example(chosen: AttentionViewerChoices) -> str:
    return chosen.example if chosen.example in SENTENCES else COREFERENCE


def read(selection: Selection, model: AttentionModel) -> OneInput:
    """The chosen input as a model reads it; raises InputError for a text without tokens, and a missing segment."""
    chosen = session.page(AttentionViewerChoices)
    if chosen.input == "corpus":
        segments = services.segments(selection.corpora["text"], model, selection.settings)
        example = segments.pick(chosen.segment or 1)
        return OneInput(example, layout_of(example, model.tokens))
    if chosen.input == "example":
        return from_text(*SENTENCES[_example(chosen)], model.tokens, selection.settings)
    settings = replace(selection.settings, max_length=longest(selection))
    text, second = chosen.text[:MOST_CHARACTERS], chosen.second[:MOST_CHARACTERS]
    return from_text(text, second, model.tokens, settings, pre_split=chosen.given)


def longest(selection: Selection) -> int:
    """The most tokens of an input: of the reader's own text all that the model takes and memory has room for, unless
    the reader has chosen a number."""
    chosen = session.current()
    if chosen.header.max_length is not None or chosen.of_page(AttentionViewerChoices).input != "own text":
        return selection.settings.max_length
    model = selection.checkpoint
    return min(model.max_length or DEFAULT_LENGTH, most_tokens(model.layers, model.heads))


def named_pair(attention: InputAttention) -> tuple[int, int] | None:
    """The (query, key) that an example is about, where its tokens or words are those; None of other inputs."""
    chosen = session.page(AttentionViewerChoices)
    words = PAIRS.get(_example(chosen)) if chosen.input == "example" else None
    labels = [[label.casefold() for label in units.labels] for units in (attention.queries, attention.keys)]
    if words is None or any(word not in units for word, units in zip(words, labels, strict=True)):
        return None
    return labels[0].index(words[0]), labels[1].index(words[1])


def warn_of_cut(single: OneInput, selection: Selection) -> None:
    """Warn that a part of the input is not shown, and name the setting that shows it."""
    chosen = session.page(AttentionViewerChoices)
    icon = ":material/content_cut:"
    length = max(len(chosen.text), len(chosen.second)) if chosen.input == "own text" else 0
    if length > MOST_CHARACTERS:
        st.warning(f"Only the first {MOST_CHARACTERS:,} characters of a text are read here.", icon=icon)
    if length > MAX_CHARACTERS:
        st.caption(
            f":material/link: The address of this page, as a link, has the first {MAX_CHARACTERS:,} characters of this "
            "text alone."
        )
    if single.cut:
        limit = longest(selection)
        allowed = selection.checkpoint.max_length
        more = f" Raise “{MAX_LENGTH}” under “change” to see them." if limit < (allowed or limit + 1) else ""
        st.warning(f"{single.cut:,} tokens over the limit of {limit} were cut from the end.{more}", icon=icon)


def draw_notices(single: OneInput, model: AttentionModel) -> None:
    """Say what of the model's files is not used, and what of the text is not read as it may have been meant."""
    for notice in single.notices(model):
        st.caption(f":material/info: {plain(notice)}")


def forget_marks() -> None:
    """Clear masks, pins, the window, the way back and the origin, in a callback: they belong to one text."""
    marks = {"mask": "", "pin": "", "dependents": "", "seek": "", "from_token": None, "to_token": None}
    session.choose(back="", origin="", first=1, last=None, **marks)


def masked(chosen: AttentionViewerChoices) -> list[int]:
    """The masked positions, from 0: "3,7" is [2, 6]; anything else is ignored."""
    return sorted({int(part) - 1 for part in chosen.mask.split(",") if re.fullmatch(r"[1-9]\d{0,4}", part)})


def toggle_mask(positions: set[int]) -> None:
    """Mask these positions, or unmask them if all of them are masked, in a callback."""
    before = set(masked(session.page(AttentionViewerChoices)))
    changed = before - positions if positions <= before else before | positions
    session.choose(mask=",".join(str(position + 1) for position in sorted(changed)))


def pins(chosen: AttentionViewerChoices, single: OneInput) -> list[tuple[str, int]]:
    """The pins, positions from 0: "from3,to7" is [("from", 2), ("to", 6)]; anything else is ignored. Until the reader
    pins tokens they are on the first pieces of words of the link: "from3" is the third word, on the left."""
    if chosen.pin or single.example.words is None:
        return _marks(chosen.pin)
    owner = single.example.words.tolist()
    return [(side, owner.index(word)) for side, word in _marks(chosen.dependents) if word in owner]


def _marks(text: str) -> list[tuple[str, int]]:
    matches = (re.fullmatch(r"(from|to)([1-9]\d{0,4})", part) for part in text.split(","))
    return [(match[1], int(match[2]) - 1) for match in matches if match]
