"""Compare: two stored runs of one analysis, head by head (docs/methods.md, section 13)."""

import streamlit as st

from bertviz_core.comparison import change
from pages.shared import blocks, endnotes, page, services, widgets
from pages.shared.frame import header
from pages.shared.state import session
from pages.shared.state.choices import CompareChoices
from pages.shared.state.selection import Basis
from pages.shared.views import compare_view, headvis_map, missing_runs

selection = session.selection()
chosen = session.page(CompareChoices)
runs = compare_view.known_runs(selection)
analysis, a, b, missing = missing_runs.find_runs(runs, selection)
if missing is None and not {a, b} <= runs[analysis].keys():
    services.runs.clear()
    runs = compare_view.known_runs(selection)
with header.title_line():
    missing_runs.draw_ways(missing_runs.counterparts(a), b)
line = page.controls()
with line:
    compare_view.draw_choice(runs, analysis, a, b)
session.current().replace(analysis=analysis, a=a, b=b)  # even by default: the first runs change with the store
if missing is not None:
    missing_runs.offer(missing)
    raise session.PageEnd
comparison = compare_view.find_comparison(analysis, a, b)
if comparison is None:
    # The runs had it a few seconds ago.
    services.runs.clear()
    st.info("This run is no longer in the store. Choose another one, or run its analysis again.")
    raise session.PageEnd
key = chosen.quantity_of(comparison)
with line:
    widgets.select("Quantity", [*comparison.a], "quantity", key, format_func=comparison.label, width=230)
caption = f"A: {comparison.names[0]}; B: {comparison.names[1]}"
session.rebase(Basis(caption, *comparison.names))
shown = compare_view.on(comparison, key)
blocks.draw(compare_view.blocks_of(shown))
page.downloads(shown)
endnotes.folded("The map of a HeadVis export", ":material/upload_file:", "headvis", headvis_map.draw, selection)
endnotes.about(change.Change.of)
for label, run in zip("AB", (comparison.provenance, comparison.other), strict=True):
    title = f"Where the numbers of {label} come from"
    endnotes.folded(title, ":material/fingerprint:", f"provenance-{label}", st.json, run, expanded=1)
