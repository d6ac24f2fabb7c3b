"""The field of the expression that finds heads, which completes names and says how many heads it finds so far."""

import streamlit as st

from bertviz_core.analyses.base.result import Results
from bertviz_core.overview.finder import MAX_CHARACTERS
from pages.shared import widgets
from pages.shared.components import component
from pages.shared.costly import completions, vocabulary
from pages.shared.state import session
from pages.shared.state.choices import OverviewChoices

KEY = "finder"
EXAMPLE = "Find heads: dobj > 0.5, or previous token > 0.5 and loss change > 0.01"


def draw(results: Results) -> None:
    """Draw the field with the reader's expression."""
    _draw(results, session.page(OverviewChoices).find)


@session.fragment
def _draw(results: Results, drawn: str) -> None:
    """The field alone while the reader types; the page, which shows the heads of the expression that is `drawn`, runs
    again once there is another."""
    text = session.page(OverviewChoices).find
    if text != drawn:
        st.rerun()
    typed = (widgets.entered(KEY) or {}).get("typed") or ""
    data = {
        "text": text,
        "typed": typed,
        "count": vocabulary(results).count(typed) if typed.strip() else "",
        "names": completions(results),
        "example": EXAMPLE,
        "longest": MAX_CHARACTERS,
    }
    component("finder")(data=data, key=KEY, on_find_change=_find, on_typed_change=lambda: None)


def _find() -> None:
    """Show the heads of what is entered, in a callback."""
    if (text := widgets.received(KEY, "find")) is not None:
        session.choose(find=str(text))
