"""Emergence: how the heads' behaviors develop during training, checkpoint by checkpoint."""

import streamlit as st

from bertviz_core.analyses.results import renamed
from bertviz_core.emergence import Emergence
from bertviz_core.emergence.series import Series, shipped
from bertviz_core.emergence.training_folder import Training, find_training
from bertviz_core.models.checkpoint import short_names
from bertviz_core.models.sources import trainings
from pages.shared import endnotes, jobs, page, services, stored
from pages.shared.frame import address, choices, header
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import emergence_view

SHIPPED = "small-bert"
HOW_TO_NAME = "Enter a local folder of checkpoint folders whose names end in their step: step-0000500, checkpoint-500. "


def choose_training() -> Training | None:
    """Draw the choice of a folder of checkpoints; None for the training that ships, which has results alone."""
    access = services.access()
    is_open = access.folders is None
    folders: list[str] = st.session_state.setdefault("trainings", [*trainings(access)])
    if (ahead := choices.ahead("training", SHIPPED)) not in (SHIPPED, *folders):
        folders.append(ahead)
    names = short_names([SHIPPED, *folders])
    chosen = choices.selectbox(
        "Training",
        [SHIPPED, *folders],
        key="training",
        default=SHIPPED,
        accept_new_options=is_open,
        format_func=lambda name: names.get(name, name),
        help=f"`{SHIPPED}` ships with the project. {HOW_TO_NAME if is_open else ''}"
        "The corpora, mode and settings under the title apply to all other trainings.",
    )
    return None if chosen in (None, SHIPPED) else find_training(chosen, access)


def computed(training: Training) -> Emergence:
    """The emergence of a training, as far as it is stored, with this reader's names of its corpora; above it the offer
    to compute what is missing, or the running job."""
    text, treebank = selection.corpora["text"], selection.corpora["treebank"]
    series = Series(training, text, treebank, selection.settings)
    found, missing = services.emergence(series)
    requests = series.requests()
    key = jobs.everything_key(requests)
    note = "Results of finished passes are stored."
    if missing and not jobs.is_running(jobs.last(key), note):
        st.write(
            f"{len(training.steps)} checkpoints, steps {training.steps[0]:,} to {training.steps[-1]:,}. Each is run on "
            f"{plain(f'{text.name} and {treebank.name}')}, on this machine. {len(missing)} of {len(requests)} analyses "
            "are missing. Results are stored as each pass finishes, so a stopped job can resume. You can use other "
            "pages meanwhile."
        )
        for reason, entry in training.skipped.reasons.items():
            st.caption(f"{entry['count']} skipped, {plain(reason)}: {plain(', '.join(entry['where']))}")
        label = f"Analyze ({stored.duration(missing)})"
        stored.start_button(label, key, "Emergence", requests)
    if found is None:
        raise address.PageEnd
    own = memoize(renamed, found, {text.digest: text.name, treebank.digest: treebank.name})
    assert isinstance(own, Emergence)
    return own


def describe() -> str:
    """What the numbers are computed from; a part of it is printed on the figures."""
    origin = result.provenance
    treebank, mode = origin["others"]["treebank"], origin["settings"]["mode"]
    mode = "as in the paper" if mode == "paper" else "corrected"
    model, text = origin["model"], origin["corpus"]
    st.session_state["origin"] = f"training {model['name']} ({model['fingerprint'][:8]}), {text['name']}, {mode}"
    st.session_state["files"] = model["name"], text["name"]
    return plain(
        f"{model['name']} on {text['name']} and {treebank['name']}, mode: {mode}. {len(result.steps)} checkpoints of "
        f"{result.shape[0]} × {result.shape[1]} heads; {origin['segments']:,} segments, {origin['sentences']:,} "
        f"sentences. {' '.join(result.notes)} Coreference heads are not counted here, unlike on the overview."
    )


selection = header.current()
with header.title_line().popover("Options", icon=":material/tune:", key="page-options", on_change="rerun"):
    training = choose_training()
if training is None:
    st.caption("A small BERT (6 × 8 heads) trained from scratch on Wikipedia and novels. It is not the demo model.")
    result, models = memoize(shipped), {}
else:
    result, models = computed(training), dict(zip(training.steps, training.checkpoints, strict=True))
described, labels = describe(), memoize(Emergence.behaviors, result)
st.markdown(f"**{plain(result.headline())}**")
emergence_view.explore(result, labels, models, selection)
st.caption(described)
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
