"""What the paper states about attention to the sink, and how a result decides it (docs/methods.md, sections 3 and
6)."""

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.base.findings import UNDECIDED, Answer, Interval, Statement, decide, layer_intervals
from bertviz_core.analyses.sep_gradients.result import ATTENTION, GRADIENT, TO_OTHER, SepGradients, sink
from bertviz_core.heads import first_number, highest
from bertviz_core.plotting import TOKENS

NO_OP = 0.2  # share of the gradient to other tokens
WEAKER = 0.5  # A gradient of less than this share is weaker, but only below NO_OP next to none.
LEAST = 0.1  # share of a layer's attention: a token that gets less is no sink that could be a no-op


def no_op(result: SepGradients) -> Answer:
    """Whether attention to the sink hardly matters to the loss where most of it is.

    In the layer that attends most to the sink, NO_OP times the mean gradient to other tokens minus the mean gradient to
    the sink, with the intervals of both, is compared with 0 (docs/methods.md, section 3; section 6, Decisions); nothing
    is decided where no attention to other tokens has a gradient, or the sink gets less than LEAST of the layer's
    attention.

    Raises:
        KeyError: There is no sink, so that the statement is about something absent.
    """
    peak = sink(result)
    if peak is None:
        raise KeyError("special tokens")
    token, layer, attention, ratio = peak
    there = layer_intervals(result, GRADIENT.format(token))
    other = layer_intervals(result, TO_OTHER)
    gain = Interval(other.low * NO_OP, other.high * NO_OP, other.enough).minus(there)
    matters = "no attention has a gradient"
    if not np.isnan(ratio):
        matters = f"the gradient there is {ratio:.2f} times that to other tokens"
        matters += f": weaker, but not below {NO_OP} times" * bool(NO_OP <= ratio < WEAKER)
    note = "" if attention >= LEAST else f" That is less than {LEAST:.0%} of its attention: there is no sink."
    masked = f" ({result.input_note})" if result.input_note else ""
    is_comparable = other.high[layer] > 0 and not note
    return Answer(
        state=decide(gain)[layer] if is_comparable else UNDECIDED,
        sentence=f"Layer {layer + first_number()} puts {attention:.0%} of its attention on {TOKENS[token][0]}"
        f"{masked}, the most that a layer puts on a special {'or first ' * (token == 'first')}token; {matters}.{note}",
        head=highest(result[ATTENTION.format(token)]),
        quantity=GRADIENT.format(token),
        number="" if np.isnan(ratio) else f"{ratio:.2f} times as much",
    )


STATEMENTS = (
    Statement(
        name="no_op",
        section="3.2",
        statement=f"From layer {paper.NO_OP_FROM_LAYER} on, where attention to [SEP] is high, its gradient is very "
        "small: it is a no-op.",
        rule="In the layer that attends most to a special token, the mean gradient to that token is below "
        f"{NO_OP} times that to other tokens, with the intervals of both; undecided where the layer gives that token "
        f"less than {LEAST:.0%} of its attention.",
        answer=no_op,
    ),
)
