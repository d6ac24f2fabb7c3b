"""The head that a page opens on, until the reader chooses one: by stored results, the head that shows most clearly what
the page is about."""

from collections.abc import Callable

import numpy as np

from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.heads import Head, highest
from bertviz_core.overview import clearest_head
from bertviz_core.tour import OWN, STEPS, Step, first_head, head_roles, slide_number
from pages.shared import services, stored
from pages.shared.frame import Selection, choices
from pages.shared.memoize import memoize
from pages.shared.views import analysis_page, compare_view, coreference_view, relation_view, viewer_input


def of(page: str, selection: Selection) -> Head:
    """The head that a page opens on; where its own analysis says nothing, the clearest of the stored ones."""
    chosen = OPENING[page](selection) if page in OPENING else _of_columns(page, selection)
    return chosen or memoize(clearest_head, stored.results(selection)) or Head(0, 0)


def _of_columns(page: str, selection: Selection) -> Head | None:
    """The highest head of the column that the page's map is about to show."""
    result = services.find(selection.request(page)) if page in ANALYSES else None
    if result is None or not (values := analysis_page.values_of(ANALYSES[page], result)):
        return None
    with choices.unseen():
        shown = values[analysis_page.choose_column(ANALYSES[page], result, list(values))]
    return None if np.isnan(shown).all() else highest(shown)


def _viewer(selection: Selection) -> Head | None:
    """The head that is best at what the viewer's example is of, where a stored result says so."""
    if choices.ahead("input", viewer_input.KINDS[0]) != viewer_input.KINDS[0]:
        return None
    example = choices.ahead("example", viewer_input.COREFERENCE)
    if example == viewer_input.COREFERENCE:
        return coreference_view.default_head(selection)
    computed = services.find(selection.request("dependency_heads"))
    if not isinstance(computed, DependencyHeads):
        return None
    result = memoize(DependencyHeads.default_view, computed)
    known = [relation for relation in viewer_input.RELATIONS.get(example, ()) if relation in result.relations]
    return result.best_choice(known[0]).head if known else None


def _probes(selection: Selection) -> Head | None:
    result = services.find(selection.request("probes"))
    weight = result.weight() if isinstance(result, Probes) else None
    return None if weight is None else highest(weight)


def _tour(selection: Selection) -> Head | None:
    """The head that a slide is about; where it is the answer, once that is shown."""
    number = slide_number(choices.ahead("step", ""))
    results = stored.results(selection.of_weights("attention"))
    if number == OWN:
        return next(iter(memoize(head_roles, results, selection.base)), None)
    if not 1 <= number <= len(STEPS):
        return None
    step = STEPS[number - 1]
    if step.asks_for_head and not choices.ahead("answer", ""):
        return Head(0, 0)
    return first_head(memoize(Step.select, step, results, selection.base))


OPENING: dict[str, Callable[[Selection], Head | None]] = {
    "dependency_heads": relation_view.default_head,
    "coreference_heads": coreference_view.default_head,
    "attention_viewer": _viewer,
    "probes": _probes,
    "compare": compare_view.default_head,
    "tour": _tour,
}
