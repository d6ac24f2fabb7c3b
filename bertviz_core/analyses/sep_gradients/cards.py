"""The key numbers of the page of sink gradients."""

from bertviz_core import paper
from bertviz_core.analyses.base.parts import Card
from bertviz_core.analyses.sep_gradients.result import SepGradients, sink
from bertviz_core.heads import first_number
from bertviz_core.plotting import TOKENS


def cards(result: SepGradients) -> list[Card]:
    """The loss, the words that are right, and the sink's attention beside its gradient."""
    entries = [
        (result.loss_name.capitalize(), f"{result.loss:.2f} nats", f"{int(result.segments.max()):,} passages"),
        ("Words right", f"{result.accuracy:.1%}", f"of {result.predicted:,}"),
    ]
    if peak := sink(result):
        name = TOKENS[peak.token][0]
        title = f"Attention to {name}, layer {peak.layer + first_number()}, {result.input_name}"
        printed = (f"paper: [SEP], {max(paper.LAYER_MEANS['to_sep']):.2f}", "paper: near 0")
        notes = printed if result.counts_as_paper else ("", "")
        entries.append((title, f"{peak.attention:.2f}", notes[0]))
        entries.append((f"Gradient, {name} / other", f"{peak.ratio:.2f}", notes[1]))
    return entries
