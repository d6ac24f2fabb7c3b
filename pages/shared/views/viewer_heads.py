"""The attention viewer's choices of heads, and its parts on single tokens: guesses, pairs, a query's products."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.errors import ModelError
from bertviz_core.heads import Head, all_heads, highest
from bertviz_core.inputs.labels import Units
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import Prediction
from bertviz_core.numbers import plural
from bertviz_core.plotting import OVERLAY
from bertviz_core.text_display import cut_end
from bertviz_core.viewer import figure
from bertviz_core.viewer.input_attention import InputAttention, named_groups
from bertviz_core.viewer.query_key import MASKED, QueryKey, compute_query_key
from pages.shared import messages, page, stored, widgets
from pages.shared.costly import behavior_heads, of_input, value_map
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices
from pages.shared.state.selection import Selection
from pages.shared.views import viewer_input
from pages.shared.views.viewer_panes import Pane

groups_of = memoized(named_groups)
pair_frame = memoized(InputAttention.pair_frame)

QUERY_KEY = "query × key"
GUESSES = 3  # of each model, side by side


def choose_overlaid(chosen: AttentionViewerChoices, selection: Selection, is_open: bool) -> list[Head]:
    """The heads that are drawn over the chosen one; their choice is drawn where its popover is open."""
    groups = _groups(selection)
    names = [name for name in chosen.overlay if name in groups]
    if is_open:
        about = f"Counted from 1. They are drawn over the chosen head; at most {len(OVERLAY)} heads in all."
        _choose_heads("Heads overlaid in color", "overlay", names, groups, about)
    if not names:
        return []
    together = np.logical_or.reduce([groups[name] for name in names])
    heads = [head for head in all_heads(*together.shape) if together[head] and head != selection.head]
    if len(heads) >= len(OVERLAY) and is_open:
        st.caption(f"The first {len(OVERLAY) - 1} of {len(heads)} heads are drawn over head {selection.label}.")
    return heads


def choose_ablated(
    chosen: AttentionViewerChoices, selection: Selection, model: AttentionModel, is_open: bool
) -> np.ndarray | None:
    """The heads to ablate, (layer, head) bool; None for none, or where none can be. Their choice is drawn where its
    popover is open."""
    if model.language_model is None or not model.observable:
        return None
    groups = _groups(selection)
    names = [name for name in chosen.off if name in groups]
    if is_open:
        about = (
            "Counted from 1. Their outputs are replaced by zeros; the guesses for masked or next words without them "
            "stand beside those of the whole model. Lines and pictures stay those of the whole model."
        )
        _choose_heads("Ablated heads", "off", names, groups, about)
    return np.logical_or.reduce([groups[name] for name in names]) if names else None


def _groups(selection: Selection) -> dict[str, np.ndarray]:
    """The heads, layers and behaviors that can be chosen, each (layer, head) bool."""
    model = selection.checkpoint
    members = behavior_heads(stored.results(selection))
    return groups_of(model.layers, model.heads, members)


def _choose_heads(label: str, field: str, names: Sequence[str], groups: Mapping[str, np.ndarray], about: str) -> None:
    widgets.multiselect(label, [*groups], field, names, placeholder="Heads, layers or behaviors", help=about)


def draw_shift(difference: np.ndarray, selection: Selection) -> None:
    """Say how far masking moved the attention of the chosen head, and of the one that it moved furthest.

    Args:
        difference: (layer, head) share of attention that moved, 0 to 1.
        selection: Of the chosen head.
    """
    head = selection.head
    top = highest(difference)
    st.markdown(
        f"**Masking** shifted {difference[head]:.0%} of head {selection.label}'s attention, and "
        f"{difference[top]:.0%} of head {top.label()}'s, the largest shift of any head."
    )


def draw_guesses(guesses: Mapping[str, Sequence[Prediction]], *, can_mask: bool) -> None:
    """A row for each masked word; `guesses` by the heads that are off: "" for none, and if there are any "3-5 4-1"."""
    if not can_mask:
        st.caption("This model guesses no masked words: what it does without heads is on the page “Ablation”.")
        return
    whole, *ablated = guesses.values()
    count = sum(len(names.split()) for names in guesses)
    if not whole:
        hint = f"{plural(count, 'heads')} ablated. Mask a word (select it, then M) to compare the guesses."
        missing = "This model has no masked-language-modeling (MLM) head, so it makes no predictions."
        st.caption(hint if count else missing)
        return
    rows = []
    for index, guess in enumerate(whole):
        row = {
            "masked word": f"{guess.position + 1}: {_quoted(guess.original, True)}",
            "rank of the right word": f"{guess.rank:,} ({guess.probability:.1%})",
            "the model's guesses": _best(guess, GUESSES if ablated else None),
        }
        for without in ablated:
            row[f"without {plural(count, 'heads')}"] = _best(without[index], GUESSES)
            row["change of its loss"] = f"{without[index].loss - guess.loss:+.2f} nats"
        rows.append(row)
    st.table(rows, hide_index=True, alt="The guesses for each masked word, with all heads and without some")


def _best(guess: Prediction, count: int | None) -> str:
    best = guess.best[:count]
    return ", ".join(f"{_quoted(label, label == guess.original)} {share:.1%}" for label, share in best)


def _quoted(label: str, bold: bool) -> str:
    return f"**“{plain(cut_end(label))}”**" if bold else f"“{plain(cut_end(label))}”"


def draw_token_pair(pane: Pane) -> tuple[int, int]:
    """Draw the choice of two tokens, at first the last pins, and all heads by the weight between them."""
    attention = pane.attention
    selection = pane.selection
    st.header("Which heads attend from one token to another?", anchor=False)
    starts = {"from": attention.queries.start.tolist(), "to": attention.keys.start.tolist()}
    last = {side: starts[side].index(start) for side, start in pane.pins if start in starts[side]}
    opening = attention.opening_pair(last.get("from"), last.get("to"))
    if not pane.pins and (named := viewer_input.named_pair(attention)):
        opening = named
    chosen = session.page(AttentionViewerChoices)
    with page.row():
        query = _choose_unit("From", attention.queries, "from_token", chosen.from_token, opening[0])
        key = _choose_unit("To", attention.keys, "to_token", chosen.to_token, opening[1])
        about = "Takes two pinned tokens: one on the left, one on the right."
        none = {"from_token": None, "to_token": None}
        st.button("Use the pins", on_click=session.choose, kwargs=none, icon=":material/keep:", help=about)
    frame = pair_frame(attention, query, key)
    best = frame.iloc[0]
    chosen = frame.loc[frame["label"] == selection.head.key()].iloc[0]
    ends = [plain(cut_end(label)) for label in (attention.queries.labels[query], attention.keys.labels[key])]
    label = Head.parse(best["label"]).label()
    st.markdown(
        f"**Head {label} attends most strongly from “{ends[0]}” to “{ends[1]}” ({best['weight']:.2f})**; head "
        f"{selection.label}: {chosen['weight']:.2f}, rank {chosen['rank']} of {len(frame)}."
    )
    left, right = st.columns([2, 3], gap="medium")
    with left:
        weights = attention.weights[:, :, query, key]
        unit = selection.settings.weights
        squares = value_map(weights, "weight", unit=unit)
        alt = "Map of all heads, layer by head, colored by the weight from one token to the other"
        page.head_map(squares, "pair-map", alt, selection, lines=of_input(pane.drawn))
    with right:
        page.table(frame, ["weight", "rank", "rank_of_target"], selection, "pair-table")
        st.caption("Rank of target: 1 = this token's strongest target in that head.")
    return query, key


def _choose_unit(
    label: str,
    units: Units,
    field: str,
    chosen: int | None,
    default: int,
    prefix: str = "",
    label_visibility: Literal["visible", "collapsed"] = "visible",
) -> int:
    """Draw the choice of a unit, and return its index; the address has the position of its first token, from 1."""
    starts = [int(start) + 1 for start in units.start]
    names = {start: f"{prefix}{start}  {cut_end(text)}" for start, text in zip(starts, units.labels, strict=True)}
    start = chosen if chosen in names else starts[default]
    start = widgets.select(
        label,
        starts,
        field,
        start,
        format_func=names.__getitem__,
        width=220,
        label_visibility=label_visibility,
    )
    return starts.index(start)


def draw_query_key(pane: Pane, controls: DeltaGenerator) -> QueryKey | None:
    """Draw the choice of a query token into `controls`, and how its weights arise; None if the model cannot show it."""
    tokens = pane.shown.layout.tokens
    selection = pane.selection
    pinned = dict(pane.pins)  # the last ones
    strongest, _ = pane.attention.strongest_pair(selection.head)
    default = pinned.get("from", int(pane.attention.queries.start[strongest]))
    chosen = session.page(AttentionViewerChoices).query
    with controls:
        at = min(default, len(tokens) - 1)
        query = _choose_unit("Query token", tokens, "query", chosen, at, "query ", label_visibility="collapsed")
    try:
        products = compute_query_key(pane.model, pane.shown, selection.head, query)
    except ModelError as problem:
        messages.note(problem)
        return None
    key = min(pinned.get("to", int(products.weights.argmax())), len(tokens) - 1)
    ends = plain(cut_end(tokens.labels[query])), plain(cut_end(tokens.labels[key]))
    st.markdown(_arithmetic(products, key, ends, selection.settings.weights == "norms"))
    alt = f"Query of {tokens.labels[query]} times every key, by dimension, and the weights that result"
    shown = products
    if pane.window:
        shown = products.keep(pane.window.has(tokens) | tokens.special | (tokens.start == 0))
    page.chart(figure.products_figure(shown), "query-key", alt, selection.basis)
    st.caption("Blue: positive, orange: negative. A token pinned on the right of the lines is the key.")
    return products


def _arithmetic(products: QueryKey, key: int, ends: tuple[str, str], as_norms: bool) -> str:
    """One weight from query and key, as a sentence."""
    if products.logits[key] < MASKED:
        return f"**“{ends[0]}” cannot see “{ends[1]}”, which is masked.**"
    added = f" {products.bias[key]:+.2f} (bias) = {products.logits[key]:.2f}" if products.has_bias else ""
    sink = "" if products.sink is None else f" and a learned sink with the score {products.sink:.2f}"
    norms = " Norms are computed from these weights." if as_norms else ""
    return (
        f"**From “{ends[0]}” to “{ends[1]}”: query · key = {products.products[key].sum():.2f}, "
        f"× {products.scale:.3f} = {products.scores[key]:.2f}{plain(added)}; "
        f"the softmax over {len(products.keys)} keys{sink} makes it {products.weights[key]:.3f}.**{norms}"
    )
