"""What the paper says of coreference heads (section 4.3; Table 2), and how a result decides it (docs/methods.md,
sections 6 and 7)."""

from dataclasses import replace
from functools import partial

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.base.findings import HELD_OUT, Answer, Finding, Statement, decide
from bertviz_core.analyses.base.statistics import MIN_SCORED
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.baselines import SIMPLE
from bertviz_core.analyses.coreference_heads.groups import TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import DIRECTIONS
from bertviz_core.heads import DirectedHead, arrow

CLOSE = 0.1
HEAD_2 = paper.TABLE_2["head 5-4"][0]
RULE = "with the interval of the difference. " + HELD_OUT


def against_baseline(
    counts: AntecedentCounts, base: int, system: str = "", points: float = 0.0, direction: int = 0, kind: str = "all"
) -> Answer:
    """Whether the best head of one direction, on one type of mentions, is more than `points` above one system, or above
    all of SIMPLE.

    Shown where the whole interval of the gain is above `points`: the held-out accuracy of the best head on these
    mentions minus that of the system, see `AntecedentCounts.gain`; of SIMPLE the gain over the one to which the head is
    closest, see `AntecedentCounts.simple_gain` (docs/methods.md, section 6, Decisions).

    Args:
        counts: The counts for one set of candidates.
        base: Number of the first head in labels.
        system: One of BASELINES; empty for all of SIMPLE.
        points: By how much the accuracy is to be higher, as a share; negative for how far it may be lower.
        direction: Index in DIRECTIONS.
        kind: The mentions on which heads are chosen and scored, one of TYPE_ROWS.

    Raises:
        KeyError: There are no such mentions.
    """
    index = TYPE_ROWS.index(kind)
    if not counts.n[index]:
        raise KeyError(kind)
    best = counts.best(kind, direction)
    row = counts.row(best, kind, picked_on=kind)
    shares = {name: counts.of_system(name)[index] for name in counts.systems}
    strongest = max(SIMPLE, key=shares.__getitem__)
    other = shares[system or strongest]
    gap = row["accuracy"] - other
    named = system or f"the best simple baseline, {strongest}"
    distance = f"{100 * abs(gap):.1f} points {'below' if gap < 0 else 'above'} {named} ({other:.1%})"
    if system not in ("", strongest):
        distance += f"; the best simple baseline is {strongest} ({shares[strongest]:.1%})"
    if not system:
        distance += f"; rules find {shares['rule-based']:.1%}"
    interval = "no interval"
    if not np.isnan(row["low"]):
        interval = f"95% interval {row['low']:.1%} to {row['high']:.1%}"
    interval += f" over {counts.units_of(kind)}"
    if not np.isnan(row["heldout_accuracy"]):
        interval += f"; {row['heldout_accuracy']:.1%} held out"
    mentions = f"{row['n']:,} {TYPE_NAMES[kind]}"
    notes = ""
    if counts.is_causal:
        mentions += " (only those with an antecedent that comes earlier count)"
    if "accuracy_of_all_mentions" in row:
        accuracy = f"{row['accuracy_of_all_mentions']:.1%}"
        notes += f" Of all {counts.of_all:,} mentions with an antecedent the head finds {accuracy}."
    if row["n"] < MIN_SCORED:
        notes += f" Fewer than {MIN_SCORED} mentions are too few to decide."
    gain = counts.gain(system, direction, kind) if system else counts.simple_gain(direction, kind)
    return Answer(
        decide(gain, points),
        f"Head {best.head.label(base)}, {arrow(DIRECTIONS[direction])}, finds an antecedent of {row['accuracy']:.1%} "
        f"of {mentions} ({interval}), {distance}.{notes}",
        best.head,
    )


def type_finding(counts: AntecedentCounts, kind: str, direction: int, base: int = 1) -> Finding:
    """The best head of one direction on the mentions of one of TYPE_ROWS, beside the baselines of SIMPLE."""
    answer = partial(against_baseline, direction=direction, kind=kind)
    return replace(STATEMENTS[-1], answer=answer).finding("coreference_heads", "", counts, base)


def head_sentence(counts: AntecedentCounts, kind: str, choice: DirectedHead, base: int = 1) -> str:
    """What one head finds of the mentions of one of TYPE_ROWS, with the interval."""
    row = counts.row(choice, kind)
    interval = "no interval" if np.isnan(row["low"]) else f"95% interval {row['low']:.1%} to {row['high']:.1%}"
    finds = f"finds an antecedent of {row['accuracy']:.1%} of {row['n']:,} {TYPE_NAMES[kind]} ({interval})"
    return f"The chosen head {choice.head.label(base)}, {arrow(DIRECTIONS[choice.direction])}, {finds}."


STATEMENTS = (
    Statement(
        "nearest",
        "4.3",
        f"One head finds the antecedents of {HEAD_2}% of the mentions, where the nearest mention is right in "
        f"{paper.TABLE_2['nearest'][0]}%.",
        f"The best head is above the nearest mention, {RULE}",
        partial(against_baseline, system="nearest"),
        "coreference",
    ),
    Statement(
        "head_match",
        "4.3",
        f"That head is above a match of head words ({paper.TABLE_2['head match'][0]}%).",
        f"The best head is above the match of head words, {RULE}",
        partial(against_baseline, system="head match"),
    ),
    Statement(
        "rule_based",
        "4.3",
        f"It comes close to a rule-based system ({paper.TABLE_2['rule-based'][0]}%).",
        f"The best head is at most {CLOSE:.0%} below the rule-based system, {RULE}",
        partial(against_baseline, system="rule-based", points=-CLOSE),
    ),
    Statement(
        "simple_baselines",
        "",
        "",
        f"The best head is above every simple baseline ({', '.join(SIMPLE)}), {RULE}",
        against_baseline,
    ),
)
