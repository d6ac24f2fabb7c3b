"""The key numbers of the page of ablation."""

from bertviz_core.analyses.ablation.result import Ablation
from bertviz_core.analyses.base.blocks import Card
from bertviz_core.numbers import number
from bertviz_core.plotting import TOKENS


def cards(result: Ablation) -> list[Card]:
    """The loss, the largest change without attention to the sink, and how well gradients predict changes."""
    entries = [
        ("Loss of the full model", f"{result.loss:.2f} nats", f"in {int(result.segments.max()):,} passages"),
    ]
    if "to_sink_loss_change" in result.present:
        head = result.largest("to_sink_loss_change")
        change = number(result["to_sink_loss_change"][head], "+")
        title = f"Largest loss change without attention to {TOKENS[result.sink][0]}, nats"
        entries.append((title, change, f"head {head.label()}; no-op: 0"))
    return [*entries, ("Gradient estimate", f"{result.correlation():.2f}", "Spearman's correlation")]
