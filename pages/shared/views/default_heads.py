"""The head that a page opens on until the reader chooses another."""

from collections.abc import Callable

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result
from bertviz_core.heads import Head
from bertviz_core.tour import OWN, STEPS, first_head
from pages.shared import services, stored
from pages.shared.costly import clearest_head, head_roles, opening_head, select
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices, TourChoices
from pages.shared.state.kinds import AnalysisChoices, kind_of, options_of, view_of
from pages.shared.state.selection import Selection
from pages.shared.views import compare_view, viewer_input


def default_head(page: str, selection: Selection) -> Head:
    """The head that a page opens on; where the page says nothing, the clearest of the stored results."""
    own = DEFAULT_HEADS[page](selection) if page in DEFAULT_HEADS else _of_result(page, selection)
    return own or clearest_head(stored.results(selection)) or Head(0, 0)


def _of_result(page: str, selection: Selection) -> Head | None:
    """The head that is best at what the page of an analysis shows."""
    chosen = session.page(kind_of(page))
    if not isinstance(chosen, AnalysisChoices):
        return None
    request, _ = stored.request_of(selection, page, options_of(chosen, selection.settings.paper))
    result = services.find(request)
    return None if result is None else opening_head(view_of(chosen), result)


def _viewer(selection: Selection) -> Head | None:
    """The head that is best at what the viewer's example is about, by stored results."""
    chosen = session.page(AttentionViewerChoices)
    corpus, targets = viewer_input.TARGETS.get(chosen.example, ("", ()))
    if chosen.input != "example" or not targets:
        return None
    results = ((name, each) for name, each in stored.results(selection).items() if ANALYSES[name].corpus == corpus)
    heads = (best_at(name, target, result) for name, result in results for target in targets)
    return next((head for head in heads if head), None)


def best_at(analysis: str, target: str, result: Result) -> Head | None:
    """The head that is best at one of the things that the page of an analysis shows, on which it opens; None where the
    result does not have that."""
    kind = ANALYSES[analysis].view
    if target and not kind.target:
        return None
    view = kind(**{kind.target: target}) if kind.target else kind()
    offered = view.offered(view.show(result)).get(view.target, [target])
    return opening_head(view, result) if target in offered else None


def _tour(selection: Selection) -> Head | None:
    """The head that a slide is about; where it is the answer, once that is shown."""
    chosen = session.page(TourChoices)
    number = chosen.step
    selection = selection.of_weights("attention")
    if number == OWN:
        return next(iter(head_roles(stored.results(selection))), None)
    if not 1 <= number <= len(STEPS):
        return None
    step = STEPS[number - 1]
    results = stored.results(selection.of_decoder() if step.of_decoder else selection)
    if step.asks_for_head and not chosen.answer:
        return Head(0, 0)
    return first_head(select(step, results))


DEFAULT_HEADS: dict[str, Callable[[Selection], Head | None]] = {
    "attention_viewer": _viewer,
    "compare": compare_view.default_head,
    "tour": _tour,
}
