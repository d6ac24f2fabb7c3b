"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""

from bertviz_core import paper
from bertviz_core.analyses.entropy import Entropy
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.analyses.registry import ANALYSES
from pages.shared.frame import Selection, choices
from pages.shared.page import Metric
from pages.shared.views import analysis_page


def focused(result: Entropy, _: HeadColumn, selection: Selection) -> str:
    below = choices.slider("Maximum share of uniform entropy", 0.1, 1.0, 0.5, 0.05, key="share", width=280)
    what = f"At most {below:.0%} of the entropy of uniform attention ({result.uniform:.2f} nats)"
    return analysis_page.named_over(-result["entropy"], -below * result.uniform, selection.base, what)


def numbers(result: Entropy, _: Selection) -> list[Metric]:
    means = result["entropy"].mean(1)
    printed = paper.LAYER_MEANS["entropy"]
    entries = [
        ("Mean entropy, first layer", f"{means[0]:.2f} nats", f"paper: {printed[0]:.1f}"),
        ("Mean entropy, last layer", f"{means[-1]:.2f} nats", f"paper: {printed[-1]:.1f}"),
    ]
    if "from_cls" in result.present:
        last = result["from_cls"].mean(1)[-1]
        entries.append(("From [CLS], last layer", f"{last:.2f} nats", f"paper: {paper.FROM_CLS_LAST_LAYER:.2f}"))
    broadest = result["max_weight"].flat[result["entropy"].argmax()]
    return [*entries, ("Broadest head: largest weight", f"{broadest:.1%}", "paper: about 10%")]


TEXT = (
    "Section 3.3, in nats, with 0 log 0 = 0. Entropies are averaged within each segment, then over segments. The "
    "dashed line marks uniform attention, the mean of log N. In the mode “as in the paper” attention is first "
    f"smoothed to 0.9999 A + 0.0001/N, as in the authors' code. The paper's numbers: {paper.READ_OFF}."
)
analysis_page.show(ANALYSES["entropy"], beyond=focused, numbers=numbers, text=TEXT)
