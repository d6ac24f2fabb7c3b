"""Emergence: how the heads' behaviors develop during training, checkpoint by checkpoint."""

import streamlit as st

from bertviz_core.emergence.result import Emergence
from pages.shared import endnotes, files, page
from pages.shared.frame import header
from pages.shared.memoize import memoize
from pages.shared.views import emergence_choice, emergence_view

selection = header.current()
options = header.title_line().popover("Options", icon=":material/tune:", key="page-options", on_change="rerun")
result = emergence_choice.result_or_stop(selection, options)
claim, explored = st.container(), st.container()  # above the notes, which come first because figures quote them
emergence_view.origin(result)
files.name_after(result.provenance["model"]["name"], result.provenance["corpus"]["name"])
labels = memoize(Emergence.behaviors, result)
with claim:
    emergence_view.claim(result)
emergence_view.appearances(result, labels)
with explored:
    emergence_view.explore(result, labels, selection)
emergence_view.relations(result, selection)
emergence_view.one_head(result, selection)

st.header("All steps")
st.caption("Click a row to move the slider to its step.")
emergence_view.table(result)
page.downloads(result)
endnotes.ending(
    result,
    r"\hat{r}(t) = \max_{h} \text{accuracy}_{h}(t) \qquad \text{beside} \qquad \text{accuracy}_{h^*}(t), \; "
    r"h^* = \arg\max_h \text{accuracy}_h(t_{\text{last}})",
    "Not in the paper: the analyses of sections 3.1, 3.3 and 4.2 for every checkpoint of a training run, on the same "
    "text and treebank. Heads are colored by the thresholds of Figure 6 (broad: entropy above 3.8 nats); linguistic "
    "heads find a relation at that step clearly better than every fixed offset. The loss is computed on the same "
    "masked (of decoders, next) words at every step. **The best head of a step is selected on the words on which it is "
    "scored**, which overstates its accuracy when there are many heads; the hover and the table show the held-out "
    "accuracy (selected on one half of the sentences, scored on the other), and the dotted curve follows the head that "
    "is best at the end. Checkpoints stand at even distances on the axis, whatever the steps between them.",
    Emergence.followed,
)
