"""Steps through sections 4 to 6: what heads know of syntax and coreference, and which heads are alike."""

from __future__ import annotations

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.clustering.result import nats
from bertviz_core.analyses.coreference_heads.baselines import RANDOM
from bertviz_core.claims import claims_of
from bertviz_core.heads import Head, highest
from bertviz_core.overview.head_summary import Results
from bertviz_core.tour.step import Findings, Step

ALL, DOBJ, DET = (paper.TABLE_1[name] for name in ("all", "dobj", "det"))
TABLE_3, RIGHT_BRANCHING = paper.TABLE_3, paper.TABLE_3_WITH_PUNCTUATION["right-branching"]
PAPER_HEAD = paper.TABLE_2["head 5-4"][0]


def _syntax(results: Results, base: int) -> Findings:
    result = results["dependency_heads"].default_view()
    row = result.relations.index(result.most_telling())
    direction, layer, head = (int(i) for i in result.best()[row])
    best, at = Head(layer, head), (direction, row, layer, head)
    accuracy, offset = result.accuracy[at], result.offset_accuracy[:, row].max()
    gain = 100 * (accuracy - offset)
    return Findings(
        f"“{result.relations[row]}”, by head {best.label(base)}: {accuracy:.1%}, where the best fixed offset has "
        f"{offset:.1%} (n = {int(result.n[:, row].sum()):,}).",
        f"Direct objects are {DOBJ[1] - DOBJ[2]:.0f} points above their offset in BERT-base; this model's clearest "
        f"relation is {gain:.0f} points above its own."
        + (" It has been trained too little, or is too small, for the paper's linguistic heads." if gain < 15 else ""),
        best,
    )


def _coreference(results: Results, base: int) -> Findings:
    result = results["coreference_heads"].default_view()
    best, baselines = result.best(), dict(zip(result.systems, result.systems_accuracy[:, 0], strict=True))
    accuracy = result.accuracy[best.direction, 0, best.head.layer, best.head.head]
    beaten = " and ".join(name for name in ("nearest", "head match", "rule-based") if accuracy > baselines[name])
    return Findings(
        f"Head {best.head.label(base)} finds {accuracy:.1%}; a random candidate {baselines[RANDOM]:.1%}, nearest "
        f"{baselines['nearest']:.1%}, head match {baselines['head match']:.1%}. It beats "
        f"{beaten or 'none of them'}.",
        f"BERT-base's head 5-4 has {PAPER_HEAD}% and beats both on CoNLL-2012; this model's best has {accuracy:.1%} on "
        "this corpus.",
        best.head,
    )


def _probe(results: Results, base: int) -> Findings:
    result = results["probes"]
    read, right = result.of("attention-only"), result.of("right-branching")
    return Findings(
        f"Attention only finds {read:.1%} of the governors, the word to the right {right:.1%}: a difference of "
        f"{100 * (read - right):.0f} points, from maps alone.",
        f"In BERT-base attention only has {TABLE_3['attention-only']} UAS, with word vectors "
        f"{TABLE_3['attention-and-words']}; this model {100 * read:.0f} and "
        f"{100 * result.of('attention-and-words'):.0f}."
        + (" There is little more syntax in its maps than in word order." if read - right < 0.1 else ""),
        highest(result.attention.max(0)),
    )


def _clusters(results: Results, base: int) -> Findings:
    result = results["clustering"]
    closeness, nearer = result.closeness, result.closeness.ratio < 1
    if np.isnan(closeness.ratio):
        return Findings(
            f"{closeness.text(nats(result.summed))}.", "In BERT-base heads of one layer are often fairly close."
        )
    return Findings(
        f"{'Yes' if nearer else 'No'}: heads of one layer differ by {closeness.within:.3f} {nats(result.summed)}, "
        f"heads of different layers by {closeness.between:.3f}.",
        "In BERT-base heads of one layer are often fairly close, and heads with the same behavior form clusters; here "
        f"heads of one layer are {abs(1 - closeness.ratio):.0%} {'closer' if nearer else 'further apart'}.",
    )


STRUCTURE = (
    Step(
        "Heads that know syntax",
        "Section 4.2, Table 1",
        f"No head does syntax as a whole (the best finds {ALL[1]}% of all governors, a fixed offset {ALL[2]}%); yet "
        f"single heads find single relations without being trained to: {DOBJ[0]} finds direct objects in {DOBJ[1]}% of "
        f"cases (offset {DOBJ[2]}%), {DET[0]} determiners in {DET[1]}% ({DET[2]}%).",
        "dependency_heads",
        "The map of this model's clearest relation; and sentences in which the chosen head is surest of it.",
        "Punctuation aside, which relation's best head is furthest above the best offset?",
        ("dependency_heads",),
        _syntax,
        rule=claims_of("dependency_heads")[1],
    ),
    Step(
        "A head that knows who is who",
        "Section 4.3, Table 2",
        f"Head 5-4 of BERT-base points from a mention to an antecedent in {PAPER_HEAD}% of cases: better than the "
        f"nearest mention ({paper.TABLE_2['nearest'][0]}%) and a match of head words "
        f"({paper.TABLE_2['head match'][0]}%), close to a rule-based system ({paper.TABLE_2['rule-based'][0]}%).",
        "coreference_heads",
        "The lines: the chosen head and the baselines, over the same candidates.",
        "Which of the simple baselines does this model's best head beat?",
        ("coreference_heads",),
        _coreference,
        rule=claims_of("coreference_heads")[0],
    ),
    Step(
        "All heads together",
        "Section 5, Table 3",
        "A probe that only weighs the heads' attention, of all of them together, finds "
        f"{TABLE_3['attention-only']}% of the governors; with word vectors {TABLE_3['attention-and-words']}%. The word "
        f"to the right alone would find {RIGHT_BRANCHING}%, punctuation included.",
        "probes",
        "Each probe's score on sentences that it was not trained on, the baselines first.",
        "How far is attention only above the word to the right?",
        ("probes",),
        _probe,
        rule=claims_of("probes")[0],
    ),
    Step(
        "Which heads are alike",
        "Section 6, Figure 6",
        "By the Jensen-Shannon divergence of their attention the heads of BERT-base form clusters by what they do, and "
        "heads of one layer are often fairly close: perhaps because dropout on attention makes several learn the same.",
        "clustering",
        "The same points twice: by behavior, and by layer.",
        "Are heads of one layer of this model closer to each other than to the rest?",
        ("clustering",),
        _clusters,
        rule=claims_of("clustering")[0],
    ),
)
