"""Dependency heads: which head finds which relation, and where it is right and wrong (section 4.2; Table 1)."""

from bertviz_core.analyses.dependency_heads import guesses
from bertviz_core.analyses.dependency_heads.analysis import DependencyOptions
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, RelationView
from bertviz_core.corpora.treebank import meaning
from bertviz_core.heads import arrow
from pages.shared import page, stored, widgets
from pages.shared.state import session
from pages.shared.views import analysis_page


def draw_options(result: DependencyHeads) -> None:
    """Draw the choices that seldom change, and compute nothing."""
    chosen = session.view(RelationView)
    widgets.choice("view", format_func=guesses.VIEW_NAMES.__getitem__)
    widgets.number("Minimum words", "min_count", chosen.min_count or result.min_count, step=10)
    if not selection.settings.paper:
        widgets.number("Maximum offset", "offsets", chosen.offsets)
    widgets.choice("merge_subtypes")


def choose_relation(counts: RelationCounts, view: RelationView) -> None:
    """Draw the choice of the relation and of the direction in which heads are read."""
    widgets.select(
        "Relation",
        counts.relations,
        "relation",
        view.relation,
        # Without a direction, the page follows the best head of each relation.
        on_change=lambda: session.choose(direction=None),
        format_func=lambda name: f"{name}: {meaning(name)}" if meaning(name) else name,
        width=220,
        label_visibility="collapsed",
    )
    widgets.segmented(
        "Direction",
        guesses.DIRECTIONS,
        "direction",
        view.direction,
        format_func=arrow,
        label_visibility="collapsed",
    )


selection = session.selection()
controls, options = page.with_options(page.controls(), key="page-boxes")
request = selection.request("dependency_heads", session.options(DependencyOptions).to_json())
if options.open and not selection.settings.paper:
    with options:
        widgets.choice("possessives", help="The word before 's takes the guess made for 's.")
result = stored.result_or_stop(request, DependencyHeads)
if options.open:
    with options:
        draw_options(result)
view, counts = analysis_page.view_and_result(RelationView, request, result)
page.restriction(counts)
with controls:
    choose_relation(counts, view)
analysis_page.draw(request, view, counts)
