"""The attention viewer's masks, heads that are switched off or overlaid, and downloads."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analyses.behaviors import Thresholds
from bertviz_core.analyses.results import to_csv
from bertviz_core.heads import all_heads, highest
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import Prediction
from bertviz_core.numbers import plural
from bertviz_core.plotting import OVERLAY
from bertviz_core.viewer import ablated_heads, predictions_frame, shorten, switches
from bertviz_core.viewer.files import input_html, input_origin, overlay
from pages.shared import head_panel, page, stored
from pages.shared.frame import Selection, address, choices
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views.viewer_panes import Pane
from pages.shared.views.viewer_tokens import Products

GUESSES = 3  # shown of each side


def choose_masked(container: DeltaGenerator) -> bool:
    """Draw the choice to see the input as it was, and the way back to it."""
    with container.container(horizontal=True, vertical_alignment="center"):
        before = choices.toggle("Before masking", key="before")
        st.button("Unmask all", on_click=address.put, args=("mask", ""), icon=":material/undo:")
    return before


def choose_overlaid(shown: Pane, model: AttentionModel) -> list[dict[str, str]]:
    """Draw the choice of the heads that are drawn over the chosen one, each in its color; [] for none."""
    selection = shown.selection
    about = f"Counted from 1. They are drawn over the chosen head; at most {len(OVERLAY)} heads in all."
    chosen = _choose_heads("Heads overlaid in color", "overlay", about, selection, model)
    if chosen is None:
        return []
    heads = [head for head in all_heads(*chosen.shape) if chosen[head] and head != selection.head]
    if len(heads) >= len(OVERLAY):
        st.caption(f"The first {len(OVERLAY) - 1} of {len(heads)} heads are drawn over head {selection.label}.")
    return overlay(shown.attention, [selection.head, *heads], selection.base) if heads else []


def choose_switched_off(selection: Selection, model: AttentionModel) -> np.ndarray | None:
    """Draw the choice; (layer, head) bool, or None where no head is switched off, or none can be."""
    if model.language_model is None or not model.observable:
        return None
    about = (
        "Counted from 1. Their outputs are replaced by zeros; the guesses for masked words without them stand beside "
        "those of the whole model. Lines and pictures stay those of the whole model."
    )
    return _choose_heads("Heads switched off", "off", about, selection, model)


def _choose_heads(label: str, key: str, about: str, selection: Selection, model: AttentionModel) -> np.ndarray | None:
    """(layer, head) bool of the heads, layers and behaviors chosen together; None for none."""
    labels = memoize(head_panel.labels_of, stored.results(selection), Thresholds())
    named = memoize(switches, model.layers, model.heads, labels)
    look = {"placeholder": "Heads, layers or behaviors", "help": about}
    return ablated_heads(choices.multiselect(label, list(named), key=key, default=[], **look), named)


def masking(difference: np.ndarray, predictions: Sequence[Prediction], selection: Selection) -> None:
    """How far attention moved, and what the model would write instead, the token that stood there in bold."""
    head, top = selection.head, highest(difference)
    st.markdown(
        f"**Masking** shifted {difference[head]:.0%} of head {selection.label}'s attention, and "
        f"{difference[top]:.0%} of head {top.label(selection.base)}'s, the largest shift of any head."
    )
    lines = [
        f"- Position {guess.position + 1} ({_quoted(guess.original, True)}, {guess.probability:.1%}, rank "
        f"{guess.rank:,}): the model expects {_best(guess)}"
        for guess in predictions
    ]
    st.markdown("\n".join(lines))
    if not predictions:
        st.caption("This model has no masked-language-modeling (MLM) head, so it makes no predictions.")


def compared_guesses(whole: Sequence[Prediction], without: Sequence[Prediction], off: np.ndarray) -> None:
    """What the model guesses for each masked word, with all heads and without those that are switched off."""
    count = int(off.sum())
    if not whole:
        are, them = ("is", "it") if count == 1 else ("are", "them")
        st.caption(
            f"{plural(count, 'heads')} {are} switched off. Mask a word (select it, then M) to see the guesses without "
            f"{them}."
        )
        return
    rows = [
        {
            "masked word": f"{before.position + 1}: {_quoted(before.original, True)}",
            "whole model": _best(before, GUESSES),
            f"without {count} head{'s' if count > 1 else ''}": _best(after, GUESSES),
            "change of its loss": f"{after.loss - before.loss:+.2f} nats",
        }
        for before, after in zip(whole, without, strict=True)
    ]
    st.table(rows, hide_index=True, alt="The guesses for each masked word, with all heads and without some")


def _best(guess: Prediction, count: int | None = None) -> str:
    """The likeliest tokens, the right one in bold."""
    best = guess.best[:count]
    return ", ".join(f"{_quoted(label, label == guess.original)} {share:.1%}" for label, share in best)


def _quoted(label: str, bold: bool) -> str:
    """A token's label between quotation marks, as Markdown."""
    return f"**“{plain(shorten(label))}”**" if bold else f"“{plain(shorten(label))}”"


def downloads(
    shown: Pane, pair: tuple[int, int], whole: Sequence[Prediction], without: Sequence[Prediction],
    off: np.ndarray | None, products: Products | None, *, as_lines: bool,
) -> None:  # fmt: skip
    """Offer the shown head as CSV, every head as HTML and safetensors, all heads from the one to the other of a `pair`
    (query, key), the guesses for masked words and the `products` as CSV; lines have buttons of their own."""
    attention, selection, digest = shown.attention, shown.selection, shown.shown.digest()
    about = input_origin(selection.checkpoint, selection.settings, digest)
    head, name = selection.head, f"{shown.name}-{digest[:8]}"
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
        tokens = shown.shown.layout.tokens
        build = partial(products.measured.to_csv, tokens, products.position, of_head)
        offered["CSV: query × key"] = (f"{name}.query-key.csv", build)
    page.offer_files(offered)
    pictures = " SVG and PNG: the buttons below the lines." if as_lines else ""
    st.caption(
        f"CSV: this head, as shown; heads: all heads from one token to the other{asked}. "
        f"HTML: the lines of every head, to hover over. safetensors: every head.{pictures}"
    )
