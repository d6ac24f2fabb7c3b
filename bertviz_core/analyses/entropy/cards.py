"""The key numbers of the page of entropy."""

from bertviz_core import paper
from bertviz_core.analyses.base.parts import Card
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.heads import highest


def cards(result: Entropy) -> list[Card]:
    """The mean entropies of the first and the last layer, and the head that attends most broadly."""
    entropy = result["entropy"]
    means = entropy.mean(1)
    first, *_, last = paper.LAYER_MEANS["entropy"]
    entries = [
        ("Mean entropy, first layer", f"{means[0]:.2f} nats", f"paper: {first:.1f}"),
        ("Mean entropy, last layer", f"{means[-1]:.2f} nats", f"paper: {last:.1f}"),
    ]
    if "from_cls" in result.present:
        from_cls = result["from_cls"].mean(1)[-1]
        entries.append(("From [CLS], last layer", f"{from_cls:.2f} nats", f"paper: {paper.FROM_CLS_LAST_LAYER:.2f}"))
    broadest = highest(entropy)
    label = f"Highest entropy, {broadest.label()}: largest weight per token"
    entries.append((label, f"{result['max_weight'][broadest]:.1%}", "paper: about 10%"))
    return entries if result.counts_as_paper else [(name, value, "") for name, value, _ in entries]
