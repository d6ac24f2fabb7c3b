"""Reach: how far heads look, at and from which tokens, their sinks and outputs, and how strongly they act on each input
(beyond the paper)."""

import streamlit as st

from bertviz_core.analyses.reach.analysis import ReachView
from bertviz_core.analyses.reach.figure import acts_figure, offsets_figure, pair_svg
from bertviz_core.analyses.reach.head_parts import (
    ACTS,
    LOOKS,
    act_title,
    acts,
    acts_title,
    looks_title,
    token_part,
    tokens_note,
    tokens_title,
)
from bertviz_core.analyses.reach.result import SENTENCES, SHARES
from bertviz_core.analyses.reach.statements import inactive_heads
from pages.shared import page
from pages.shared.frame import links
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices
from pages.shared.views.analysis_page import AnalysisPage


def draw_tokens(share: str) -> None:
    """The tokens that receive or give the most, with links to the sentences that have them."""
    st.markdown(f"**{LOOKS[share]}**", help=SENTENCES[share])
    rows = []
    tokens = result.top_tokens(share, head)
    for row, each in zip(token_part(result, share, head).table.to_dict("records"), tokens, strict=True):
        found = AttentionViewerChoices(input="corpus", find=each.word, back=session.here())
        rows.append(row | {"sentences": links.address_of(found, head) if each.word else ""})
    config = {"sentences": st.column_config.LinkColumn(display_text="search")}
    alt = f"Tokens that head {selection.label} looks {LOOKS[share].removeprefix('Looks ')}, the highest first"
    st.dataframe(rows, hide_index=True, height="content", column_config=config, alt=alt)


view = AnalysisPage("reach")
result = view.result
selection = view.selection
head = selection.head
has_output = "output" in result
if has_output:
    view.draw_choices()
view.draw_figures()

view.draw_cards()
if has_output:
    st.caption(plain(inactive_heads(result, session.view(ReachView).below)))

st.header(looks_title(head), anchor=False)
page.restriction(result)
alt = f"Share of the attention of head {selection.label} by the distance of the key from the query"
page.chart(page.drawn(offsets_figure, result, head), "reach-offsets", alt, selection.basis)

st.header(tokens_title(head), anchor=False)
st.caption(plain(tokens_note(result)))
if result.tokens:
    for place, share in zip(st.columns(2, gap="medium"), SHARES, strict=True):
        with place:
            draw_tokens(share)

st.header(acts_title(head), anchor=False)
st.caption(ACTS)
alt = f"Number of inputs by the largest weight of head {selection.label}"
page.chart(page.drawn(acts_figure, result, head), "reach-acts", alt, selection.basis)
items = []
for act in acts(result, head):
    items.append(page.Drawing(act_title(act), pair_svg(act), links.to_pair(act.number, act.query, act.key, head)))
page.drawings(items, "reach-inputs", selection.basis)

view.draw_heads()
view.end()
