"""Heads that papers have named in the model of results, beside what is measured of them here (docs/methods.md, section
22)."""

from math import ceil

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.heads import Head, all_heads
from bertviz_core.overview.head_columns import columns
from bertviz_core.published import PublishedHead, published_heads

TOP = 0.05  # share of all heads


def published_in(results: Results) -> tuple[PublishedHead, ...]:
    """The heads that papers have named in the model of these results; none where it is not known."""
    return next((published_heads(result.provenance["model"]) for result in results.values()), ())


def published_of(results: Results, head: Head) -> tuple[PublishedHead, ...]:
    """What papers have named one head."""
    return tuple(each for each in published_in(results) if each.head == head)


def roles_text(results: Results) -> list[str]:
    """For each head, layer by layer, the roles that papers have given it, with commas between; none where the model is
    not known."""
    named = published_in(results)
    if not named:
        return []
    shape = columns(results)[0].values.shape
    roles = [dict.fromkeys(each.role for each in named if each.head == head) for head in all_heads(*shape)]
    return [", ".join(each) for each in roles]


def top_sentence(results: Results) -> str:
    """How many published heads are in this model's own top 5% of what their role says; empty without any."""
    rows = {(each.head, each.quantity) for each in published_in(results)}
    inside = [is_top for head, quantity in rows if (is_top := _is_top(results, quantity, head)) is not None]
    if not inside:
        return ""
    return (
        f"{sum(inside)} of {len(inside)} heads that papers have named in this model are in its own top {TOP:.0%} of "
        f"what measures their role here; by chance about {TOP * len(inside):.0f} would be."
    )


def _is_top(results: Results, quantity: str, head: Head) -> bool | None:
    """Whether a head is among the highest of a column, named as in `PublishedHead`, of equal ones all or none; None
    where no result has it."""
    analysis, _, name = quantity.partition(".")
    values = ANALYSES[analysis].column(name).read(results[analysis]) if analysis in results else None
    return None if values is None else bool(0 < (values >= values[head]).sum() <= ceil(TOP * values.size))  # NaN: 0
