"""Emergence: how the heads' behaviours come about while a model is trained, checkpoint by checkpoint."""

import streamlit as st

from bertviz_core.analyses.emergence import Emergence
from pages.shared import boxes, emergence_choice, emergence_view, page, sidebar

selection = sidebar.current()
page.title("emergence")
key, result = emergence_choice.result_or_stop(selection)
emergence_view.made_of(result)
told = emergence_view.told(key, result)
emergence_view.claim(result, told)
st.toggle(
    "Linear axis",
    key=emergence_view.LINEAR,
    bind="query-params",
    help="Steps at even distances. The logarithmic axis shows the beginning, this one what happened late.",
)
emergence_view.explore(result, told, selection)
emergence_view.relations(result, selection)
emergence_view.one_head(result, selection)

st.subheader("All steps")
st.caption("A click on a row moves the slider there.")
emergence_view.table(result, told)
page.downloads(result)
page.about(
    r"\hat{r}(t) = \max_{h} \text{accuracy}_{h}(t) \qquad \text{beside} \qquad \text{accuracy}_{h^*}(t), \; "
    r"h^* = \arg\max_h \text{accuracy}_h(t_{\text{last}})",
    "Not in the paper: its sections 3.1, 3.3 and 4.2 for every checkpoint of one training, from the same text and "
    "treebank. Heads are coloured by the thresholds of Figure 6 (broad: entropy over 3.8 nats); linguistic ones find "
    "a relation clear of every fixed offset, at that step. The loss is on masked words of the text, the same words "
    "masked in the same way at every step. **The best head of a step is picked on the words that it is scored on**, so "
    "that with many heads even chance looks better than it is; the hover and the table give the accuracy held out "
    "(picked on one half of the sentences, scored on the other), and the dotted line follows one head, the finally "
    "best, back through the training. Steps stand on a logarithmic axis, step 0 at its left end, unless the switch "
    "says otherwise. A dotted line marks a step at which the training itself was changed.",
    Emergence.followed.fget,
)
boxes.left_out(result.provenance)
page.provenance(result)
