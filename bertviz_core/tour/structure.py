"""Steps through sections 4 to 6: what heads know of syntax and coreference, and which heads are alike."""

from __future__ import annotations

from bertviz_core.analyses.head_summary import FEWEST, Results
from bertviz_core.heads import Head
from bertviz_core.tour.found import Found
from bertviz_core.tour.step import Step


def _syntax(results: Results) -> Found:
    result = results["dependency_heads"].chosen(min_count=FEWEST)
    row = result.relations.index(result.most_telling())
    direction, layer, head = (int(i) for i in result.best[row])
    best, at = Head(layer, head), (direction, row, layer, head)
    accuracy, offset = result.accuracy[at], result.offset_accuracy[:, row].max()
    gain = 100 * (accuracy - offset)
    return Found(
        f"“{result.relations[row]}”, by head {best.label()}: {accuracy:.1%}, where the best fixed offset has "
        f"{offset:.1%} (n = {int(result.n[:, row].sum()):,}).",
        f"Direct objects stand 46.8 points over their offset in BERT-base; this model's clearest relation stands "
        f"{gain:.1f} points over its own."
        + (" It is too young, or too small, for the paper's linguistic heads." if gain < 15 else ""),
        best,
    )


def _coreference(results: Results) -> Found:
    result = results["coreference_heads"]
    best, baselines = result.best(), dict(zip(result.systems, result.systems_accuracy()[:, 0], strict=True))
    accuracy = result.accuracy()[best.direction, 0, best.head.layer, best.head.head]
    beaten = [name for name in ("nearest", "head match", "rule-based") if accuracy > baselines[name]]
    return Found(
        f"Head {best.head.label()} finds {accuracy:.1%}; nearest {baselines['nearest']:.1%}, head match "
        f"{baselines['head match']:.1%}. It beats {' and '.join(beaten) or 'neither'}.",
        f"BERT-base's head 5-4 has 65% and beats both on CoNLL-2012; this model's best has {accuracy:.1%} on its corpus.",
        best.head,
    )


def _clusters(results: Results) -> Found:
    closeness = results["clustering"].closeness
    nearer = closeness.ratio < 1
    return Found(
        f"{'Yes' if nearer else 'No'}: heads of one layer differ by {closeness.within:.3f} nats, heads of different "
        f"layers by {closeness.between:.3f}.",
        "In BERT-base heads of one layer are often fairly close, and heads that do the same form clusters; here heads "
        f"of one layer are {abs(1 - closeness.ratio):.0%} {'closer' if nearer else 'further apart'}.",
    )


STRUCTURE = (
    Step(
        "Heads that know syntax",
        "Section 4.2, Table 1",
        "No head does syntax as a whole (the best finds 34.5% of all governors, a fixed offset 26.3%); yet single heads "
        "find single relations, untaught: 8-10 finds direct objects in 86.8% of cases (offset 40.0%), 8-11 determiners "
        "in 94.3% (51.7%).",
        "dependency_heads",
        "The table: for each relation the best head beside the best fixed offset.",
        "Which relation's best head stands furthest above the best offset?",
        ("dependency_heads",),
        _syntax,
    ),
    Step(
        "A head that knows who is who",
        "Section 4.3, Table 2",
        "Head 5-4 of BERT-base points from a mention to an antecedent in 65% of cases: better than the nearest mention "
        "(27%) and a match of head words (52%), close to a rule-based system (69%).",
        "coreference_heads",
        "The table: heads and baselines over the same candidates.",
        "Which of the simple baselines does this model's best head beat?",
        ("coreference_heads",),
        _coreference,
    ),
    Step(
        "Which heads are alike",
        "Section 6, Figure 6",
        "By the Jensen-Shannon divergence of their attention the heads of BERT-base form clusters by what they do, "
        "and heads of one layer are often fairly close: perhaps because dropout on attention makes several learn the same.",
        "clustering",
        "The same points twice: by behaviour, and by layer.",
        "Are heads of one layer of this model closer to each other than to the rest?",
        ("clustering",),
        _clusters,
    ),
)
