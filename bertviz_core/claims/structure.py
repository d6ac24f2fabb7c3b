"""Claims of sections 4 to 6: syntax, coreference, probes and clusters (Tables 1 to 3, Figure 6)."""

from __future__ import annotations

from functools import partial

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.behaviors import OTHER
from bertviz_core.analyses.clustering.result import Clustering, nats
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.dependency_heads.relations import ALL, NO_RELATION, RelationCounts
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.proportions import wilson
from bertviz_core.claims.claim import Claim, State, Verdict, compare, decided

POINTS = 0.1  # a substantial difference of two shares
OVERALL = 0.15  # how far above an offset one head may be, and still not parse
CLOSE = 0.1


def _no_head_parses(shown: RelationCounts) -> Verdict:
    row = shown.relations.index(ALL)
    best, offset = float(_score(shown)[row]), float(shown.offset_accuracy[:, row].max())
    if np.isnan(best):
        return Verdict("undecided", "Held-out accuracy needs words in both halves of the treebank.")
    return Verdict(
        decided(best - offset < OVERALL),
        f"The best single head finds {best:.1%} of all governors, the best fixed offset {offset:.1%}.",
    )


def _relation_is_clear(shown: RelationCounts) -> Verdict:
    n, scores, offsets = shown.n.sum(0), _score(shown), shown.offset_accuracy.max(0)
    low, high = wilson(scores * n, n)
    rows = [i for i, name in enumerate(shown.relations) if name not in NO_RELATION and not np.isnan(scores[i])]
    if not rows:
        raise KeyError("relations")
    row = max(rows, key=lambda i: float(low[i] - offsets[i]))
    clear = sum(low[i] - offsets[i] > POINTS for i in rows)
    _, layer, head = shown.best()[row]
    return Verdict(
        compare(float(low[row] - offsets[row]), float(high[row] - offsets[row]), POINTS),
        f"Head {layer + 1}-{head + 1} finds “{shown.relations[row]}” in {scores[row]:.1%} of {n[row]:,} cases "
        f"({low[row]:.1%} to {high[row]:.1%}), the best fixed offset in {offsets[row]:.1%}; {clear} of {len(rows)} "
        "relations are that clear.",
    )


def _dependents_look_at_heads(shown: RelationCounts) -> Verdict:
    rows = [i for i, name in enumerate(shown.relations) if name not in NO_RELATION]
    if not rows:
        raise KeyError("relations")
    best = shown.best()
    forward = sum(int(best[i, 0]) == 0 for i in rows)
    return Verdict(
        decided(forward > len(rows) / 2),
        f"The best head reads dependent → head for {forward} of {len(rows)} relations.",
    )


def _beats(counts: AntecedentCounts, system: str) -> Verdict:
    if system not in counts.systems:
        raise KeyError(system)
    right, n = float(counts.heldout()[0]), counts.n[0]
    baseline = float(counts.systems_accuracy[counts.systems.index(system), 0])
    if np.isnan(right):
        return Verdict("undecided", "Held-out accuracy needs mentions in both halves of the documents.")
    low, high = map(float, wilson(np.array(right * n), np.array(n)))
    if system == "rule-based":
        state = compare(low, high, baseline - CLOSE)
        return Verdict(state, f"The head finds {right:.1%}, the rule-based system {baseline:.1%}.")
    return Verdict(
        compare(low, high, baseline),
        f"Head {counts.best().head.label()} finds an antecedent of {right:.1%} ({low:.1%} to {high:.1%}) of "
        f"{n:,} mentions; “{system}” of {baseline:.1%}.",
    )


def _probe_above(result: Probes, probe: str, other: str, points: float) -> Verdict:
    if not {probe, other} <= set(result.probes):
        raise KeyError(other)
    at = (result.probes.index(name) for name in (probe, other))
    first, second = (tuple(float(array[i]) for array in (result.score, result.low, result.high)) for i in at)
    shown = (
        f"{name.replace('-', ' ')}: {score:.1%} ({low:.1%} to {high:.1%})"
        for name, (score, low, high) in ((probe.capitalize(), first), (other, second))
    )
    return Verdict(compare(first[1] - second[2], first[2] - second[1], points), f"{'; '.join(shown)}.")


def _layers_are_close(result: Clustering) -> Verdict:
    near = result.closeness
    state: State = "undecided" if np.isnan(near.ratio) else decided(near.ratio < 1)
    return Verdict(state, f"{near.text(nats(result.summed))}.")


def _behaviors_cluster(result: Clustering) -> Verdict:
    labels = result.behaviors.reshape(-1)
    pairs = np.triu(np.ones_like(result.divergence, dtype=bool), 1)
    pairs &= (labels[:, None] != OTHER) & (labels[None] != OTHER)
    same = labels[:, None] == labels[None]
    if not (pairs & same).any() or not (pairs & ~same).any():
        raise KeyError("behaviors")
    within, between = (float(result.divergence[pairs & chosen].mean()) for chosen in (same, ~same))
    return Verdict(
        decided(within < between),
        f"Two heads with the same behavior differ by {within:.3g} {nats(result.summed)} on average, two with different "
        f"behaviors by {between:.3g}.",
    )


def _score(shown: RelationCounts) -> np.ndarray:
    """(relation,) held-out accuracy of the best heads; that on all words in mode "paper", which has no halves."""
    scores: np.ndarray = shown.accuracy.max((0, 2, 3)) if shown.paper else shown.heldout()
    return scores


ALL_1, DOBJ, DET = (paper.TABLE_1[name] for name in ("all", "dobj", "det"))
HEAD_2 = paper.TABLE_2["head 5-4"][0]
HELD_OUT = "Accuracy is held out: the head is chosen on one half of the corpus and scored on the other."
ENDS = "the interval of the difference is taken from the ends of the two."

STRUCTURE = (
    Claim(
        "4.2",
        "dependency_heads",
        f"No single head does syntax as a whole: the best finds {ALL_1[1]}% of all governors, a fixed offset "
        f"{ALL_1[2]}%.",
        f"The best head's held-out accuracy on all words is less than {OVERALL:.0%} above the best offset.",
        _no_head_parses,
    ),
    Claim(
        "4.2",
        "dependency_heads",
        f"Single heads find single relations, far above fixed offsets: {DOBJ[0]} direct objects in {DOBJ[1]}% of cases "
        f"(offset {DOBJ[2]}%), {DET[0]} determiners in {DET[1]}% ({DET[2]}%).",
        f"For one relation the best head is more than {POINTS:.0%} above the best offset, with its interval. "
        f"{HELD_OUT}",
        _relation_is_clear,
    ),
    Claim(
        "4.2",
        "dependency_heads",
        "Dependents attend to their heads rather than the other way around, since a word has one head and any number "
        "of dependents.",
        "For more than half of the relations the best head reads dependent → head.",
        _dependents_look_at_heads,
    ),
    Claim(
        "4.3",
        "coreference_heads",
        f"One head finds the antecedents of {HEAD_2}% of the mentions, where the nearest mention is right in "
        f"{paper.TABLE_2['nearest'][0]}%.",
        f"The best head is above the nearest mention, with its interval. {HELD_OUT}",
        partial(_beats, system="nearest"),
    ),
    Claim(
        "4.3",
        "coreference_heads",
        f"That head is above a match of head words ({paper.TABLE_2['head match'][0]}%).",
        f"The best head is above the match of head words, with its interval. {HELD_OUT}",
        partial(_beats, system="head match"),
    ),
    Claim(
        "4.3",
        "coreference_heads",
        f"It comes close to a rule-based system ({paper.TABLE_2['rule-based'][0]}%).",
        f"The best head is at most {CLOSE:.0%} below the rule-based system, with its interval. {HELD_OUT}",
        partial(_beats, system="rule-based"),
    ),
    Claim(
        "5",
        "probes",
        f"All heads together hold much syntax: attention only has {paper.TABLE_3['attention-only']} UAS, "
        f"right-branching {paper.TABLE_3_WITH_PUNCTUATION['right-branching']}.",
        f"Attention only is more than {POINTS:.0%} above right-branching; {ENDS}",
        partial(_probe_above, probe="attention-only", other="right-branching", points=POINTS),
    ),
    Claim(
        "5",
        "probes",
        f"With word vectors attention has {paper.TABLE_3['attention-and-words']} UAS, distances and words "
        f"{paper.TABLE_3['distances-and-words']}.",
        f"Attention and words is above distances and words; {ENDS}",
        partial(_probe_above, probe="attention-and-words", other="distances-and-words", points=0.0),
    ),
    Claim(
        "5",
        "probes",
        f"That is learned: on random attention the same probe has {paper.TABLE_3['random-attention-and-words']} UAS.",
        f"Attention and words is more than {POINTS:.0%} above random attention and words; {ENDS}",
        partial(_probe_above, probe="attention-and-words", other="random-attention-and-words", points=POINTS),
    ),
    Claim(
        "6",
        "clustering",
        "Heads of one layer are often fairly close to each other.",
        "The mean divergence of two heads of one layer is below that of two heads of different layers.",
        _layers_are_close,
    ),
    Claim(
        "6",
        "clustering",
        "Heads with the same behavior form clusters.",
        "The mean divergence of two heads with the same behavior is below that of two with different ones.",
        _behaviors_cluster,
    ),
)
