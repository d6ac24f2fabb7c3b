"""The gold tree of a sentence that came from a treebank: its arcs above the words, its dependents pinned."""

from dataclasses import replace

import streamlit as st

from bertviz_core.corpora.treebank import BrokenSentence, Sentence, check_tree
from bertviz_core.models.single_input import OneInput
from bertviz_core.numbers import small_int
from bertviz_core.plotting.arcs import gold_arc, sentence_svg
from pages.shared.components import drawings
from pages.shared.frame import address, choices
from pages.shared.views import input_choice


def show(single: OneInput) -> None:
    """Draw the sentence with its gold arcs, those of pinned words strong, and their switch, where the link by which the
    reader came has them."""
    if not address.get("gold") or choices.toggle("Hide gold arcs", key="no_gold"):
        return
    tree = tree_of((st.session_state.get("text") or "").split(), address.get("gold"))
    if tree is None:
        st.caption("The gold arcs of this link do not fit its text, and are not drawn.")
        return
    words = single.example.words
    pins = input_choice.pinned_positions(address.get("pin"))
    pinned = {int(words[start]) for _, start in pins if words is not None and start < len(words)} - {-1}
    rows = enumerate(zip(tree.governors, tree.relations, strict=True))
    arcs = [replace(gold_arc(tree.words, i, *row), faint=bool(pinned) and i not in pinned) for i, row in rows]
    drawings([("Gold arcs", sentence_svg(tree.words, arcs, [], "The gold arcs of the treebank"))], "gold-tree")


def tree_of(words: list[str], gold: str) -> Sentence | None:
    """The words with their tree, `gold` being "2-det 0-root" for two words; None where they are no tree."""
    parts = [part.partition("-") for part in gold.split()]
    governors = [small_int(governor) for governor, _, _ in parts]
    if len(parts) != len(words) or None in governors:
        return None
    sentence = Sentence(0, 1, tuple(words), tuple(g or 0 for g in governors), tuple(name for *_, name in parts))
    try:
        return check_tree(sentence, [1] * len(words), single_root=False)
    except BrokenSentence:
        return None


def pin(single: OneInput) -> None:
    """Words of the address ("from3": the third word on the left) are pinned until the reader pins others."""
    marked = input_choice.pinned_positions(address.get("dependents"))
    if marked and single.example.words is not None:
        owner = single.example.words.tolist()
        address.imply("pin", ",".join(f"{side}{owner.index(word) + 1}" for side, word in marked if word in owner))
