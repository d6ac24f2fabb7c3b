"""The guided tour: the paper in short steps, each on a page, with a question that the page answers.

Statements about a model come from its stored results, statements about BERT-base from the paper.
"""

from dataclasses import dataclass

from bertviz_core.analyses.findings import DECIDED, Finding
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results
from bertviz_core.overview.findings import every_finding


@dataclass(frozen=True)
class Step:
    """A step of the tour: a question that a page answers.

    Attributes:
        title: Of the step.
        section: Of the paper, with its figure or table.
        page: Where to see it, and what to `look` at there.
        question: For a class.
        findings: Ids of those that answer it; their statements are what the paper says.
        background: What a reader should know first, without numbers of this model.
        needs: The analyses that it reads; the page's own where it is empty.
    """

    title: str
    section: str
    page: str
    look: str
    question: str
    findings: tuple[str, ...]
    background: str = ""
    needs: tuple[str, ...] = ()

    @property
    def analyses(self) -> tuple[str, ...]:
        """The analyses whose results it reads."""
        return self.needs or (self.page,)

    def found(self, results: Results, base: int = 1) -> list[Finding]:
        """The step's findings in its order, heads and layers counted from `base`; their statements alone where a result
        is missing."""
        by_id = {finding.id: finding for finding in every_finding(results, base)}
        return [by_id[name] for name in self.findings]


def answers(found: list[Finding]) -> list[Finding]:
    """The findings that have numbers of this run."""
    return [finding for finding in found if finding.state in DECIDED]


def address(page: str, found: list[Finding]) -> dict[str, str]:
    """The page's settings that show the first answer's quantity."""
    quantity = next((finding.quantity for finding in answers(found)), "")
    return ANALYSES[page].map_of(quantity) if page in ANALYSES and quantity else {}


STEPS = (
    Step(
        "Heads are specialists",
        "Sections 1 and 3",
        "overview",
        "The map of heads: each marker is a head, its shape and color what it does.",
        "How many of this model's heads have one of these patterns?",
        ("overview.behaviors",),
        "A transformer looks at a text through many attention heads at once.",
        needs=("surface_patterns", "entropy"),
    ),
    Step(
        "One head, one sentence",
        "Section 3, Figure 1",
        "attention_viewer",
        "Lines run from a token on the left to the tokens on the right that it attends to. Hover over a token on the "
        "left: the other tokens' lines fade.",
        "To which token does each token attend most in this head?",
        ("surface_patterns.previous",),
        "Figure 1 shows four heads of BERT-base: 1-1 attends broadly, 3-1 to the next token, 8-7 to [SEP], 11-6 to "
        "full stops.",
        needs=("surface_patterns",),
    ),
    Step(
        "Neighbors",
        "Section 3.1, Figure 2",
        "surface_patterns",
        "The map: a dark square is a head that does little else.",
        "Which head attends most to the previous token, and which to the next?",
        ("surface_patterns.previous", "surface_patterns.next", "surface_patterns.current"),
    ),
    Step(
        "The sink",
        "Section 3.2, Figure 2",
        "surface_patterns",
        "The lines of the upper figure: the mean of each layer.",
        "Which special token receives the most attention, in which layer, and does it reach half?",
        ("surface_patterns.sink", "surface_patterns.to_sep", "surface_patterns.sep_to_sep", "surface_patterns.order"),
    ),
    Step(
        "A no-op",
        "Section 3.2, Figure 3",
        "sep_gradients",
        "“Is attention to [SEP] a no-op?”: attention above, gradients below.",
        "In the layer that attends most to a special token, does a weight on it matter more or less than one on "
        "another token?",
        ("sep_gradients.no_op",),
        "Why so much attention to a token without content? The paper reads it as “nothing to do here”.",
    ),
    Step(
        "Switch it off and see",
        "Beyond the paper",
        "ablation",
        "The map: the change of the loss without a head's attention to [SEP]. A no-op changes nothing.",
        "How much does the loss change without the attention of one head to [SEP]?",
        ("ablation.no_op", "ablation.matter"),
        "The paper argues from gradients, which tell only what a very small change would do. Whether attention to "
        "[SEP] "
        "is a no-op can also be tried: take all of it away from a head, and see whether the model predicts masked "
        "words any worse.",
    ),
    Step(
        "Narrow and broad",
        "Section 3.3, Figure 4",
        "entropy",
        "Heads near the dashed line attend to everything equally; heads near 0 attend to one token.",
        "Which head is the broadest, and how close is it to uniform attention?",
        ("entropy.broad", "entropy.from_cls"),
        "Entropy measures how broadly a head attends.",
    ),
    Step(
        "Heads that know syntax",
        "Section 4.2, Table 1",
        "dependency_heads",
        "The map of this model's clearest relation; and sentences in which the chosen head is surest of it.",
        "Punctuation aside, which relation's best head is furthest above the best offset?",
        ("dependency_heads.relation", "dependency_heads.overall", "dependency_heads.direction"),
        "These heads were not trained to find relations.",
    ),
    Step(
        "A head that knows who is who",
        "Section 4.3, Table 2",
        "coreference_heads",
        "The lines: the chosen head and the baselines, over the same candidates.",
        "Which of the simple baselines does this model's best head beat?",
        ("coreference_heads.nearest", "coreference_heads.head_match", "coreference_heads.rule_based"),
        "A head finds an antecedent where it points from a mention to an earlier one of the same chain.",
    ),
    Step(
        "All heads together",
        "Section 5, Table 3",
        "probes",
        "Each probe's score on sentences that it was not trained on, the baselines first.",
        "How far is attention only above the word to the right?",
        ("probes.attention_only", "probes.words", "probes.random"),
        "A probe weighs the attention of all heads together, nothing else.",
    ),
    Step(
        "Which heads are alike",
        "Section 6, Figure 6",
        "clustering",
        "The same points twice: by behavior, and by layer.",
        "Are heads of one layer of this model closer to each other than to the rest?",
        ("clustering.layers", "clustering.behaviors"),
        "Two heads are alike where the Jensen-Shannon divergence of their attention is small.",
    ),
)
