"""The choices of the page of dependency heads: which counts are shown, and one (relation, direction, head)."""

from __future__ import annotations

from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import VIEWS, Chosen, DependencyHeads
from bertviz_core.analyses.request import Request
from bertviz_core.heads import Head, arrow
from bertviz_core.numbers import small_int
from pages.shared import services
from pages.shared.derived import derived
from pages.shared.frame import address, choices
from pages.shared.frame.selection import Selection


def choose_rule(selection: Selection) -> Request:
    """Draw the choice of what is computed: the rule for `poss` is part of mode "paper", and offered without it."""
    if not selection.settings.paper:
        choices.checkbox(
            "Paper's rule for *poss*", key="possessives", help="The word before 's takes the guess made for 's."
        )
    return _request(selection)


def _request(selection: Selection) -> Request:
    ruled = choices.ahead("possessives", "false") == "true" and not selection.settings.paper
    return selection.request("dependency_heads", {"possessives": True} if ruled else {})


def counts(stored: DependencyHeads, selection: Selection) -> Chosen:
    """Draw the choice of the counts."""
    default = stored.default_choice()
    view = choices.segmented("Trees", [*VIEWS], key="view", default=default.view)
    min_count = choices.number("Minimum words", 1, default=default.min_count, key="least", step=10)
    offsets = default.offsets
    if not selection.settings.paper:
        offsets = choices.number("Maximum offset", 1, 20, offsets, key="offsets")
    merge = choices.checkbox("Merge subtypes", key="merge", help="Counts nmod:poss as nmod.")
    return Chosen(view, min_count, offsets, merge)


def choose(result: RelationCounts) -> tuple[str, int]:
    """Draw the choice of relation and direction. A relation brings its best head's direction along."""
    relation = choices.selectbox(
        "Relation",
        result.relations,
        key="relation",
        default=result.most_telling(),
        follows=True,
        on_change=lambda: address.release("direction"),
        width=200,
    )
    best = DIRECTIONS[result.best_choice(relation).direction]
    direction = choices.segmented(
        "Direction",
        DIRECTIONS,
        key="direction",
        default=best,
        follows=True,
        format_func=arrow,
    )
    return relation, DIRECTIONS.index(direction)


def take(result: RelationCounts, relation: str) -> None:
    """Choose a relation, its best head, and that head's direction, in a callback."""
    best = result.best_choice(relation)
    address.choose(relation=relation, direction=DIRECTIONS[best.direction], head=best.head.label())


def opening_head(selection: Selection) -> Head | None:
    """The best head of the relation in the direction that the page is about to show."""
    stored = services.find(_request(selection))
    if stored is None:
        return None
    default = stored.default_choice()
    view = choices.ahead("view", default.view)
    chosen = Chosen(
        view if view in VIEWS else default.view,
        small_int(choices.ahead("least", "")) or default.min_count,
        min(small_int(choices.ahead("offsets", "")) or default.offsets, 20),
        choices.ahead("merge", "false") == "true",
    )
    result = derived(DependencyHeads.show, stored, chosen)
    relation = choices.ahead("relation", result.most_telling())
    relation = relation if relation in result.relations else result.most_telling()
    best = result.best_choice(relation)
    direction = choices.ahead("direction", "")
    return result.best_in(relation, DIRECTIONS.index(direction)) if direction in DIRECTIONS else best.head
