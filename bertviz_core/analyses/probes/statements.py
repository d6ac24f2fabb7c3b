"""What the paper says of probes (section 5), and how a result decides it (docs/methods.md, sections 8 and 6)."""

from functools import partial

from bertviz_core import paper
from bertviz_core.analyses.base.findings import DEMONSTRATION, Answer, Finding, Interval, Statement, decide
from bertviz_core.analyses.base.result import cached_on_result
from bertviz_core.analyses.base.statistics import MIN_UNITS
from bertviz_core.analyses.probes.result import MIN_TRAINED, Probes
from bertviz_core.heads import highest

MIN_DIFFERENCE = 0.1  # substantial difference of shares
INTERVAL_NOTE = "with a conservative interval, from both intervals' end points."


def above(result: Probes, probe: str, other: str, points: float) -> Answer:
    """Whether one probe finds more governors than another.

    With [l1, h1] and [l2, h2] the 95% bootstrap intervals of the two scores over units, the difference has the
    conservative interval [l1 - h2, h1 - l2], and the statement is shown where all of it is above `points`
    (docs/methods.md, section 8; section 6, Decisions). Of a treebank on which probes cannot be trained well, it is a
    demonstration.

    Args:
        probe: Name of the probe that the statement says is better.
        other: Name of the probe that it is compared with.
        points: By how much the score is to be higher, as a share.

    Raises:
        KeyError: The result lacks one of the two probes.
    """
    rows = result.to_frame().set_index("probe").loc[[probe, other]]
    enough = result.about["units"]["test"] >= MIN_UNITS
    first, second = (Interval(row.low, row.high, enough) for row in rows.itertuples())
    scores = [f"{row.score:.1%} ({row.low:.1%} to {row.high:.1%})" for row in rows.itertuples()]
    names = [name.replace("-", " ") for name in (probe, other)]
    shares = [f"{row.score:.1%}" for row in rows.itertuples()]
    claim = f"The probe “{names[0]}” finds {shares[0]} of the governors; “{names[1]}” {shares[1]}"
    trained = result.about["sentences"]["train"]
    few = ""
    if result.is_demonstration:
        few = f" Trained on {trained:,} sentences, fewer than {MIN_TRAINED:,}: a demonstration, not a finding."
    return Answer(
        state=DEMONSTRATION if few else decide(first.minus(second), points),
        sentence=f"The probe “{names[0]}” finds {scores[0]} of the governors, “{names[1]}” {scores[1]}.{few}",
        head=None if (weight := result.weight()) is None else highest(weight),
        quantity="weight",
        number=f"{100 * (rows.score.iloc[0] - rows.score.iloc[1]):.1f} points",
        claim=claim + (f"; trained on only {trained:,} sentences" if few else ""),
    )


STATEMENTS = (
    Statement(
        name="attention_only",
        section="5",
        statement=f"All heads together encode much syntax: attention only reaches {paper.TABLE_3['attention-only']} "
        f"UAS, right-branching {paper.TABLE_3_WITH_PUNCTUATION['right-branching']}, punctuation included.",
        rule=f"Attention only is more than {MIN_DIFFERENCE:.0%} above right-branching, {INTERVAL_NOTE}",
        answer=partial(above, probe="attention-only", other="right-branching", points=MIN_DIFFERENCE),
    ),
    Statement(
        name="words",
        section="5",
        statement=f"With word vectors attention reaches {paper.TABLE_3['attention-and-words']} UAS, distances and "
        f"words {paper.TABLE_3['distances-and-words']}.",
        rule=f"Attention and words is more than {MIN_DIFFERENCE:.0%} above distances and words, {INTERVAL_NOTE}",
        answer=partial(above, probe="attention-and-words", other="distances-and-words", points=MIN_DIFFERENCE),
    ),
    Statement(
        name="random",
        section="5",
        statement="That is learned: on random attention the same probe has "
        f"{paper.TABLE_3['random-attention-and-words']} UAS.",
        rule=f"Attention and words is more than {MIN_DIFFERENCE:.0%} above random attention and words, {INTERVAL_NOTE}",
        answer=partial(above, probe="attention-and-words", other="random-attention-and-words", points=MIN_DIFFERENCE),
    ),
)


@cached_on_result
def score_finding(result: Probes) -> Finding:
    """What the probe on attention alone finds, with which the page begins."""
    return STATEMENTS[0].finding("probes", "Probes", result)
