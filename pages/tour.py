"""Guided tour: the paper as slides, each with a live figure, a question (for a class), and its answer on request."""

from bertviz_core.tour import STEPS
from pages.shared.frame import header
from pages.shared.views import tour_view

selection = header.current()
number = tour_view.navigation()
results = tour_view.results_of(selection)
if number == 0:
    tour_view.terms()
elif number <= len(STEPS):
    tour_view.slide(STEPS[number - 1], number, results, selection)
elif number == tour_view.END:
    tour_view.end(results, selection)
else:
    tour_view.own_sentence(results, selection)
