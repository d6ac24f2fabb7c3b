"""What is shown of one head in reach: where it looks, its tokens, and inputs in which it acts."""

from collections.abc import Iterator

import pandas as pd

from bertviz_core.analyses.base.blocks import Block, Chart, Columns, Say
from bertviz_core.analyses.base.shown_inputs import Example, Opened
from bertviz_core.analyses.base.table_blocks import Inputs, Table
from bertviz_core.analyses.reach.figure import acts_figure, offsets_figure, pair_svg
from bertviz_core.analyses.reach.result import SENTENCES, SHARES, TENTHS, Act, Reach
from bertviz_core.heads import Head
from bertviz_core.inputs.tokens import joined_pieces, read_names
from bertviz_core.numbers import measured

LOOKS = {"received": "looks at", "given": "looks from"}
ACTS = (
    "The largest weight between two different ordinary tokens of each input; special tokens and the first one are "
    "left out. Below, inputs of each tenth, drawn at random by the seed, with these two tokens."
)


def looks_chart(result: Reach, head: Head) -> Chart:
    """A head's attention by distance."""
    return Chart(
        name="reach-offsets",
        title=f"Where head {head.label()} looks",
        build=offsets_figure,
        arguments=(result, head),
        alt=f"Share of the attention of head {head.label()} by the distance of the key from the query",
        note=result.restriction,
        follows=True,
    )


def token_tables(result: Reach, head: Head) -> Iterator[Block]:
    """The tokens that receive, and those that give, the most; none where no token has numbers."""
    if not result.tokens:
        return
    yield Say(f"{result.about_tokens} 1 is what uniform attention gives; with 95% intervals.")
    received, given = (token_table(result, share, head) for share in SHARES)
    yield Columns(left=(received,), right=(given,))


def token_table(result: Reach, share: str, head: Head) -> Table:
    """The tokens that receive or give the most in a head."""
    tokens = result.top_tokens(share, head)
    rows = [
        {"token": each.label, "times uniform": measured(each.value, each.half), "occurrences": each.occurrences}
        for each in tokens
    ]
    return Table(
        name=f"tokens_{share}",
        title=f"Head {head.label()} {LOOKS[share]}",
        table=pd.DataFrame(rows),
        note=SENTENCES[share],
        searched=tuple(each.word or "" for each in tokens),
    )


def acts_chart(result: Reach, head: Head) -> Chart:
    """In how many inputs a head acts how strongly."""
    return Chart(
        name="reach-acts",
        title=f"How strongly head {head.label()} acts",
        build=acts_figure,
        arguments=(result, head),
        alt=f"Number of inputs by the largest weight of head {head.label()}",
        follows=True,
    )


def acts(result: Reach, head: Head) -> list[Act]:
    """The inputs that stand for each tenth of the head's activations, the strongest first."""
    return [act for tenth in reversed(range(TENTHS)) for act in result.acts(head, tenth)]


def act_inputs(result: Reach, head: Head) -> Inputs:
    """The inputs of `acts`, with the two tokens between which the head acts most."""
    found = acts(result, head)
    rows = [
        {
            "passage": act.number + 1,
            "where": act.where,
            "weight": round(act.value, 4),
            "from": act.tokens[act.query],
            "from_position": act.query + 1,
            "to": act.tokens[act.key],
            "to_position": act.key + 1,
            "tokens": " ".join(act.tokens),
        }
        for act in found
    ]
    return Inputs(
        name="acts",
        title=f"Inputs in which head {head.label()} acts",
        table=pd.DataFrame(rows),
        note=ACTS,
        examples=tuple(map(_example, found)),
    )


def _example(act: Act) -> Example:
    labels = read_names(act.tokens)
    return Example(
        title=f"Passage {act.number + 1}, {act.where}: weight {act.value:.2f}",
        text=joined_pieces(" ".join(act.tokens)),
        svg=pair_svg(act),
        notes=(f"{labels[act.query]} → {labels[act.key]} {act.value:.2f}",),
        opened=Opened(act.number, act.query, act.key),
    )
