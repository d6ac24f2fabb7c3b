"""Coreference heads: which head's attention points from a mention to its antecedent (section 4.3; Table 2)."""

import streamlit as st

from bertviz_core.analyses.coreference_heads import by_distance, by_gender
from bertviz_core.analyses.coreference_heads.guesses import COMPARED, DIRECTIONS, TYPE_ROWS, answers
from bertviz_core.analyses.coreference_heads.passages import MAX_ITEMS
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads
from bertviz_core.analyses.results import head_frame
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.plotting import percent_decimals
from bertviz_core.plotting.head_map import accuracy_map
from pages.shared import endnotes, page, stored
from pages.shared.frame import header
from pages.shared.memoize import memoize
from pages.shared.views import coreference_view

FORMULAS = [  # in the order of DIRECTIONS
    r"\hat{a}(m) = \operatorname*{argmax}_{c \,\in\, \text{candidates}(m)} \tilde{A}_{"
    rf"\text{{head}}({query}),\text{{head}}({key})}}"
    r"\qquad \text{correct if } \hat{a}(m) \text{ heads an antecedent of } m"
    for query, key in ("mc", "cm")
]


selection = header.current()
request = selection.request("coreference_heads")
computed = stored.result_or_stop(request, CoreferenceHeads)

with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
    result, kind, direction = coreference_view.choose(computed)
choice, shown_direction = DirectedHead(direction, selection.head), arrow(DIRECTIONS[direction])
page.restriction(result)
coreference_view.headline(result, direction, selection)

left, right = st.columns([3, 2], gap="medium")
with left:
    shown = (choice, *COMPARED)
    st.markdown("**Accuracy by distance**")
    alt = "Accuracy of the chosen head and of the baselines against the distance to the antecedent, with intervals"
    page.chart(page.drawn(by_distance, result, shown, selection.base), "coreference-distance", alt)
with right:
    values = result.accuracy[direction, TYPE_ROWS.index(kind)]
    st.markdown(f"**Head map**: {'all mentions' if kind == 'all' else f'{kind}s'}, {shown_direction}")
    squares = memoize(accuracy_map, values, f"{kind} mentions", selection.base)
    alt = f"Map of all heads, layer by head, colored by accuracy on {kind} mentions"
    page.head_map(squares, "coreference-map", alt, selection)

page.metrics(coreference_view.metrics(result, direction, selection.base))
coreference_view.describe_reading(result, direction, selection.base)
coreference_view.table_2(result, choice, selection.base)
if result.scores(choice).of("gender").n.any():
    alt = "Accuracy of the chosen head and of the baselines on masculine, feminine and neuter pronouns"
    drawing = page.drawn(by_gender, result, shown, selection.base)
    given = drawing, "coreference-gender", alt
    endnotes.folded("Accuracy by gender of the pronoun", ":material/wc:", "gender", page.chart, *given)

coreference_view.documents(result, request, choice, selection)
st.header(f"Accuracy of all heads (%), {shown_direction}")
decimals = {kind: percent_decimals(n) for kind, n in zip(TYPE_ROWS, result.n, strict=True)}
shares = dict(zip(TYPE_ROWS, 100 * result.accuracy[direction], strict=True))
page.table(memoize(head_frame, shares), TYPE_ROWS, selection, "coreference-table", decimals)
page.downloads(result)
endnotes.ending(
    result,
    FORMULAS[direction],
    f"Section 4.3; shown here: {shown_direction}. The paper's measure is mention → antecedent. Attention to a split "
    "word is summed over its pieces, attention from it is averaged (in the mode “as in the paper” only its first "
    "piece counts). A mention is scored if a mention of its chain precedes it; mentions with the same head word are "
    "neither candidates nor antecedents. The paper's numbers: CoNLL-2012, BERT-base, documents cut to 128 tokens. The "
    "best head is selected on the mentions on which it is scored; for the held-out accuracy it is selected on the "
    "other half of the documents. Ties go to the first head and the first word. The guesses for all mentions are "
    f"stored beside the result; where the store's limit has dropped them, those for the first {MAX_ITEMS:,} remain.",
    answers,
    section=7,
    unit="windows",
)
