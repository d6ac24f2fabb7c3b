"""Parts of the ablation page: the words that a head's absence spoils, and how many heads are needed."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analyses.ablation.result import Ablation, Word
from pages.shared import boxes
from pages.shared.boxes import joined, plain
from pages.shared.frame import links
from pages.shared.frame.selection import Selection

TOLERANCE = 0.05  # of the whole model's loss


@boxes.fragment()
def words(result: Ablation, selection: Selection) -> None:
    """The words whose loss rises most without the chosen head, with the guesses before and after."""
    worst = list(result.words(selection.head))
    st.markdown(f"**Words that head {selection.label} helps to predict**, the largest rise of the loss first")
    if not worst:
        st.caption("No word gets worse without this head.")
    for word in worst:
        rise = word.loss_after - word.loss_before
        st.markdown(
            f"**+{rise:.2f}** {_guesses(word)}  \n:gray[{joined(word.left)}] **{plain(word.shown)}** "
            f":gray[{joined(word.right)}]"
        )
        links.to_segment(word.number)


def needed(result: Ablation) -> str:
    """One sentence on how many heads can be switched off while the loss stays near the whole model's."""
    within = result.removed[result.removed_loss <= (1 + TOLERANCE) * result.loss]
    count, total = int(within.max()), int(result.removed.max())
    return f"{count} of {total} heads can be switched off together while the loss stays within {TOLERANCE:.0%}."


def _guesses(word: Word) -> str:
    """The word with its guesses: bold where they are right."""
    before, after = (_marked(guess, word.original) for guess in (word.before, word.after))
    return f"“{plain(word.original)}”: the model guesses {before}, without the head {after}"


def _marked(guess: str, original: str) -> str:
    return f"**“{plain(guess)}”** ✓" if guess == original else f"“{plain(guess)}” ✗"
