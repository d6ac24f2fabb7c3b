"""What the paper says of coreference heads (section 4.3; Table 2), and how a result decides it (docs/methods.md,
sections 6 and 7)."""

from dataclasses import replace
from functools import partial

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.base.findings import (
    GAIN,
    HELD_OUT,
    SHOWN,
    UNDECIDED,
    Answer,
    Finding,
    Statement,
    decide,
    tiny,
)
from bertviz_core.analyses.base.result import cached_on_result
from bertviz_core.analyses.base.statistics import MIN_SCORED
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.baselines import SIMPLE
from bertviz_core.analyses.coreference_heads.groups import TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import DIRECTIONS
from bertviz_core.heads import DirectedHead, arrow

ONE_CANDIDATE = (
    "Most mentions have only one candidate, so no head can be wrong about them: the file marks few mentions (like "
    "WinoBias). Choose “words” as candidates."
)
AMONG = {"mentions": "the preceding mentions", "words": "all other words"}
MAX_SHORTFALL = 0.1  # share of the mentions
RULE_BASED = "rule-based"
NAMED = (*SIMPLE, RULE_BASED)  # the systems beside the head, wherever it is told
HEAD_2 = paper.TABLE_2["head 5-4"][0]
RULE = "with the interval of the difference. " + HELD_OUT


def above_simple(counts: AntecedentCounts, direction: int = 0, kind: str = "all") -> Answer:
    """Whether the best head of one direction is above all of SIMPLE, see `AntecedentCounts.above_simple`.

    Args:
        counts: The counts for one set of candidates.
        direction: Index in DIRECTIONS.
        kind: The mentions on which heads are chosen and scored, one of TYPE_ROWS.

    Raises:
        KeyError: There are no such mentions.
    """
    if not counts.n[TYPE_ROWS.index(kind)]:
        raise KeyError(kind)
    best = counts.best(kind, direction)
    gain = counts.simple_gain(direction, kind)
    difference = counts.simple_difference(direction, kind)
    sentence = _sentence(counts, best, kind) + tiny(gain, difference, GAIN, f"{100 * GAIN:.0f} points")
    beaten = _beaten(counts, direction, kind)
    claim = _claim(counts, best, kind)
    return Answer(counts.above_simple(direction, kind), sentence, best.head, number=beaten, claim=claim)


def close_to_rules(counts: AntecedentCounts) -> Answer:
    """Whether the best head is at most MAX_SHORTFALL below the rule-based system.

    The interval of its held-out accuracy minus that of the system, see `AntecedentCounts.gain`, is to be above
    -MAX_SHORTFALL (docs/methods.md, section 6, Decisions). The sentence is that of the other baselines.
    """
    best = counts.best()
    state = decide(counts.gain(RULE_BASED), -MAX_SHORTFALL)
    return Answer(state, _sentence(counts, best), best.head, number=_beaten(counts, 0))


def _claim(counts: AntecedentCounts, best: DirectedHead, kind: str) -> str:
    """The numbers of `_sentence` in one line."""
    row = counts.row(best, kind)
    mentions = f"{row['accuracy']:.1%} of {row['n']:,} {TYPE_NAMES[kind]}"
    finds = f"Head {best.head.label()} finds an antecedent of {mentions}"
    nearer = NAMED[:0:-1]  # The order is from the best to the worst, without chance.
    others = (f"{name} {counts.of_system(name)[TYPE_ROWS.index(kind)]:.1%}" for name in nearer)
    return f"{finds}; {', '.join(others)}"


def _sentence(counts: AntecedentCounts, best: DirectedHead, kind: str = "all") -> str:
    """What the best head finds of the mentions of one of TYPE_ROWS, and what each of NAMED finds."""
    row = counts.row(best, kind)
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
    others = ", ".join(f"{name} {counts.of_system(name)[TYPE_ROWS.index(kind)]:.1%}" for name in NAMED)
    return (
        f"Head {best.head.label()}, {arrow(DIRECTIONS[best.direction])}, finds an antecedent of "
        f"{row['accuracy']:.1%} of {mentions} ({interval}); {others}.{notes}"
    )


def _beaten(counts: AntecedentCounts, direction: int, kind: str = "all") -> str:
    """Which of NAMED the best head is above, see `AntecedentCounts.above`, which it is level with, and which not."""
    states = {name: counts.above(name, direction, kind) for name in NAMED}
    beaten = [name for name, state in states.items() if state == SHOWN]
    level = [name for name, state in states.items() if state == UNDECIDED]
    others = [name for name in NAMED if name not in (*beaten, *level)]
    listed = f"{len(beaten)} of {len(NAMED)}" + (f": {', '.join(beaten)}" if beaten else "")
    listed += f"; level with {', '.join(level)}" if level and beaten else ""
    return listed + (f"; not {', '.join(others)}" if others and beaten else "")


@cached_on_result
def type_finding(counts: AntecedentCounts, kind: str, direction: int) -> Finding:
    """The best head of one direction on the mentions of one of TYPE_ROWS, beside the baselines of SIMPLE."""
    answer = partial(above_simple, direction=direction, kind=kind)
    return replace(STATEMENTS[0], answer=answer).finding("coreference_heads", "", counts)


def head_sentence(counts: AntecedentCounts, kind: str, choice: DirectedHead) -> str:
    """What one head finds of the mentions of one of TYPE_ROWS, with the interval."""
    row = counts.row(choice, kind)
    interval = "no interval" if np.isnan(row["low"]) else f"95% interval {row['low']:.1%} to {row['high']:.1%}"
    finds = f"finds an antecedent of {row['accuracy']:.1%} of {row['n']:,} {TYPE_NAMES[kind]} ({interval})"
    return f"The chosen head {choice.head.label()}, {arrow(DIRECTIONS[choice.direction])}, {finds}."


def method(counts: AntecedentCounts, kind: str, direction: int) -> str:
    """Which mentions count, and how the corpus was read, as sentences."""
    origin = counts.provenance
    n = int(counts.n[TYPE_ROWS.index(kind)])
    beyond = "The paper does not measure this direction. " if direction else ""
    return (
        f"All of {n:,} {TYPE_NAMES[kind]}. Candidates: {AMONG[counts.candidates]}. {beyond}Of all {counts.n[0]:,} "
        f"mentions {counts.stored.single:,} have only one candidate. Read as {origin['format']}; head words found by "
        f"{origin['head_words']}."
    )


STATEMENTS = (
    Statement(
        name="simple_baselines",
        section="4.3",
        statement=f"One head finds the antecedents of {HEAD_2}% of the mentions, the nearest mention "
        f"{paper.TABLE_2['nearest'][0]}%, a match of head words {paper.TABLE_2['head match'][0]}%.",
        rule=f"The best head is {GAIN:.0%} or more above every simple baseline ({', '.join(SIMPLE)}), {RULE}",
        answer=above_simple,
        role="coreference",
    ),
    Statement(
        name="rule_based",
        section="4.3",
        statement=f"It comes close to a rule-based system ({paper.TABLE_2['rule-based'][0]}%).",
        rule=f"The best head is at most {MAX_SHORTFALL:.0%} below the rule-based system, {RULE}",
        answer=close_to_rules,
    ),
)
