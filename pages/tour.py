"""Guided tour: the paper in short steps, each with a claim, a page to open and a question (for a class)."""

from dataclasses import replace

import streamlit as st

from bertviz_core.settings import WEIGHTS
from bertviz_core.tour import steps
from bertviz_core.tour.surface import NORMS
from pages.shared import page, stored
from pages.shared.boxes import plain
from pages.shared.frame import address, catalogue, links, sidebar

selection = sidebar.current()
page.header("tour", selection)
shown = steps({entry.name for entry in catalogue.ENTRIES})
numbers = [str(place) for place in range(1, len(shown) + 1)]


def go(number: str) -> None:
    st.session_state["step"] = number


number = address.segmented("Step", numbers, key="step", default=numbers[0])
place = numbers.index(number)
step = shown[place]
results, norms = (
    stored.results("tour", replace(selection, settings=replace(selection.settings, weights=weights)))
    for weights in WEIGHTS
)
if "surface_patterns" in norms:
    results[NORMS] = norms["surface_patterns"]
findings = step.findings(results, selection.base)

with st.container(border=True):
    st.caption(f"Step {number} of {len(shown)} · {step.section}")
    st.subheader(plain(step.title))
    st.markdown(f"**The paper:** {plain(step.claim)}")
    st.markdown(f"**Look:** {plain(step.look)}")
    head = findings.head if findings else None
    at = f" at head {head.label(selection.base)}" if head else ""
    label = f"**Open {plain(catalogue.entry(step.page).title)}{at}**"
    links.to(step.page, label, head, catalogue.entry(step.page).icon, **step.address)
    st.markdown(f"**Question:** {plain(step.question)}")
    with st.expander("Answer", icon=":material/lightbulb:", key=f"answer-{number}"):
        st.markdown(plain(findings.answer) if findings else "Open the page and run its analysis first.")
    if findings:
        st.info(f"**This model and BERT-base.** {plain(findings.differs)}", icon=":material/compare:")
        if selection.checkpoint.note:
            st.caption(plain(selection.checkpoint.note))

with st.container(horizontal=True, horizontal_alignment="distribute"):
    back, on = numbers[max(place - 1, 0)], numbers[min(place + 1, len(numbers) - 1)]
    st.button("Back", icon=":material/arrow_back:", on_click=go, args=(back,), disabled=place == 0)
    st.button(
        "Next",
        type="primary",
        icon=":material/arrow_forward:",
        icon_position="right",
        on_click=go,
        args=(on,),
        disabled=place == len(numbers) - 1,
    )
