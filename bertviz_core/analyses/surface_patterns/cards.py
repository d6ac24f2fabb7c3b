"""The key numbers of the page of surface patterns."""

from bertviz_core import paper
from bertviz_core.analyses.base.parts import Card
from bertviz_core.analyses.surface_patterns.result import BY_QUANTITY, SurfacePatterns, sinks
from bertviz_core.analyses.surface_patterns.statements import HALF
from bertviz_core.heads import first_number


def cards(result: SurfacePatterns, over: float) -> list[Card]:
    """How many heads are over a threshold on each neighbor, and the layer that attends most to the sink."""
    entries = [
        (
            f"{name.capitalize()} token: heads > {over:g}",
            f"{(result[name] > over).sum()}",
            f"paper: {count} over {HALF}" if result.counts_as_paper else "",
        )
        for name, count in paper.HEADS_OVER_HALF.items()
        if name in result.present
    ]
    for name in sinks(result)[:1]:
        means = result[name].mean(1)
        layer = int(means.argmax()) + first_number()
        printed = max(paper.LAYER_MEANS["to_sep"])
        token = "" if name == "to_sep" else "[SEP], "
        note = "unmasked text" + (f"; paper: {token}{printed:.2f}" if result.counts_as_paper else "")
        entries.append((f"To {BY_QUANTITY[name].short}, max: layer {layer}", f"{means.max():.2f}", note))
    return entries
