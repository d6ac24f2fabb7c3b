"""Reach: how far heads look, at and from which tokens, their sinks and outputs, and how strongly they act on each input
(beyond the paper)."""

import streamlit as st

from bertviz_core.analyses.reach.analysis import ReachView
from bertviz_core.analyses.reach.figure import acts_figure, offsets_figure, pair_svg
from bertviz_core.analyses.reach.result import BY_QUANTITY, SENTENCES, SHARES, TENTHS
from bertviz_core.analyses.reach.statements import inactive_heads
from bertviz_core.numbers import half_width
from pages.shared import page, widgets
from pages.shared.frame import links
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewer, Reach
from pages.shared.views.analysis_page import AnalysisPage

LOOKS = {"received": "Looks at", "given": "Looks from"}


def draw_tokens(share: str) -> None:
    """The tokens that receive or give the most, with links to the sentences that have them."""
    st.markdown(f"**{LOOKS[share]}**", help=SENTENCES[share])
    rows = []
    for each in result.top_tokens(share, head):
        found = AttentionViewer(input="corpus", find=each.word, back=session.here())
        link = links.address_of(found, head) if each.word else ""
        value = f"{each.value:.3g} ± {half_width(each.half)}"
        rows.append({"token": each.token, "times uniform": value, "occurrences": each.occurrences, "sentences": link})
    config = {"sentences": st.column_config.LinkColumn(display_text="search")}
    alt = f"Tokens that head {selection.label} looks {LOOKS[share].removeprefix('Looks ')}, the highest first"
    st.dataframe(rows, hide_index=True, height="content", column_config=config, alt=alt)


chosen = session.page(Reach)
view = AnalysisPage(chosen)
result = view.result
selection = view.selection
head = selection.head
has_output = "output" in result
below = chosen.below
if has_output:
    with view.controls:
        below = widgets.decimal("Inactive below", "below", below, 0.05, width=170)
view.choose(ReachView(below=below))
view.draw_figures()

distance = result["distance"]
entries = [("Mean distance", f"{distance.mean():.1f} tokens", f"uniform attention: {result.uniform:.1f}")]
for name in result.sinks:
    label = BY_QUANTITY[name].short.replace("sink", "Sink")
    entries.append((label, f"{result[name].mean():.0%}", "mean of all heads"))
if has_output:
    output = result["output"]
    note = f"output below {below:.2f} of the layer's mean"
    entries.append(("Inactive heads", f"{(output < below).sum()} of {output.size}", note))
page.metrics(entries)
if has_output:
    st.caption(plain(inactive_heads(result, below)))

st.header(f"Where head {selection.label} looks", anchor=False)
page.restriction(result)
alt = f"Share of the attention of head {selection.label} by the distance of the key from the query"
page.chart(page.drawn(offsets_figure, result, head), "reach-offsets", alt, selection.basis)

st.header(f"At and from which tokens head {selection.label} looks", anchor=False)
st.caption(plain(f"{result.about_tokens} 1 is what uniform attention gives; with 95% intervals."))
if result.tokens:
    for place, share in zip(st.columns(2, gap="medium"), SHARES, strict=True):
        with place:
            draw_tokens(share)

st.header(f"How strongly head {selection.label} acts", anchor=False)
st.caption(
    "The largest weight between two different ordinary tokens of each input; [CLS], [SEP] and the first token are left "
    "out. Below, inputs of each tenth, drawn at random by the seed, with these two tokens."
)
alt = f"Number of inputs by the largest weight of head {selection.label}"
page.chart(page.drawn(acts_figure, result, head), "reach-acts", alt, selection.basis)
items = []
for tenth in reversed(range(TENTHS)):
    for act in result.acts(head, tenth):
        title = f"Passage {act.number + 1}, {act.where}: weight {act.value:.2f}"
        items.append(page.Drawing(title, pair_svg(act), links.to_pair(act.number, act.query, act.key, head)))
page.drawings(items, "reach-inputs", selection.basis)

view.draw_heads()
view.end()
