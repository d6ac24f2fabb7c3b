"""The head that a page opens on until the reader chooses another."""

from collections.abc import Callable

import numpy as np

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads as CoreferenceResult
from bertviz_core.analyses.dependency_heads.result import DependencyHeads as DependencyResult
from bertviz_core.heads import Head, highest
from bertviz_core.overview import clearest_head
from bertviz_core.tour import OWN, STEPS, Step, first_head, head_roles
from pages.shared import services, stored
from pages.shared.memoize import memoize
from pages.shared.state import session
from pages.shared.state.choices import (
    AnalysisChoices,
    AttentionViewer,
    CoreferenceHeads,
    DependencyHeads,
    Tour,
    kind_of,
)
from pages.shared.state.selection import Selection
from pages.shared.views import compare_view, viewer_input


def default_head(page: str, selection: Selection) -> Head:
    """The head that a page opens on; where its own analysis says nothing, the clearest of the stored ones."""
    own = DEFAULT_HEADS[page](selection) if page in DEFAULT_HEADS else _of_columns(page, selection)
    return own or memoize(clearest_head, stored.results(selection)) or Head(0, 0)


def _of_columns(page: str, selection: Selection) -> Head | None:
    """The highest head of the column on the page's map."""
    chosen = session.page(kind_of(page))
    if not isinstance(chosen, AnalysisChoices):
        return None
    analysis = ANALYSES[page]
    result = services.find(selection.request(page, chosen.options))
    column = None if result is None else chosen.resolve(analysis, result)
    if result is None or column is None:
        return None
    values = column.read(result)
    return None if values is None or np.isnan(values).all() else highest(values)


def _relation(selection: Selection) -> Head | None:
    """The best head of the chosen relation, in the chosen direction."""
    chosen = session.page(DependencyHeads)
    paper = selection.settings.paper
    result = services.find(selection.request("dependency_heads", chosen.options(paper)))
    if not isinstance(result, DependencyResult):
        return None
    return chosen.best_head(memoize(DependencyResult.show, result, chosen.filter(result, paper)))


def _antecedent(selection: Selection) -> Head | None:
    """The best head at the chosen type of mention."""
    return _best_at(session.page(CoreferenceHeads), selection)


def _best_at(chosen: CoreferenceHeads, selection: Selection) -> Head | None:
    result = services.find(selection.request("coreference_heads"))
    if not isinstance(result, CoreferenceResult):
        return None
    return chosen.best_head(memoize(CoreferenceResult.show, result, chosen.candidates))


def _viewer(selection: Selection) -> Head | None:
    """The head that is best at what the viewer's example is about, by stored results."""
    chosen = session.page(AttentionViewer)
    if chosen.input != "example":
        return None
    if chosen.example not in viewer_input.RELATIONS:
        return _best_at(CoreferenceHeads(), selection) if chosen.example == viewer_input.COREFERENCE else None
    result = services.find(selection.request("dependency_heads"))
    if not isinstance(result, DependencyResult):
        return None
    counts = memoize(DependencyResult.default_view, result)
    for relation in viewer_input.RELATIONS[chosen.example]:
        if relation in counts.relations:
            return counts.best_choice(relation).head
    return None


def _tour(selection: Selection) -> Head | None:
    """The head that a slide is about; where it is the answer, once that is shown."""
    chosen = session.page(Tour)
    number = chosen.step
    results = stored.results(selection.of_weights("attention"))
    if number == OWN:
        return next(iter(memoize(head_roles, results, selection.base)), None)
    if not 1 <= number <= len(STEPS):
        return None
    step = STEPS[number - 1]
    if step.asks_for_head and not chosen.answer:
        return Head(0, 0)
    return first_head(memoize(Step.select, step, results, selection.base))


DEFAULT_HEADS: dict[str, Callable[[Selection], Head | None]] = {
    "dependency_heads": _relation,
    "coreference_heads": _antecedent,
    "attention_viewer": _viewer,
    "compare": compare_view.default_head,
    "tour": _tour,
}
