"""Next token: what each head adds to the logit of the token that comes next (beyond the paper; docs/methods.md,
section 20)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.blocks import Block, Card, Numbers
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.next_token.figure import paper_figure
from bertviz_core.analyses.next_token.result import COLUMNS, LABELS, LEAST, NextToken
from bertviz_core.analyses.next_token.statements import STATEMENTS
from bertviz_core.models.model import AttentionModel
from bertviz_core.numbers import number

if TYPE_CHECKING:
    from bertviz_core.analyses.next_token.measure import NextTokenSums


class NextTokenAnalysis(Analysis[NextToken, ColumnView[NextToken]]):
    """What heads add to the logit of the next token."""

    name = "next_token"
    title = "Next token"
    summary = "What each head of a decoder adds to the logit of the token that comes next."
    section = "What does a head write?"
    icon = ":material/keyboard_double_arrow_right:"
    result_class = NextToken
    columns = COLUMNS
    labels = LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    prefix = ""
    forward_passes = 1.2
    language_model = True
    reads_residual = True
    reads_maps = False

    def accumulator(self, model: AttentionModel, request: Request) -> "NextTokenSums":
        from bertviz_core.analyses.next_token.measure import NextTokenSums

        return NextTokenSums(model.layers, model.heads, model.device, model.residual)

    def blocks(self, result: NextToken, view: ColumnView[NextToken]) -> Iterator[Block]:
        yield from self.opening(result, view)
        if not self.is_empty(result):
            yield Numbers(tuple(cards(result)))
            yield from self.ending(result, view)


def cards(result: NextToken) -> list[Card]:
    """The logit of the next token, what all heads add to it together, and how many heads add or take away."""
    values = result["to_next_token"]
    up, down = int((values >= LEAST).sum()), int((values <= -LEAST).sum())
    return [
        ("Logit of the next token", f"{number(result.logit)} nats", "above the vocabulary's mean"),
        ("All heads together", f"{number(values.sum(), '+')} nats", "the rest: MLPs, embeddings, biases"),
        (f"Heads that add {LEAST} nats or more", f"{up} of {values.size}", f"that take away as much: {down}"),
    ]
