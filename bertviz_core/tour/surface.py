"""Steps through sections 2 and 3: what heads look at."""

from __future__ import annotations

from bertviz_core import paper
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.claims import claims_of
from bertviz_core.tour.step import Step
from bertviz_core.tour.surface_findings import (
    breadth,
    neighbors,
    no_op,
    one_head,
    separators,
    specialists,
    switched_off,
)

PREVIOUS, TO_SEP = (claims_of("surface_patterns")[index] for index in (0, 3))


SURFACE = (
    Step(
        "Heads are specialists",
        "Sections 1 and 3",
        "A transformer looks at a text through many attention heads at once: 12 in each of BERT-base's 12 layers. The "
        "paper finds that many do one simple thing: they attend to the next or the previous token, to [SEP], to full "
        "stops and commas, or broadly to everything.",
        "overview",
        "The map of heads: each marker is a head, its shape and color what it does.",
        "How many of this model's heads have one of these behaviors?",
        ("surface_patterns", "entropy"),
        specialists,
    ),
    Step(
        "One head, one sentence",
        "Section 3, Figure 1",
        "Figure 1 shows four heads of BERT-base: 1-1 attends broadly, 3-1 to the next token, 8-7 to [SEP], 11-6 to "
        "full stops. Lines run from a token on the left to the tokens on the right that it attends to.",
        "attention_viewer",
        "Hover over a token on the left: the other tokens' lines fade.",
        "To which token does each token attend most in this head?",
        ("surface_patterns",),
        one_head,
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
        ("surface_patterns",),
        neighbors,
        ANALYSES["surface_patterns"].map_of("previous"),
        PREVIOUS,
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
        ("surface_patterns",),
        separators,
        ANALYSES["surface_patterns"].map_of("to_sep"),
        TO_SEP,
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
        ("sep_gradients",),
        no_op,
        ANALYSES["sep_gradients"].map_of("to_sep"),
        claims_of("sep_gradients")[0],
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
        ("ablation",),
        switched_off,
        ANALYSES["ablation"].map_of("to_sep_loss_change"),
    ),
    Step(
        "Narrow and broad",
        "Section 3.3, Figure 4",
        "Entropy measures how broadly a head attends. Some heads of BERT-base's first layers put at most about 10% on "
        "any "
        f"one token; and from [CLS] the last layer looks broadly again, at {paper.FROM_CLS_LAST_LAYER} nats.",
        "entropy",
        "Heads near the dashed line attend to everything equally; heads near 0 attend to one token.",
        "Which head is the broadest, and how close is it to uniform attention?",
        ("entropy",),
        breadth,
        ANALYSES["entropy"].map_of("entropy"),
        claims_of("entropy")[0],
    ),
)
