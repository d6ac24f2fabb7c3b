"""What a result of the next token states, and how it is decided (docs/methods.md, sections 20 and 6)."""

from bertviz_core.analyses.base.findings import SHOWN, Answer, Statement, decide_worth, head_intervals, tiny
from bertviz_core.analyses.next_token.result import LEAST, NextToken
from bertviz_core.heads import highest
from bertviz_core.numbers import nats, number


def adds(result: NextToken) -> Answer:
    """Whether some head adds to the logit of the next token.

    What the head that adds most adds is LEAST or more, and its interval, corrected for the number of heads, above 0
    (docs/methods.md, section 20; section 6, Decisions); how many heads do so is said beside it.
    """
    values = result["to_next_token"]
    intervals = head_intervals(result, "to_next_token")
    head, lowest = highest(values), result.lowest
    states = decide_worth(intervals, values, LEAST)
    value = nats(values[head], result.interval("to_next_token")[head], result.unit)
    most = f"Head {head.label()} adds most to the logit of the next token: {value}"
    note = tiny(intervals.at(head), values[head], LEAST, f"{LEAST} nats")
    against = f"head {lowest.label()} adds {number(values[lowest], '+')} to that logit"
    return Answer(
        state=states[head],
        sentence=f"{most}; {against}; {int((states == SHOWN).sum())} of {values.size} heads add {LEAST} nats or more, "
        f"with an interval above 0.{note}",
        head=head,
        quantity="to_next_token",
        number=f"{values[head]:+.3f} nats",
        claim=f"{most}; {against}",
    )


STATEMENTS = (
    Statement(
        name="adds",
        section="",
        statement="",
        rule=f"The head that adds most to the logit of the next token adds {LEAST} nats or more, with an interval "
        "above 0 that is corrected for the number of heads.",
        answer=adds,
        role="next token",
    ),
)
