"""Choices that decide what pages show, and the head that a page opens on until the reader chooses another."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bertviz_core.analyses.coreference_heads import guesses as antecedents
from bertviz_core.analyses.coreference_heads.result import AntecedentCounts, CoreferenceHeads
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, VIEW_NAMES
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, RelationFilter
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.treebank import meaning
from bertviz_core.heads import Head, arrow, highest
from bertviz_core.overview import clearest_head
from bertviz_core.tour import OWN, STEPS, Step, first_head, head_roles, slide_number
from pages.shared import services, stored
from pages.shared.frame import Selection, address, choices
from pages.shared.memoize import memoize
from pages.shared.views import analysis_page, compare_view, viewer_input


def default_head(page: str, selection: Selection) -> Head:
    """The head that a page opens on; where its own analysis says nothing, the clearest of the stored ones."""
    chosen = DEFAULT_HEADS[page](selection) if page in DEFAULT_HEADS else _of_columns(page, selection)
    return chosen or memoize(clearest_head, stored.results(selection)) or Head(0, 0)


def choose_rule(selection: Selection) -> Request:
    """Draw the choice of the paper's rule for `poss`, which mode "paper" always applies."""
    about = "The word before 's takes the guess made for 's."
    options = {}
    if not selection.settings.paper and choices.toggle("Paper's rule for *poss*", key="possessives", help=about):
        options["possessives"] = True
    return selection.request("dependency_heads", options)


def choose_counts(result: DependencyHeads, selection: Selection) -> RelationFilter:
    default = RelationFilter()
    views = [*VIEW_NAMES]
    view = choices.segmented("Trees", views, key="view", default=default.view, format_func=VIEW_NAMES.__getitem__)
    min_count = choices.number("Minimum words", 1, default=result.min_count, key="least", step=10)
    offsets = default.offsets
    if not selection.settings.paper:
        offsets = choices.number("Maximum offset", 1, 20, offsets, key="offsets")
    merge = choices.toggle("Merge subtypes", key="merge", help="Counts nmod:poss as nmod.")
    return RelationFilter(view, min_count, offsets, merge)


def choose_relation(result: RelationCounts) -> tuple[str, int]:
    look: dict[str, Any] = {"follows": True, "label_visibility": "collapsed"}
    relation = choices.selectbox(
        "Relation",
        result.relations,
        key="relation",
        default=result.clearest_relation(),
        width=240,
        format_func=lambda name: f"{name}: {meaning(name)}" if meaning(name) else name,
        on_change=lambda: address.release("direction"),
        **look,
    )
    best = DIRECTIONS[result.best_choice(relation).direction]
    direction = choices.segmented("Direction", DIRECTIONS, key="direction", default=best, format_func=arrow, **look)
    return relation, DIRECTIONS.index(direction)


def choose_antecedents(computed: CoreferenceHeads) -> tuple[AntecedentCounts, str, int]:
    """Draw the choice of the candidates, the type of mention, and the direction in which heads are read."""
    kind = choices.segmented("Mentions", antecedents.TYPE_ROWS, key="kind", default=antecedents.TYPE_ROWS[0])
    about = "`mentions`: the head words of preceding mentions. `words`: any other word (stricter)."
    candidates = choices.segmented(
        "Candidates", antecedents.CANDIDATES, key="candidates", default=antecedents.CANDIDATES[0], help=about
    )
    result = memoize(CoreferenceHeads.show, computed, candidates)
    about = "The paper measures mention → antecedent; its numbers are shown for that direction only."
    look = {"key": "direction", "default": antecedents.DIRECTIONS[0], "format_func": arrow, "help": about}
    direction = choices.segmented("Direction of attention", result.directions, **look)
    return result, kind, antecedents.DIRECTIONS.index(direction)


def _of_columns(page: str, selection: Selection) -> Head | None:
    """The highest head of the column that the page's map is about to show."""
    if page not in ANALYSES:
        return None
    analysis = ANALYSES[page]
    options = {"mean": True} if page == "ablation" and choices.ahead("mean", "") == "true" else {}
    result = services.find(selection.request(page, options))
    if result is None or not (values := analysis_page.values_of(analysis, result)):
        return None
    with choices.unseen():
        column = analysis_page.choose_column(analysis, result, list(values))
    shown = values[column]
    return None if np.isnan(shown).all() else highest(shown)


def _relation(selection: Selection) -> Head | None:
    """The best head of the relation in the direction that the page is about to show."""
    with choices.unseen():
        request = choose_rule(selection)
        found = services.find(request)
        if not isinstance(found, DependencyHeads):
            return None
        counts = choose_counts(found, selection)
        result = memoize(DependencyHeads.show, found, counts)
        relation, direction = choose_relation(result)
    row = result.relations.index(relation)
    return highest(result.correct.sum(0)[direction, row])


def _antecedent(selection: Selection) -> Head | None:
    """The best head at what the page is about to show."""
    computed = services.find(selection.request("coreference_heads"))
    if not isinstance(computed, CoreferenceHeads):
        return None
    with choices.unseen():
        result, kind, direction = choose_antecedents(computed)
    return result.best(kind, direction).head


def _viewer(selection: Selection) -> Head | None:
    """The head that is best at what the viewer's example is about, by stored results."""
    if choices.ahead("input", viewer_input.KINDS[0]) != viewer_input.KINDS[0]:
        return None
    example = choices.ahead("example", viewer_input.COREFERENCE)
    if example == viewer_input.COREFERENCE:
        return _antecedent(selection)
    computed = services.find(selection.request("dependency_heads"))
    if not isinstance(computed, DependencyHeads):
        return None
    result = memoize(DependencyHeads.default_view, computed)
    for relation in viewer_input.RELATIONS.get(example, ()):
        if relation in result.relations:
            return result.best_choice(relation).head
    return None


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


DEFAULT_HEADS: dict[str, Callable[[Selection], Head | None]] = {
    "dependency_heads": _relation,
    "coreference_heads": _antecedent,
    "attention_viewer": _viewer,
    "compare": compare_view.default_head,
    "tour": _tour,
}
