"""Two numbers of every head against each other, with a third as color."""

import streamlit as st

from bertviz_core.analyses.base.result import Results
from bertviz_core.numbers import plural
from bertviz_core.overview.scatter import scatter, without_numbers
from pages.shared import page, widgets
from pages.shared.costly import find, vocabulary
from pages.shared.state import session
from pages.shared.state.choices import OverviewChoices
from pages.shared.state.selection import Selection


def draw(results: Results, expression: str, selection: Selection) -> None:
    """Draw the choices of both axes and of the color, and a dot for each head; those that an expression finds stand
    out."""
    known = vocabulary(results)
    chosen = session.page(OverviewChoices)
    axes = known.axes((chosen.across, chosen.up, chosen.color), expression)
    texts = {term.name: term.text for term in known.terms}
    for place, field, term in zip(st.columns(3), ("across", "up", "color"), axes, strict=True):
        with place:
            widgets.select(field.capitalize(), [*texts], field, term.name, format_func=texts.__getitem__)
    found = tuple(find(results, expression)["label"]) if expression.strip() else None
    alt = "A dot for each head: {} and {}, colored by {}".format(*(term.text for term in axes))
    figure = page.drawn(scatter, known, axes, found)
    page.chart(figure, "head-scatter", alt, selection.basis, head=selection.head)
    if missing := without_numbers(known, axes):
        st.caption(f"{plural(missing, 'heads')} without one of the two numbers: not drawn.")
