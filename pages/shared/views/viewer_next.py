"""What a decoder expects after a token of the viewer's input, and which heads write it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from bertviz_core.errors import ModelError
from bertviz_core.heads import all_heads
from bertviz_core.models.next_words import ExpectedToken, LogitSplit, expects_next_words
from bertviz_core.numbers import number, plural
from bertviz_core.plotting.head_map import signed_map
from bertviz_core.text_display import cut_end
from pages.shared import messages, page, services, widgets
from pages.shared.costly import head_frame, of_input
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices
from pages.shared.views.viewer_panes import Pane

CONTRIBUTION = "contribution"
SIDE = 5  # heads for a token, and against it

contribution_map = memoized(signed_map)


@dataclass(frozen=True)
class NextToken:
    """A token that may come next, as a reader has chosen it.

    Attributes:
        position: That of the token before it, from 0.
        before: The label of the token before it.
    """

    position: int
    before: str
    chosen: ExpectedToken


def choose(pane: Pane) -> NextToken | None:
    """Draw the tokens that the model expects after the token that was pinned last, else after the last one; None where
    the model predicts no next words."""
    if not expects_next_words(pane.model):
        return None
    labels = pane.shown.layout.tokens.labels
    pinned = [position for _, position in pane.pins if position < len(labels)]
    position = pinned[-1] if pinned else len(labels) - 1
    expected = services.expected_tokens(pane.model, pane.shown, position)
    place = f"“{plain(cut_end(labels[position]))}” ({position + 1})"
    st.markdown(f"**Expected after {place}**; click another token")
    rank = min(session.page(AttentionViewerChoices).expected, len(expected))
    names = {number: _name(each) for number, each in enumerate(expected, 1)}
    rank = widgets.pills(
        "Next token", [*names], "expected", rank, format_func=names.__getitem__, label_visibility="collapsed"
    )
    return NextToken(position, labels[position], expected[rank - 1])


def _name(expected: ExpectedToken) -> str:
    is_next = " (comes next)" if expected.is_next else ""
    return f"“{plain(cut_end(expected.label, 20))}” {_share(expected.probability)}{is_next}"


def _share(probability: float) -> str:
    """A probability in percent, with two digits where it is small."""
    return f"{probability:.1%}" if probability >= 0.01 else f"{100 * probability:.2g}%"


def draw(pane: Pane, following: NextToken, ablated: np.ndarray | None) -> pd.DataFrame | None:
    """Draw what adds up to the logit of the chosen token, and the heads for and against it.

    Args:
        ablated: (layer, head) bool, the heads that a reader ablates; None for none.

    Returns:
        A row for each head; None where the logits of the model are no such sum.
    """
    token = plain(cut_end(following.chosen.label))
    st.header(f"Which heads write “{token}” after “{plain(cut_end(following.before))}”?", anchor=False)
    if pane.model.observable:
        st.markdown(_without(pane, following, ablated))
    try:
        split = services.split_logit(pane.model, pane.shown, following.position, following.chosen.token)
    except ModelError as problem:
        messages.note(problem)
        return None
    st.markdown(_sum(split, token))
    frame = head_frame({CONTRIBUTION: split.heads}).sort_values(CONTRIBUTION, ascending=False, kind="stable")
    left, right = st.columns([2, 3], gap="medium")
    with left:
        alt = "Map of all heads, layer by head, colored by what each adds to the logit"
        squares = contribution_map(split.heads, CONTRIBUTION, "nats")
        page.head_map(squares, "next-map", alt, pane.selection, lines=of_input(pane.drawn))
    with right:
        for column, (title, side) in zip(st.columns(2), _sides(frame), strict=True):
            with column:
                st.markdown(f"**{title}**")
                page.table(side, [CONTRIBUTION], pane.selection, f"next-{title.lower()}")
        st.caption("Nats. A click on a row or a square shows the head's lines.")
    return frame.assign(after_position=following.position + 1, after=following.before, token=following.chosen.label)


def _sides(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The heads that add most to a logit, and those that take most away."""
    up, down = frame[frame[CONTRIBUTION] > 0], frame[frame[CONTRIBUTION] < 0]
    return [("For", up.head(SIDE)), ("Against", down.iloc[::-1].head(SIDE))]


def _without(pane: Pane, following: NextToken, ablated: np.ndarray | None) -> str:
    """The token's probability, and what it is without the chosen head, or without those that a reader ablates."""
    off = ablated
    if off is None:
        off = np.zeros((pane.model.layers, pane.model.heads), dtype=bool)
        off[pane.selection.head] = True
    heads = [head for head in all_heads(*off.shape) if off[head]]
    names = f"head {heads[0].label()}" if len(heads) == 1 else plural(len(heads), "heads")
    share = services.probability_without(pane.model, pane.shown, following.position, following.chosen.token, off)
    return (
        f"**Its probability is {_share(following.chosen.probability)}, without {names} {_share(share)}** "
        "(ablated: zeros stand in for the output, and later layers follow)."
    )


def _sum(split: LogitSplit, token: str) -> str:
    """The parts of a logit, as a sentence."""
    parts = {
        "heads": float(split.heads.sum()),
        "MLPs": float(split.mlps.sum()),
        "embeddings": split.embeddings,
        "biases": split.biases,
    }
    added = ", ".join(f"{name} {number(value, '+')}" for name, value in parts.items())
    cap = "" if split.cap is None else f" The model then caps logits at ±{split.cap:g}; these are from before the cap."
    return (
        f"The logit of “{token}” is {number(split.logit, '+')} nats from the mean of the vocabulary: {added}. That is "
        f"what each part adds directly, through no later layer.{cap}"
    )
