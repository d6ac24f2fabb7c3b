"""What the attention viewer says of masked words: the model's guesses, and how they change without heads."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.heads import highest
from bertviz_core.models.single_input import Prediction
from bertviz_core.numbers import plural
from bertviz_core.viewer.view import shorten
from pages.shared.frame.selection import Selection
from pages.shared.messages import plain

GUESSES = 3


def masking(difference: np.ndarray, predictions: Sequence[Prediction], selection: Selection) -> None:
    """How far attention moved, and what the model would write instead, the token that stood there in bold."""
    head = selection.head
    top = highest(difference)
    st.markdown(
        f"**Masking** shifted {difference[head]:.0%} of head {selection.label}'s attention, and "
        f"{difference[top]:.0%} of head {top.label(selection.base)}'s, the largest shift of any "
        "head."
    )
    lines = []
    for prediction in predictions:
        best = [f"{quoted(label, label == prediction.original)} {share:.1%}" for label, share in prediction.best]
        was = f"{quoted(prediction.original, True)}, {prediction.probability:.1%}, rank {prediction.rank:,}"
        lines.append(f"- Position {prediction.position + 1} ({was}): the model expects {', '.join(best)}")
    st.markdown("\n".join(lines))
    if not predictions:
        st.caption("This model has no masked-language-modeling (MLM) head, so it makes no predictions.")


def quoted(label: str, bold: bool) -> str:
    """A token's label between quotation marks, as Markdown."""
    return f"**“{plain(shorten(label))}”**" if bold else f"“{plain(shorten(label))}”"


def compared_guesses(whole: Sequence[Prediction], without: Sequence[Prediction], off: np.ndarray) -> None:
    """What the model guesses for each masked word, with all heads and without those that are switched off."""
    count = int(off.sum())
    if not whole:
        off_now = f"{plural(count, 'heads')} {'is' if count == 1 else 'are'} switched off"
        st.caption(
            f"{off_now}. Mask a word (select it, then M) to see the guesses without {'it' if count == 1 else 'them'}."
        )
        return
    rows = [_row(before, after, count) for before, after in zip(whole, without, strict=True)]
    st.table(rows, hide_index=True, alt="The guesses for each masked word, with all heads and without some")


def _row(before: Prediction, after: Prediction, count: int) -> dict[str, str]:
    return {
        "masked word": f"{before.position + 1}: **“{plain(shorten(before.original))}”**",
        "whole model": _best(before),
        f"without {count} head{'s' if count > 1 else ''}": _best(after),
        "change of its loss": f"{after.loss - before.loss:+.2f} nats",
    }


def _best(prediction: Prediction) -> str:
    shown = prediction.best[:GUESSES]
    return ", ".join(f"{quoted(label, label == prediction.original)} {share:.1%}" for label, share in shown)
