"""Which heads attend from one token to another: the choice of two tokens, and all heads by that weight."""

import streamlit as st

from bertviz_core.heads import Head
from bertviz_core.models.labels import Units
from bertviz_core.plotting.head_map import value_map
from bertviz_core.viewer.view import InputAttention, shorten
from pages.shared import page, preview
from pages.shared.frame import address, choices
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import input_choice

KEYS = ("from_token", "to_token")


def heads(attention: InputAttention, selection: Selection) -> tuple[int, int]:
    """Draw the choice of the two, the map and the table of all heads; a click chooses a head.

    Returns:
        The (query, key) that were chosen.
    """
    st.header("Which heads attend from one token to another?")
    opening = _opening(attention)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = _choose("From", attention.queries, KEYS[0], opening[0])
        key = _choose("To", attention.keys, KEYS[1], opening[1])
        help_text = "Takes two pinned tokens: one on the left, one on the right."
        st.button("Use the pins", on_click=follow_pins, icon=":material/keep:", help=help_text)
    frame = memoize(InputAttention.pair_frame, attention, query, key)
    best, mine = frame.iloc[0], frame.loc[frame["label"] == selection.head.label()].iloc[0]
    ends = [plain(shorten(label)) for label in (attention.queries.labels[query], attention.keys.labels[key])]
    highest = Head.parse(best["label"]).label(selection.base)
    st.markdown(
        f"**Head {highest} attends most strongly from “{ends[0]}” to “{ends[1]}” ({best['weight']:.2f})**; head "
        f"{selection.label}: {mine['weight']:.2f}, rank {mine['rank']} of {len(frame)}."
    )
    left, right = st.columns([2, 3], gap="medium")
    with left:
        weights, unit = attention.weights[:, :, query, key], selection.settings.weights
        squares = memoize(value_map, weights, "weight", base=selection.base, unit=unit)
        alt = "Map of all heads, layer by head, colored by the weight from one token to the other"
        page.head_map(squares, "pair-map", alt, selection, lines=memoize(preview.of_input, attention), own=False)
    with right:
        page.table(frame, ["weight", "rank", "rank_of_target"], selection, "pair-table")
        st.caption("Rank of target: 1 = this token's strongest target in that head.")
    return query, key


def follow_pins() -> None:
    """Choose the two pinned tokens, in a callback."""
    address.release(*KEYS)


def _choose(label: str, units: Units, key: str, default: int) -> int:
    """The index of the chosen unit; the address has the position of its first token, from 1."""
    starts = [int(start) + 1 for start in units.start]
    names = {start: f"{start}  {shorten(text)}" for start, text in zip(starts, units.labels, strict=True)}
    start = choices.selectbox(
        label, starts, key=key, default=starts[default], follows=True, format_func=names.__getitem__, width=220
    )
    return starts.index(start)


def _opening(attention: InputAttention) -> tuple[int, int]:
    """The last pin on each side; for a missing one, the token with the largest weight of any head."""
    starts = {"from": attention.queries.start.tolist(), "to": attention.keys.start.tolist()}
    pins = input_choice.pinned_positions(address.get("pin"))
    last = {side: starts[side].index(start) for side, start in pins if start in starts[side]}
    return attention.opening_pair(last.get("from"), last.get("to"))
