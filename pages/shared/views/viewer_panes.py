"""The attention viewer's drawings: one head on one input, beside it another one, and small pictures of all heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core import exports
from bertviz_core.analyses.base.result import csv_bytes, head_frame
from bertviz_core.errors import BertvizError, DownloadNeeded
from bertviz_core.heads import Head, all_heads, all_keys, all_labels
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, Prediction, mask
from bertviz_core.plotting import OVERLAY
from bertviz_core.settings import Weights
from bertviz_core.text_display import cut_end
from bertviz_core.viewer.files import FOLDER, MIN_WEIGHT, columns_of, input_html, input_origin, pack_weights
from bertviz_core.viewer.input_attention import InputAttention, InputView, predictions_frame
from bertviz_core.viewer.query_key import QueryKey
from bertviz_core.viewer.window import TokenRange
from pages.shared import head_panel, messages, page, services, stored, widgets
from pages.shared.components import component
from pages.shared.costly import of_input
from pages.shared.frame import context, neighbor
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices
from pages.shared.state.selection import Selection
from pages.shared.views import viewer_input

cut = memoized(TokenRange.cut)
pictures = memoized(InputAttention.pictures)

ONE, HEADS, MODELS, WEIGHTS = KINDS = ("one head", "two heads", "two models", "weights and norms")


@dataclass(frozen=True)
class Pane:
    """The chosen head of a selection on one input, as it is drawn. Positions count from 0.

    Attributes:
        selection: The model, the settings and the head.
        view: What is shown of the input.
        original: The input as this model reads it.
        shown: The input with masks; or the original.
        masked: Positions of masked words, which are marked in the original too.
        pins: Sides and positions of pinned words.
        window: The part of a long input that is drawn; None for the whole of a short one.
        found: Positions of words that are searched.
        same_tokens: Whether it has the tokens of the first pane, so that pins and masks serve both.
    """

    selection: Selection
    model: AttentionModel
    view: InputView
    original: OneInput
    shown: OneInput
    masked: Sequence[int] = ()
    pins: Sequence[tuple[str, int]] = ()
    window: TokenRange | None = None
    found: Sequence[int] = ()
    same_tokens: bool = True

    @cached_property
    def attention(self) -> InputAttention:
        """Attention between the units of the view."""
        return services.viewed(self.model, self.shown, self.selection.settings.weights, self.view)

    @cached_property
    def drawn(self) -> InputAttention:
        """The attention that is drawn at once: of a long input that in its window."""
        if self.window is None:
            return self.attention
        pinned = frozenset(position for _, position in self.pins)
        return cut(self.window, self.attention, pinned)

    @property
    def described(self) -> InputAttention:
        """What is drawn, from the tokens of the window alone."""
        if self.window is None:
            return self.drawn
        return self.drawn.keep(self.window.has(self.drawn.queries), np.ones(len(self.drawn.keys), dtype=bool))

    @property
    def title(self) -> str:
        """The head and the model, in words."""
        norms = ", norms" if self.selection.settings.weights == "norms" else ""
        return f"Head {self.selection.label}, {self.selection.checkpoint.label}{norms}"

    @property
    def heading(self) -> str:
        """The title with what the head does, as far as it is known."""
        role = head_panel.role_of(stored.results(self.selection), self.selection.head)
        return self.title.replace(",", f": {role},", 1) if role else self.title

    @property
    def sentence(self) -> str:
        """The words of the input."""
        words = self.shown.layout.words
        return " ".join(label for label, special in zip(words.labels, words.special, strict=True) if not special)

    @property
    def origin(self) -> dict[str, Any]:
        """Where its numbers come from, for files."""
        return input_origin(self.selection.checkpoint, self.selection.settings, self.shown.digest())

    def to_csv(self) -> bytes:
        """The weights of its head."""
        head = self.selection.head
        return self.attention.to_csv(head, {"head": head.key(), **self.origin})

    @property
    def name(self) -> str:
        """File name of saved drawings, without the suffix."""
        norms = ["norms"] if self.selection.settings.weights == "norms" else []
        return exports.slug("attention", *norms, self.selection.checkpoint.label, self.selection.head.key())


def second_pane(first: Pane, chosen: AttentionViewerChoices, panel: DeltaGenerator) -> Pane | None:
    """What stands beside the first pane; its choices are drawn into `panel`, above it. None for one head alone, and
    after an error, which is drawn."""
    selection = first.selection
    other: Weights = "attention" if selection.settings.weights == "norms" else "norms"
    if chosen.beside == ONE:
        return None
    try:
        if chosen.beside == MODELS:
            second = _other_model(first, chosen, panel)
        elif chosen.beside == HEADS:
            second = replace(first, selection=_other_head(selection, chosen, panel))
        else:
            second = replace(first, selection=selection.of_weights(other))
        second.attention  # raises where it cannot be shown
        return second
    except DownloadNeeded:
        raise
    except BertvizError as problem:
        with panel:
            messages.error(problem)
        return None


def _other_model(first: Pane, chosen: AttentionViewerChoices, panel: DeltaGenerator) -> Pane:
    """The same text as another model reads it."""
    known = [*session.current().models]
    name = chosen.model2 or known[0]
    with panel.container(width=280):
        checkpoint = context.pick_model("Other model", known, "model2", name)
    first.selection.settings.check(checkpoint.max_length)
    selection = _other_head(replace(first.selection, checkpoint=checkpoint), chosen, panel)
    model = services.model(checkpoint, selection.settings.dtype)
    original = viewer_input.read(selection, model)
    same = original.layout.tokens.labels == first.original.layout.tokens.labels
    if not same:
        with panel:
            st.caption("This model reads other tokens: pins and masks of one side do not apply to the other.")
    masked = [position for position in first.masked if same and original.can_mask(position, model.tokens)]
    is_original = not masked or first.shown is first.original
    shown = original if is_original else mask(original, masked, model.tokens)
    pins = first.pins if same else ()
    total = len(original.layout.tokens)
    window = first.window and TokenRange.of(total, first.window.first, first.window.last)
    found = first.found if same else ()
    return Pane(selection, model, first.view, original, shown, masked, pins, window, found, same)


def _other_head(selection: Selection, chosen: AttentionViewerChoices, panel: DeltaGenerator) -> Selection:
    model = selection.checkpoint
    shape = model.layers, model.heads
    after = Head.parse(neighbor(selection.head.key(), all_keys(*shape)))
    head = chosen.head2 if chosen.head2 in all_heads(*shape) else after
    labels = dict(zip(all_keys(*shape), all_labels(*shape), strict=True))
    with panel:
        widgets.head(
            "Second head",
            shape,
            "head2",
            head,
            width=131,
            label_visibility="collapsed",
            format_func=lambda option: f"Head {labels[option]}",
        )
    return replace(selection, head=head)


def draw_summary(pane: Pane, min_weight: float) -> None:
    """What the head does with the input, in one sentence; whether no weight reaches `min_weight`, and what is left
    out."""
    attention = pane.described
    head = pane.selection.head
    weights = attention.weights[head]
    if not weights.size:
        st.markdown("**No attention to show.**")
        return
    what = pane.selection.settings.weights
    rest = ""
    share, is_most, sinks = attention.to_sinks(head, causal=pane.model.causal)
    is_sink = pane.view.sides == "all" and is_most
    if pane.view.sides != "all":
        here, there = pane.view.sides.split(" to ")
        rest = f"; it sends {weights.sum(1).mean():.0%} of segment {here}'s {what} to segment {there}"
    elif sinks and not is_sink:
        rest = f"; {share:.1%} of its {what} goes to {sinks}"
    if pane.window:
        beyond = pane.window.beyond(pane.attention, pane.drawn, head)
        not_drawn = f"{beyond:.0%}" if rest else f"{beyond:.0%} of its {what}"
        rest += f"{',' if rest else ';'} {not_drawn} to tokens not drawn"
    most = _strongest(attention, head)
    if is_sink:
        others = f"to others it {most}" if most else f"no weight between others reaches {MIN_WEIGHT}"
        most = f"gives {share:.1%} of its {what} to {sinks}; {others}"
    most = most or f"has no weight between other tokens that reaches {MIN_WEIGHT}"
    none = "" if weights.max() >= min_weight else f" No weight reaches {min_weight:.2f}, so no lines are drawn."
    where = f"In tokens {pane.window.first:,} to {pane.window.last:,}, head" if pane.window else "Head"
    st.markdown(f"**{where} {pane.selection.label} {most}{rest}.**{none}{_left_out(pane.view)}")


def _strongest(attention: InputAttention, head: Head) -> str:
    """Between which tokens a head attends most, by preference of words; empty where no line would be drawn."""
    query, key = attention.strongest_pair(head)
    weight = attention.weights[head][query, key]
    origin, target = (
        f"“{plain(cut_end(units.labels[at]))}”" for units, at in ((attention.queries, query), (attention.keys, key))
    )
    if attention.queries.start[query] == attention.keys.start[key]:
        target = "itself"
    return f"attends most strongly from {origin} to {target} ({weight:.2f})" if weight >= MIN_WEIGHT else ""


def _left_out(view: InputView) -> str:
    """Which tokens a view leaves out, as a sentence; empty for none."""
    hidden = ["special tokens"] * (not view.special) + ["the first token"] * (not view.first)
    return f" Without {' and '.join(hidden)}: the other weights are rescaled to sum to 1." if hidden else ""


def draw_lines(
    pane: Pane, key: str, can_mask: bool, min_weight: float, overlaid: Sequence[Head] = (), field: str = "head"
) -> None:
    """Draw the lines of a pane's head; pins and masks go to the address, for both panes.

    Args:
        can_mask: Whether the model has a [MASK].
        min_weight: The lowest weight of a line.
        overlaid: Heads whose lines are drawn over those of the pane's, in colors.
        field: The choice of a head that the arrow keys change on the whole screen.
    """
    layout = pane.original.layout

    def take_pins() -> None:
        pins = widgets.received(key, "pins")
        if pins is not None and pane.same_tokens:
            session.choose(pin=",".join(pins), dependents="", from_token=None, to_token=None, expected=1)

    def take_mask() -> None:
        start = widgets.received(key, "mask")
        if start is not None:
            # Every piece of a word.
            pieces = np.flatnonzero(layout.owner == layout.owner[start]).tolist()
            viewer_input.toggle_mask(set(pieces) if pane.view.words else {start})

    def take_step() -> None:
        step = widgets.received(key, "step")
        if step in (-1, 1):
            model = pane.selection.checkpoint
            options = all_keys(model.layers, model.heads)
            session.choose(**{field: Head.parse(neighbor(pane.selection.head.key(), options, step))})

    data = _lines_of(pane, overlaid) | {"minWeight": min_weight, "canMask": can_mask and pane.same_tokens}
    taken = {"on_pins_change": take_pins, "on_mask_change": take_mask, "on_step_change": take_step}
    component("attention_lines", FOLDER)(data=data, key=key, **taken)


def _lines_of(pane: Pane, overlaid: Sequence[Head]) -> dict[str, Any]:
    """What the component draws of a pane: its tokens, the heads' weights, and texts."""
    attention = pane.drawn
    colors = OVERLAY if overlaid else (None,)
    return columns_of(attention, pane.masked, pane.found, pane.window) | {
        "heads": [
            {"label": f"Head {head.label()}", "color": color, "weights": pack_weights(attention.weights[head])}
            for head, color in zip((pane.selection.head, *overlaid), colors, strict=False)
        ],
        "title": pane.title,
        "heading": pane.heading,
        "sentence": pane.sentence,
        "name": pane.name,
        "text": pane.original.digest(),  # with another text the reader's pins give way to those of the address
        "pins": [f"{side}{at + 1}" for side, at in pane.pins] if pane.same_tokens else [],
    }


def draw_table(pane: Pane) -> None:
    """The three largest weights of each token, as a plain table for screen readers."""
    attention = pane.drawn
    weights = attention.weights[pane.selection.head]
    rows = []
    for query, label in enumerate(attention.queries.labels):
        row = {"position": attention.queries.start[query] + 1, "from": plain(cut_end(label))}
        for rank, key in enumerate(np.argsort(-weights[query], kind="stable")[:3], start=1):
            row[f"to, {rank}"] = f"{plain(cut_end(attention.keys.labels[key]))} {weights[query, key]:.3f}"
        rows.append(row)
    alt = f"The three tokens to which each token attends most in head {pane.selection.label}"
    st.table(rows, hide_index=True, alt=alt)


def draw_pictures(pane: Pane) -> None:
    """Draw a small picture of every head's attention."""
    alt = "A small picture of every head's attention, layer by head"
    squares = pictures(pane.attention)
    lines = of_input(pane.drawn, 0, "tokens" if pane.window is None else "tokens drawn")
    page.head_map(squares, "attention-heads", alt, pane.selection, lines=lines)


def offer_downloads(
    pane: Pane,
    pair: tuple[int, int],
    guesses: Mapping[str, Sequence[Prediction]],
    products: QueryKey | None,
    *,
    beside: Pane | None,
    shift: np.ndarray | None,
    next_token: pd.DataFrame | None,
    as_lines: bool,
) -> None:
    """Offer the files of a pane; the lines have their own buttons.

    Args:
        pane: The pane, whose head is a CSV file; all heads are HTML and safetensors.
        pair: The (query, key) whose weights in all heads are in the ZIP.
        guesses: The predictions in the ZIP, by the heads that are off.
        products: The products of a query with the keys, in the ZIP; None for none.
        beside: The pane beside it, whose head is in the ZIP; None for none.
        shift: The shift of each head by masking, in the ZIP; None for none.
        next_token: What each head adds to a next token, in the ZIP; None for none.
    """
    attention = pane.attention
    selection = pane.selection
    digest = pane.shown.digest()
    about = pane.origin
    head = selection.head
    name = f"{pane.name}-{digest[:8]}"

    def tables() -> bytes:
        files = {"head": pane.to_csv(), "heads": attention.pair_to_csv(*pair, about)}
        if any(guesses.values()):
            files["guesses"] = csv_bytes(predictions_frame(guesses).assign(**about))
        if products is not None:
            files["query-key"] = products.to_csv({"head": head.key(), **about})
        if beside is not None:
            files["beside"] = beside.to_csv()
        if shift is not None:
            files["shift"] = csv_bytes(head_frame({"shift": shift}).assign(**about))
        if next_token is not None:
            files["next-token"] = csv_bytes(next_token.assign(**about))
        return exports.zipped(files)

    offered = {
        "CSV": (f"{name}.csv", pane.to_csv),
        "ZIP: all tables": (f"{name}.zip", tables),
        "HTML": (f"{name}.html", lambda: input_html(attention, head, about)),
        "safetensors": (f"{name}.safetensors", lambda: attention.to_safetensors(about)),
    }
    page.offer_files(offered)
    st.caption(_about_files(is_window=bool(pane.window), as_lines=as_lines))


def _about_files(*, is_window: bool, as_lines: bool) -> str:
    """What is in the files, in words."""
    extent = "as shown, but of all tokens" if is_window else "as shown"
    pictures = " SVG and PNG: the buttons below the lines." if as_lines else ""
    return (
        f"CSV: this head, {extent}; ZIP: also all heads from one token to the other, guesses for masked words and how "
        "far masking shifts each head, what each adds to a next token, the head beside this one, and query × key, "
        "where they are shown. "
        f"HTML: the lines of every head, to hover over. safetensors: every head.{pictures}"
    )
