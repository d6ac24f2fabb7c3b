"""The guided tour: the paper in slides, each with a figure and a question with a hidden answer."""

from dataclasses import dataclass
from pathlib import Path

from bertviz_core.analyses.findings import DECIDED, Finding
from bertviz_core.analyses.results import Results
from bertviz_core.heads import Head
from bertviz_core.numbers import small_int
from bertviz_core.overview.summary import every_finding

PICTURE = Path(__file__).parent / "assets" / "tour.svg"  # the terms, drawn


@dataclass(frozen=True)
class Step:
    """A step of the tour: a question for a class, and the figure that answers it."""

    title: str
    section: str  # of the paper, with its figure or table
    page: str  # where to see more of it
    look: str  # how to read the figure
    question: str
    findings: tuple[str, ...]  # ids of answers
    background: str = ""  # what a reader should know first, without numbers of this model
    needs: tuple[str, ...] = ()  # the analyses that it reads, by default the page's
    as_map: bool = False  # whether its figure is a map of the answer's quantity
    asks_for_head: bool = False  # whether the answer is a head, which is chosen only with the answer

    def select(self, results: Results, base: int = 1) -> list[Finding]:
        """The step's findings; without a result only their statements."""
        by_id = {finding.id: finding for finding in every_finding(results, base)}
        return [by_id[name] for name in self.findings]


def head_roles(results: Results, base: int) -> dict[Head, str]:
    """The heads of the findings in ROLES, with their roles."""
    heads = {finding.id: finding.head for finding in answers(every_finding(results, base)) if finding.head}
    return {heads[name]: role for name, role in ROLES.items() if name in heads}


def answers(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.state in DECIDED]


def first_head(findings: list[Finding]) -> Head | None:
    return next((finding.head for finding in findings if finding.head), None)


def slide_number(text: str) -> int:
    """The number of a slide from an address, 0 where there is no such slide."""
    number = small_int(text) or 0
    return number if number <= OWN else 0


TERMS = {  # on the first slide, as Markdown
    "Token": "What the model reads: a word, or a piece of one. “##” marks a piece that goes on with a word.",
    "[CLS] and [SEP]": "Special tokens that the tokenizer adds at both ends, for decoders at most one in front. A "
    "model may use one, or its first token, as a place to rest: a **sink**.",
    "Attention head": "Shares out a weight of 1 for each token: how much it takes from every token. Head 2-5 is the "
    "fifth of layer 2.",
    "Governor": "The word that another one depends on: “chased” is the governor of its subject “dog”. Their arc is a "
    "relation.",
}
ROLES = {  # findings whose heads the last slide offers -> what these do
    "surface_patterns.previous": "previous token",
    "surface_patterns.next": "next token",
    "surface_patterns.sink": "the sink",
    "entropy.broad": "broad",
    "dependency_heads.relation": "a relation",
    "coreference_heads.nearest": "coreference",
}
STEPS = (
    Step(
        "Heads are specialists",
        "Sections 1 and 3",
        "overview",
        "Each marker is a head, its shape and color what it does: layers from left to right, heads from top to bottom.",
        "How many of this model's heads have one of these patterns?",
        ("overview.behaviors",),
        "A transformer looks at a text through many attention heads at once.",
        needs=("surface_patterns", "entropy"),
    ),
    Step(
        "One head, one sentence",
        "Section 3, Figure 1",
        "attention_viewer",
        "Lines run from a token on the left to the tokens on the right that it attends to. Point at a token on the "
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
        "In each map a strongly colored square is a head that does little else.",
        "Which head attends most to the previous token, and which to the next?",
        ("surface_patterns.previous", "surface_patterns.next", "surface_patterns.current"),
        as_map=True,
        asks_for_head=True,
    ),
    Step(
        "The sink",
        "Section 3.2, Figure 2",
        "surface_patterns",
        "A dot for each head; the lines are the means of the layers.",
        "Which special token receives the most attention, in which layers, and does it reach half?",
        ("surface_patterns.sink", "surface_patterns.to_sep", "surface_patterns.sep_to_sep", "surface_patterns.order"),
        "One special token, the sink, often receives much more attention than any word.",
    ),
    Step(
        "A no-op",
        "Section 3.2, Figure 3",
        "sep_gradients",
        "Attention to the sink above; below, how much the loss would change with a weight on it, and on other tokens.",
        "In the layer that attends most to the sink, does a weight on it matter more or less than one on another "
        "token?",
        ("sep_gradients.no_op",),
        "Why do heads attend so much to a token without content? The paper reads it as “nothing to do here”.",
    ),
    Step(
        "Switch it off and see",
        "Beyond the paper",
        "ablation",
        "In the first map a head goes without its attention to the sink, in the second without all of it. Where "
        "nothing changes, the attention was a no-op.",
        "How much does the loss change without the attention of one head to the sink?",
        ("ablation.no_op", "ablation.matter"),
        "Gradients tell only what a very small change would do. Taking the attention away altogether shows whether "
        "the model predicts words any worse.",
        as_map=True,
    ),
    Step(
        "Narrow and broad",
        "Section 3.3, Figure 4",
        "entropy",
        "Heads near the dashed line attend to everything equally; heads near 0 attend to one token.",
        "Which head is the broadest, and how close is it to uniform attention?",
        ("entropy.broad", "entropy.from_cls"),
        "Entropy measures how broadly a head attends.",
        asks_for_head=True,
    ),
    Step(
        "Heads that know syntax",
        "Section 4.2, Table 1",
        "dependency_heads",
        "For each relation the best head, and the gray bar of a guess that is always the same number of words away.",
        "Punctuation aside, which relation's best head is furthest above the best offset?",
        ("dependency_heads.relation", "dependency_heads.overall", "dependency_heads.direction"),
        "These heads were not trained to find relations.",
    ),
    Step(
        "A head that knows who is who",
        "Section 4.3, Table 2",
        "coreference_heads",
        "The chosen head and the baselines, over the same candidates: the further back the antecedent, the harder.",
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
        "Each point is a head, darker in later layers; heads that attend alike lie close together.",
        "Are heads of one layer of this model closer to each other than to the rest?",
        ("clustering.layers", "clustering.behaviors"),
        "Two heads are alike where the Jensen-Shannon divergence of their attention is small.",
    ),
)
END = len(STEPS) + 1  # the slide after the steps: what this model shows
OWN = END + 1  # the reader's own sentence
