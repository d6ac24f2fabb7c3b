"""The attention viewer's drawings: one head on one input, beside it another one, and small pictures of all heads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core import exports
from bertviz_core.analyses.results import to_csv
from bertviz_core.errors import BertvizError, DownloadNeeded
from bertviz_core.heads import Head, all_heads, all_labels
from bertviz_core.models.checkpoint import DEMO
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, Prediction, mask
from bertviz_core.plotting import OVERLAY
from bertviz_core.settings import Weights
from bertviz_core.viewer import InputAttention, InputView, predictions_frame, shorten
from bertviz_core.viewer.files import FOLDER, input_html, input_origin, pack, sides
from bertviz_core.viewer.preview import of_input
from bertviz_core.viewer.query_key import QueryKey
from pages.shared import messages, page, services
from pages.shared.components import component
from pages.shared.frame import Selection, address, choices, header, neighbor
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import viewer_input

ONE, HEADS, MODELS, WEIGHTS = KINDS = ("one head", "two heads", "two models", "weights and norms")


@dataclass(frozen=True)
class Pane:
    """One head on one input, as it is drawn."""

    selection: Selection
    attention: InputAttention
    original: OneInput  # as this model reads it
    shown: OneInput  # with masks, unless it is shown as it was before masking
    masked: Sequence[int]  # positions from 0
    same_tokens: bool = True  # as the first pane, so that pins and masks serve both

    @property
    def title(self) -> str:
        """What is drawn, in a few words."""
        norms = ", norms" if self.selection.settings.weights == "norms" else ""
        return f"Head {self.selection.label}, {self.selection.checkpoint.label}{norms}"

    @property
    def name(self) -> str:
        """File name of saved drawings, without the suffix."""
        norms = ["norms"] * (self.selection.settings.weights == "norms")
        return exports.slug("attention", *norms, self.selection.checkpoint.label, self.selection.head.label())


def pane(
    selection: Selection,
    model: AttentionModel,
    view: InputView,
    original: OneInput,
    masked: Sequence[int] = (),
    *,
    before: bool = False,
) -> Pane:
    """The chosen head on one input, the tokens at `masked` positions masked or, where `before`, marked alone."""
    shown = mask(original, masked, model.tokens) if masked and not before else original
    attention = services.viewed(model, shown, selection.settings.weights, view)
    return Pane(selection, attention, original, shown, masked)


def second(
    panel: DeltaGenerator, kind: str, first: Pane, model: AttentionModel, view: InputView, *, before: bool
) -> Pane | None:
    """Draw the choices of one kind into a panel; None for one head alone, or where the other side cannot be shown."""
    selection = first.selection
    other: Weights = "attention" if selection.settings.weights == "norms" else "norms"
    if kind == ONE:
        return None
    try:
        with panel:
            if kind == MODELS:
                return _other_model(first, view, before)
            selection = _with_head(selection) if kind == HEADS else selection.of_weights(other)
            return pane(selection, model, view, first.original, first.masked, before=before)
    except DownloadNeeded:
        raise
    except BertvizError as problem:
        messages.error(problem)
        return None


def _other_model(first: Pane, view: InputView, before: bool) -> Pane:
    """The same text as another model reads it."""
    known = [*st.session_state.get("models", [DEMO])]
    checkpoint = header.pick_model("Other model", known, key="model2", default=known[0], width=280)
    first.selection.settings.check(checkpoint.max_length)
    selection = _with_head(replace(first.selection, checkpoint=checkpoint))
    model = services.model(checkpoint, selection.settings.dtype)
    original = viewer_input.read(selection, model)
    same = original.layout.tokens.labels == first.original.layout.tokens.labels
    masked = [position for position in first.masked if same and original.can_mask(position, model.tokens)]
    if not same:
        st.caption("This model reads other tokens: pins and masks of one side do not apply to the other.")
    return replace(pane(selection, model, view, original, masked, before=before), same_tokens=same)


def _with_head(selection: Selection) -> Selection:
    """Draw the choice of the second head: the one after the first, until another is chosen."""
    options = all_labels(selection.checkpoint.layers, selection.checkpoint.heads)
    after = neighbor(selection.head.label(), options)
    chosen = choices.selectbox("Second head", options, key="head2", default=after, follows=True, width=120)
    return replace(selection, head=Head.parse(chosen))


def claim(shown: Pane, view: InputView, min_weight: float) -> None:
    """What the head does with the input, in one sentence; also says if no weight reaches `min_weight`."""
    attention = shown.attention
    head = shown.selection.head
    weights = attention.weights[head]
    if not weights.size:
        st.markdown("**No attention to show.**")
        return
    what = shown.selection.settings.weights
    rest = ""
    if view.sides != "all":
        here, there = view.sides.split(" to ")
        rest = f"; it sends {weights.sum(1).mean():.0%} of segment {here}'s {what} to segment {there}"
    elif attention.keys.special.any():
        rest = f"; {weights[:, attention.keys.special].sum(1).mean():.1%} of its {what} goes to special tokens"
    query, key = attention.strongest_pair(head)
    ends = [plain(shorten(label)) for label in (attention.queries.labels[query], attention.keys.labels[key])]
    most = f"attends most strongly from “{ends[0]}” to “{ends[1]}” ({weights[query, key]:.2f})"
    none = "" if weights.max() >= min_weight else f" No weight reaches {min_weight:.2f}, so no lines are drawn."
    st.markdown(f"**Head {shown.selection.label} {most}{rest}.**{none}")


def lines(shown: Pane, key: str, can_mask: bool, min_weight: float, overlaid: Sequence[Head] = ()) -> None:
    """The drawing of one side: its head, with others `overlaid` each in its color. Pins and masks go to the address:
    one on one side is on the other too, where it has the same tokens."""
    attention = shown.attention
    layout = shown.original.layout
    base = shown.selection.base
    colors = OVERLAY if overlaid else (None,)

    def pinned() -> None:
        pins = st.session_state[key]["pins"]
        if pins is not None and shown.same_tokens:
            address.put("pin", ",".join(pins))
            address.put("dependents", "")
            address.release("from_token", "to_token")

    def masked() -> None:
        start = st.session_state[key]["mask"]
        if start is not None:  # of a word every piece
            of_words = attention.queries.start is layout.words.start
            unit = np.flatnonzero(layout.owner == layout.owner[start]).tolist() if of_words else [start]
            viewer_input.toggle_mask(set(unit))

    data = sides(attention, shown.masked) | {
        "heads": [
            {"label": f"Head {head.label(base)}", "color": color, "weights": pack(attention.weights[head])}
            for head, color in zip((shown.selection.head, *overlaid), colors, strict=False)
        ],
        "minWeight": min_weight,
        "title": shown.title,
        "name": shown.name,
        "text": shown.original.digest(),  # with another text the reader's pins give way to those of the address
        "pins": [f"{side}{at + 1}" for side, at in viewer_input.pins()] if shown.same_tokens else [],
        "canMask": can_mask and shown.same_tokens,
    }
    component("attention_lines", FOLDER)(data=data, key=key, on_pins_change=pinned, on_mask_change=masked)


def table(shown: Pane) -> None:
    """The three largest weights of each token, as a plain table for screen readers."""
    attention, weights = shown.attention, shown.attention.weights[shown.selection.head]
    rows = []
    for query, label in enumerate(attention.queries.labels):
        row = {"position": attention.queries.start[query] + 1, "from": plain(shorten(label))}
        for rank, key in enumerate(np.argsort(-weights[query], kind="stable")[:3], start=1):
            row[f"to, {rank}"] = f"{plain(shorten(attention.keys.labels[key]))} {weights[query, key]:.3f}"
        rows.append(row)
    alt = f"The three tokens to which each token attends most in head {shown.selection.label}"
    st.table(rows, hide_index=True, alt=alt)


def pictures(shown: Pane) -> None:
    """Small pictures of all heads, each of which chooses its head."""
    alt = "A small picture of every head's attention, layer by head"
    drawing = memoize(InputAttention.pictures, shown.attention, shown.selection.base)
    lines = memoize(of_input, shown.attention)
    page.head_map(drawing, "attention-heads", alt, shown.selection, lines=lines)


def downloads(
    shown: Pane,
    pair: tuple[int, int],
    whole: Sequence[Prediction],
    without: Sequence[Prediction],
    off: np.ndarray | None,
    products: QueryKey | None,
    *,
    as_lines: bool,
) -> None:
    """Offer the shown head as CSV, every head as HTML and safetensors, all heads from the one to the other of a `pair`
    (query, key), the guesses for masked words and the `products` as CSV; lines have buttons of their own."""
    attention = shown.attention
    selection = shown.selection
    digest = shown.shown.digest()
    about = input_origin(selection.checkpoint, selection.settings, digest)
    head = selection.head
    name = f"{shown.name}-{digest[:8]}"
    of_head = {"head": head.label(), **about}
    offered = {
        "CSV": (f"{name}.csv", lambda: attention.to_csv(head, of_head)),
        "CSV: heads": (f"{name}.heads.csv", lambda: attention.pair_to_csv(*pair, about)),
        "HTML": (f"{name}.html", lambda: input_html(attention, head, about)),
        "safetensors": (f"{name}.safetensors", lambda: attention.to_safetensors(about)),
    }
    asked = ""
    if whole or without:
        guesses = {"": whole}
        if off is not None:
            guesses |= {" ".join(each.label() for each in all_heads(*off.shape) if off[each]): without}
        asked = "; guesses: what the model expects of masked words"
        offered["CSV: guesses"] = (f"{name}.guesses.csv", lambda: to_csv(predictions_frame(guesses).assign(**about)))
    if products is not None:
        offered["CSV: query × key"] = (f"{name}.query-key.csv", partial(products.to_csv, of_head))
    page.offer_files(offered)
    pictures = " SVG and PNG: the buttons below the lines." if as_lines else ""
    st.caption(
        f"CSV: this head, as shown; heads: all heads from one token to the other{asked}. "
        f"HTML: the lines of every head, to hover over. safetensors: every head.{pictures}"
    )
