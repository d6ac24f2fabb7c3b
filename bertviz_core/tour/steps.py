"""The steps of the tour, in the paper's order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bertviz_core import paper
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results
from bertviz_core.claims import Claim, claims_of
from bertviz_core.tour import findings
from bertviz_core.tour.findings import Findings

PREVIOUS, TO_SEP = (claims_of("surface_patterns")[index] for index in (0, 3))
ALL, DOBJ, DET = (paper.TABLE_1[name] for name in ("all", "dobj", "det"))
SYSTEMS = {name: numbers[0] for name, numbers in paper.TABLE_2.items()}
TABLE_3 = paper.TABLE_3


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the tour.

    Attributes:
        claim: What the paper says, with its number.
        page: Where to see it, and what to `look` at there.
        find: From results, and the number that heads are counted from.
        quantity: What the map of the page shows, where it does not depend on what is found.
        rule: The paper's claim whose rule says whether a model shows what the step is about.
        needs: The analyses that it reads; the page's own where it is empty.
    """

    title: str
    section: str
    claim: str
    page: str
    look: str
    question: str
    find: Callable[[Results, int], Findings]
    quantity: str = ""
    rule: Claim | None = None
    needs: tuple[str, ...] = ()

    @property
    def analyses(self) -> tuple[str, ...]:
        """The analyses whose results it reads."""
        return self.needs or (self.page,)

    @property
    def address(self) -> dict[str, str]:
        """The page's settings."""
        return ANALYSES[self.page].map_of(self.quantity) if self.quantity else {}

    def findings(self, results: Results, base: int = 1) -> Findings | None:
        """What the stored results say, this model's heads and layers counted from `base`; None where an analysis is
        missing, or a token that the step is about."""
        if not results.keys() >= set(self.analyses):
            return None
        try:
            answer = self.find(results, base)
        except KeyError:
            return None
        return answer if answer.unclear else replace(answer, unclear=self._unclear(results))

    def _unclear(self, results: Results) -> str:
        """The step's rule, where it does not hold of these results or cannot be decided; else ""."""
        state = self.rule.verdict(results).state if self.rule else "holds"
        if self.rule is None or state not in ("undecided", "does not hold"):
            return ""
        decided = "The numbers do not decide the rule" if state == "undecided" else "The rule"
        return f"{decided} for a clear case: {self.rule.rule[0].lower()}{self.rule.rule[1:]}"


STEPS = (
    Step(
        "Heads are specialists",
        "Sections 1 and 3",
        "A transformer looks at a text through many attention heads at once: 12 in each of BERT-base's 12 layers. The "
        "paper finds that many do one simple thing: they attend to the next or the previous token, to [SEP], to full "
        "stops and commas, or broadly to everything.",
        "overview",
        "The map of heads: each marker is a head, its shape and color what it does.",
        "How many of this model's heads have one of these behaviors?",
        findings.specialists,
        needs=("surface_patterns", "entropy"),
    ),
    Step(
        "One head, one sentence",
        "Section 3, Figure 1",
        "Figure 1 shows four heads of BERT-base: 1-1 attends broadly, 3-1 to the next token, 8-7 to [SEP], 11-6 to "
        "full stops. Lines run from a token on the left to the tokens on the right that it attends to.",
        "attention_viewer",
        "Hover over a token on the left: the other tokens' lines fade.",
        "To which token does each token attend most in this head?",
        findings.one_head,
        needs=("surface_patterns",),
        rule=PREVIOUS,
    ),
    Step(
        "Neighbors",
        "Section 3.1, Figure 2",
        f"{paper.HEADS_OVER_HALF['previous']} heads of BERT-base (in layers 2, 4, 7 and 8) put over half of their "
        f"attention on the previous token, {paper.HEADS_OVER_HALF['next']} (in layers 1, 2, 2, 3 and 6) on the next.",
        "surface_patterns",
        "The map shows attention to the previous token: a dark square is a head that does little else.",
        "Which head attends most to the previous token, and how much?",
        findings.neighbors,
        quantity="previous",
        rule=PREVIOUS,
    ),
    Step(
        "The separator",
        "Section 3.2, Figure 2",
        "In layers 6 to 10 of BERT-base [SEP] takes over half of the attention: up to "
        f"{max(paper.LAYER_MEANS['to_sep']):.2f} in a layer's mean, where a token that occurs twice in 128 would get "
        "about 1/64 by chance. Earlier layers look at [CLS], the last ones at full stops and commas.",
        "surface_patterns",
        "The green line of the upper figure: the mean of each layer.",
        "In which layer is attention to [SEP] highest, and does it reach half?",
        findings.separators,
        quantity="to_sep",
        rule=TO_SEP,
    ),
    Step(
        "A no-op",
        "Section 3.2, Figure 3",
        "Why so much attention to a token without content? The paper reads it as “nothing to do here”. From layer "
        f"{paper.NO_OP_FROM_LAYER} on, where attention to [SEP] gets high, the loss hardly changes with it: its "
        "gradient is near 0.",
        "sep_gradients",
        "“Is attention to [SEP] a no-op?”: attention above, gradients below.",
        "In the layer that attends most to [SEP], does a weight on it matter more or less than one on another token?",
        findings.no_op,
        quantity="to_sep",
        rule=claims_of("sep_gradients")[0],
    ),
    Step(
        "Switch it off and see",
        "Beyond the paper",
        "The paper argues from gradients, which only tell what a very small change would do. Whether attention to "
        "[SEP] is a no-op can also be tried: take all of it away from a head, and see whether the model predicts "
        "masked words any worse.",
        "ablation",
        "The map: the change of the loss without a head's attention to [SEP]. A no-op changes nothing.",
        "How much does the loss change without the attention of one head to [SEP]?",
        findings.switched_off,
        quantity="to_sep_loss_change",
    ),
    Step(
        "Narrow and broad",
        "Section 3.3, Figure 4",
        "Entropy measures how broadly a head attends. Some heads of BERT-base's first layers put at most about 10% on "
        f"any one token; and from [CLS] the last layer looks broadly again, at {paper.FROM_CLS_LAST_LAYER} nats.",
        "entropy",
        "Heads near the dashed line attend to everything equally; heads near 0 attend to one token.",
        "Which head is the broadest, and how close is it to uniform attention?",
        findings.breadth,
        quantity="entropy",
        rule=claims_of("entropy")[0],
    ),
    Step(
        "Heads that know syntax",
        "Section 4.2, Table 1",
        f"No head does syntax as a whole (the best finds {ALL[1]}% of all governors, a fixed offset {ALL[2]}%); yet "
        f"single heads find single relations without being trained to: {DOBJ[0]} finds direct objects in {DOBJ[1]}% of "
        f"cases (offset {DOBJ[2]}%), {DET[0]} determiners in {DET[1]}% ({DET[2]}%).",
        "dependency_heads",
        "The map of this model's clearest relation; and sentences in which the chosen head is surest of it.",
        "Punctuation aside, which relation's best head is furthest above the best offset?",
        findings.syntax,
        rule=claims_of("dependency_heads")[1],
    ),
    Step(
        "A head that knows who is who",
        "Section 4.3, Table 2",
        f"Head 5-4 of BERT-base points from a mention to an antecedent in {SYSTEMS['head 5-4']}% of cases: better than "
        f"the nearest mention ({SYSTEMS['nearest']}%) and a match of head words ({SYSTEMS['head match']}%), close to a "
        f"rule-based system ({SYSTEMS['rule-based']}%).",
        "coreference_heads",
        "The lines: the chosen head and the baselines, over the same candidates.",
        "Which of the simple baselines does this model's best head beat?",
        findings.coreference,
        rule=claims_of("coreference_heads")[0],
    ),
    Step(
        "All heads together",
        "Section 5, Table 3",
        "A probe that only weighs the heads' attention, of all of them together, finds "
        f"{TABLE_3['attention-only']}% of the governors; with word vectors {TABLE_3['attention-and-words']}%. The word "
        f"to the right alone would find {paper.TABLE_3_WITH_PUNCTUATION['right-branching']}%, punctuation included.",
        "probes",
        "Each probe's score on sentences that it was not trained on, the baselines first.",
        "How far is attention only above the word to the right?",
        findings.probe,
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
        findings.clusters,
        rule=claims_of("clustering")[0],
    ),
)
