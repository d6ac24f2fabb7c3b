"""What a result of weights states, and how it is decided (docs/methods.md, sections 21 and 6)."""

from functools import partial
from math import inf

import numpy as np

from bertviz_core.analyses.base.findings import Answer, Interval, Statement, decide_worth, head_intervals, tiny
from bertviz_core.analyses.base.statistics import t_quantile
from bertviz_core.analyses.weights.result import HeadWeights, pairs, path_text
from bertviz_core.heads import highest

LEAST = 0.1  # the smallest difference of a share that is worth the name
LEAST_COMPOSITION = 0.05  # the same of a composition
POINTS = f"{100 * LEAST:.0f} points"
COMPOSITION = "composition"  # the name of the statement about pairs
VERBS = {"copy": "writes most", "suppression": "suppresses most"}


def most_copying(result: HeadWeights, quantity: str) -> Answer:
    """Whether the head with the highest copying score, or suppression, is above the mean of all heads, by its interval,
    corrected for the number of heads, and by LEAST."""
    values = result[quantity]
    head = highest(values)
    mean = float(values.mean())
    gain = head_intervals(result, quantity).at(head).minus(Interval(mean, mean))
    difference = float(values[head]) - mean
    tokens = f"of {int(result.segments.max()):,} tokens"
    sentence = (
        f"For {values[head]:.1%} {tokens}, the token itself is among the five that head {head.label()} "
        f"{VERBS[quantity]} where it looks at it; mean of all heads: {mean:.1%}."
    )
    return Answer(
        state=decide_worth(gain, difference, LEAST),
        sentence=sentence + tiny(gain, difference, LEAST, POINTS),
        head=head,
        quantity=quantity,
        number=f"{values[head]:.1%}",
    )


def most_positive(result: HeadWeights) -> Answer:
    """Whether the eigenvalues of the head with the largest share of positive ones are more so than those of random
    matrices, by their normal distribution corrected for the number of heads, and by LEAST; KeyError where all are 0."""
    values = result.eigenvalues
    if np.isnan(values).all():
        raise KeyError("eigenvalues")
    head = highest(values)
    mean, deviation = result.eigenvalues_random
    difference = float(values[head] - mean)
    interval = _around(difference, deviation, values.size)
    center, width = round(float(mean), 2) + 0.0, 1.96 * deviation  # a mean of -0.001 is 0.00
    what = "of what" if not result.of_vocabulary else "for the tokens that"
    return Answer(
        state=decide_worth(interval, difference, LEAST),
        sentence=f"The eigenvalues of what head {head.label()} writes {what} it reads sum to {values[head]:.2f} of "
        f"their absolute values (1: it writes back what it reads); random matrices: {center:.2f} ± {width:.2f}.",
        head=head,
        quantity="eigenvalue_copying",
        number=f"{values[head]:.2f}",
    )


def most_composed(result: HeadWeights) -> Answer:
    """Whether the pair with the highest composition is above random pairs, by their normal distribution corrected for
    the number of pairs and paths, and by LEAST_COMPOSITION; KeyError for a model of one layer."""
    found = pairs(result, 1)
    if not found:
        raise KeyError("composition")
    pair = found[0]
    mean, deviation = result.composition_random
    difference = pair.value - float(mean)
    interval = _around(difference, deviation, int((~np.isnan(result.composition)).sum()))
    return Answer(
        state=decide_worth(interval, difference, LEAST_COMPOSITION),
        sentence=f"Head {pair.reader.label()} reads what head {pair.writer.label()} writes the most, "
        f"{path_text(pair.path)}: composition {pair.value:.3f}; random pairs: {mean:.3f} ± {1.96 * deviation:.3f}.",
        head=pair.reader,
        quantity=f"{pair.path.partition('_')[0]}_composition",
        number=f"{pair.value:.3f}",
    )


def _around(difference: float, deviation: float, comparisons: int) -> Interval:
    """The interval of a difference from the mean of a normal distribution, corrected for the number of comparisons."""
    half = float(t_quantile(inf, comparisons)) * float(deviation)
    return Interval(difference - half, difference + half)


STATEMENTS = (
    *(
        Statement(
            name=quantity,
            section="",
            statement="",
            rule=f"The head with the highest {noun} is above the mean of all heads, by {POINTS} or more and with an "
            "interval corrected for the number of heads.",
            answer=partial(most_copying, quantity=quantity),
            role=role,
        )
        for quantity, noun, role in (
            ("copy", "copying score", "copies tokens"),
            ("suppression", "suppression", "suppresses tokens"),
        )
    ),
    Statement(
        name="eigenvalues",
        section="",
        statement="",
        rule=f"The share of the head with the highest one is above that of random matrices, by {LEAST} or more and "
        "beyond their 95% range, corrected for the number of heads.",
        answer=most_positive,
    ),
    Statement(
        name=COMPOSITION,
        section="",
        statement="",
        rule=f"The pair with the highest composition is above random pairs, by {LEAST_COMPOSITION} or more and beyond "
        "their 95% range, corrected for the number of pairs.",
        answer=most_composed,
    ),
)
