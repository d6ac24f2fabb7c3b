"""Guided tour: the paper in short steps, each with statements of the paper, a live figure and a question (for a "
"class)."""

import streamlit as st

from bertviz_core.tour import STEPS, Step, answers
from pages.shared.frame import header
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import tour_figures, tour_view

selection = header.current()
last = len(STEPS) + 1
number = tour_view.navigation(last)
results = tour_view.results_of(selection)
step = STEPS[number - 1] if number < last else None

with st.container(border=True):
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(plain(step.title) if step else "What this model shows", anchor=False, width="content")
        st.caption(f"Step {number} of {last} · {step.section if step else 'The paper and this model'}", width="content")
    if step is None:
        tour_view.end(results, selection)
    else:
        found = memoize(Step.found, step, results, selection.base)
        tour_view.question(step, number, found, selection.base)
        if answers(found):
            tour_figures.draw(step, found, f"tour-{number}", results, selection)
            tour_view.answer(number, found, selection)
        elif not tour_view.compute(step, results, selection):
            st.markdown("The corpus or this model's tokens lack what this step is about, so it has no figure.")
