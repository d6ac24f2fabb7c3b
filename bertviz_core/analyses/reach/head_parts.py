"""What the page of reach shows of the chosen head beside its figures: its tokens, and inputs in which it acts."""

import pandas as pd

from bertviz_core.analyses.base.parts import Example, Part, table_part
from bertviz_core.analyses.reach.figure import pair_svg
from bertviz_core.analyses.reach.result import SENTENCES, SHARES, TENTHS, Act, Reach
from bertviz_core.heads import Head
from bertviz_core.inputs.tokens import joined_pieces
from bertviz_core.numbers import measured

LOOKS = {"received": "Looks at", "given": "Looks from"}
ACTS = (
    "The largest weight between two different ordinary tokens of each input; [CLS], [SEP] and the first token are left "
    "out. Below, inputs of each tenth, drawn at random by the seed, with these two tokens."
)


def looks_title(head: Head) -> str:
    """The title of a head's attention by distance."""
    return f"Where head {head.label()} looks"


def tokens_title(head: Head) -> str:
    """The title of the tokens that a head looks at and from."""
    return f"At and from which tokens head {head.label()} looks"


def acts_title(head: Head) -> str:
    """The title of a head's inputs by activation."""
    return f"How strongly head {head.label()} acts"


def tokens_note(result: Reach) -> str:
    """Which tokens have numbers, and what these are."""
    return f"{result.about_tokens} 1 is what uniform attention gives; with 95% intervals."


def token_parts(result: Reach, head: Head) -> list[Part]:
    """The tokens that receive, and those that give, the most; none where no token has numbers."""
    return [token_part(result, share, head) for share in SHARES] if result.tokens else []


def token_part(result: Reach, share: str, head: Head) -> Part:
    """The tokens that receive or give the most in a head."""
    rows = []
    for each in result.top_tokens(share, head):
        value = measured(each.value, each.half)
        rows.append({"token": each.token, "times uniform": value, "occurrences": each.occurrences})
    title = f"Head {head.label()}: {LOOKS[share].lower()}"
    return table_part(f"tokens_{share}", title, rows, f"{SENTENCES[share]} {tokens_note(result)}")


def acts(result: Reach, head: Head) -> list[Act]:
    """The inputs that stand for each tenth of the head's activations, the strongest first."""
    return [act for tenth in reversed(range(TENTHS)) for act in result.acts(head, tenth)]


def act_title(act: Act) -> str:
    """The title of an input in which a head acts: where it is, and the weight of its strongest pair."""
    return f"Passage {act.number + 1}, {act.where}: weight {act.value:.2f}"


def acts_part(result: Reach, head: Head) -> Part:
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
    examples = tuple(
        Example(
            act_title(act),
            joined_pieces(" ".join(act.tokens)),
            pair_svg(act),
            (f"{act.tokens[act.query]} → {act.tokens[act.key]} {act.value:.2f}",),
        )
        for act in found
    )
    return Part("acts", f"{acts_title(head)}: inputs", pd.DataFrame(rows), ACTS, examples)
