"""Why one token attends where it does: the product of its query with every key, by dimension."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.errors import ModelError
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput
from bertviz_core.viewer.figure import has_bias, products_figure
from bertviz_core.viewer.query_key import MASKED, PARTS, TERMS, QueryKey, measure
from bertviz_core.viewer.view import InputAttention, shorten
from pages.shared import messages, page
from pages.shared.frame import address, choices
from pages.shared.frame.selection import Selection
from pages.shared.messages import plain
from pages.shared.views import input_choice

NAME = "query × key"
NOT_APART = (
    "Words and positions cannot be told apart here: they can in layer 1 of models that add learned positions to words, "
    "as BERT does. Above it every token has read others, and rotary positions turn the vector of the word itself."
)


def draw(
    model: AttentionModel, single: OneInput, attention: InputAttention, selection: Selection, controls: DeltaGenerator
) -> tuple[QueryKey, int] | None:
    """Draw the choice of the query token and what makes its weights.

    Returns:
        What was measured and the token's position from 0; None for a model that does not show it.
    """
    labels = single.layout.tokens.labels
    pins = dict(input_choice.pinned_positions(address.get("pin")))  # the last on either side
    opening = int(attention.queries.start[attention.strongest_pair(selection.head)[0]])
    positions = list(range(1, len(labels) + 1))
    with controls:
        chosen = choices.selectbox(
            "Query token",
            positions,
            key="query",
            default=min(pins.get("from", opening), len(labels) - 1) + 1,
            follows=True,
            format_func=lambda position: f"query {position}: {shorten(labels[position - 1])}",
            width=190,
        )
        by_product = choices.toggle("Sorted", key="sorted", help="Dimensions, that with the largest product first.")
    try:
        products = measure(model, single.example, selection.head, chosen - 1)
    except ModelError as problem:
        messages.note(problem)
        return None
    key = min(pins.get("to", int(products.weights.argmax())), len(labels) - 1)
    ends = [plain(shorten(labels[at])) for at in (chosen - 1, key)]
    dimensions = products.order(key) if by_product else np.arange(len(products.query))
    _sentence(products, key, ends, selection)
    sorted_by = f" Dimensions: the largest product with “{ends[1]}” first." if by_product else ""
    alt = f"Query of {labels[chosen - 1]} times every key, by dimension, and the weights that come of it"
    page.chart(
        products_figure(products, single.layout.tokens, chosen - 1, dimensions), "query-key", alt, clickable=False
    )
    st.caption(f"Blue: positive, orange: negative.{sorted_by} A token pinned on the right of the lines is the key.")
    _terms(products, labels)
    return products, chosen - 1


def _sentence(products: QueryKey, key: int, ends: list[str], selection: Selection) -> None:
    """The arithmetic of one weight, in a sentence."""
    if products.logits[key] < MASKED:
        st.markdown(f"**“{ends[0]}” cannot see “{ends[1]}”, which is masked.**")
        return
    added = f" {products.bias[key]:+.2f} (bias) = {products.logits[key]:.2f}" if has_bias(products) else ""
    sink = "" if products.sink is None else f" and a learned sink with the score {products.sink:.2f}"
    norms = " The norms of section 11 are built from these weights." if selection.settings.weights == "norms" else ""
    st.markdown(
        f"**From “{ends[0]}” to “{ends[1]}”: query · key = {products.products[key].sum():.2f}, "
        f"× {products.scale:.3f} = {products.scores[key]:.2f}{plain(added)}; "
        f"the softmax over {len(products.keys)} keys{sink} makes it "
        f"{products.weights[key]:.3f}.**{norms}"
    )


def _terms(products: QueryKey, labels: tuple[str, ...]) -> None:
    """What of the scores is of words and of positions, or why that cannot be said."""
    if products.terms is None:
        st.caption(NOT_APART)
        return
    spread = products.terms.std(0)
    first, second = np.argsort(-spread)[:2]
    st.markdown(
        f"**What tells the keys apart: {TERMS[first]} (standard deviation {spread[first]:.2f}), then {TERMS[second]} "
        f"({spread[second]:.2f}).** The score is the sum of nine products: word, position and rest (type of token, "
        "biases) of the query with those of the key."
    )
    rows = []
    for label, score, terms in zip(labels, products.scores, products.terms, strict=True):
        named = dict(zip(TERMS, terms, strict=True))
        rest = sum(named.pop(f"{part} × rest") for part in PARTS)  # the same for all keys of a segment
        rows.append({"key": shorten(label), "score": score, **named, "all × rest": rest})
    formats = {name: st.column_config.NumberColumn(name, format="%.2f") for name in [*rows[0]][1:]}
    st.dataframe(
        rows, hide_index=True, column_config=formats, height=320, alt="The score of every key, by words and positions"
    )
