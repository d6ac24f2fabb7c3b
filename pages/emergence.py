"""Emergence: how the heads' behaviors develop during training, checkpoint by checkpoint."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from bertviz_core.analyses.registry import label
from bertviz_core.analyses.results import renamed
from bertviz_core.corpora.treebank import UAS
from bertviz_core.emergence import Emergence
from bertviz_core.emergence.figure import head_figure, map_at, numbers, paper_figure, relations_figure
from bertviz_core.emergence.series import Series, Training, find_training, shipped
from bertviz_core.heads import all_heads
from bertviz_core.models.checkpoint import Checkpoint, short_names
from bertviz_core.models.sources import trainings
from bertviz_core.plotting import BEHAVIORS
from pages.shared import endnotes, jobs, page, preview, services, stored
from pages.shared.components import component
from pages.shared.frame import Selection, address, choices, header
from pages.shared.memoize import memoize
from pages.shared.messages import plain

SHIPPED = "small-bert"
HOW_TO_NAME = "Enter a local folder of checkpoint folders whose names end in their step: step-0000500, checkpoint-500. "
# Names in the session.
PLAYER = "emergence-player"
PLAYING = "emergence plays"
STEP = "at_step"  # of the address and of the session; `step` is the tour's
MAX_RELATIONS = 6


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
    text = selection.corpora["text"]
    treebank = selection.corpora["treebank"]
    series = Series(training, text, treebank, selection.settings)
    stored_result, missing = services.emergence(series)
    requests = series.requests()
    key = jobs.everything_key(requests)
    if missing and not jobs.is_running(jobs.last(key), "Results of finished passes are stored."):
        st.write(
            f"{len(training.steps)} checkpoints, steps {training.steps[0]:,} to {training.steps[-1]:,}. Each is run on "
            f"{plain(f'{text.name} and {treebank.name}')}, on this machine. {len(missing)} of {len(requests)} analyses "
            "are missing. Results are stored as each pass finishes, so a stopped job can resume. You can use other "
            "pages meanwhile."
        )
        for reason, entry in training.skipped.reasons.items():
            st.caption(f"{entry['count']} skipped, {plain(reason)}: {plain(', '.join(entry['where']))}")
        stored.start_button(f"Analyze ({stored.duration(missing)})", key, "Emergence", requests)
    if stored_result is None:
        raise address.PageEnd
    own = memoize(renamed, stored_result, {text.digest: text.name, treebank.digest: treebank.name})
    assert isinstance(own, Emergence)
    return own


@address.fragment
def explore(result: Emergence, labels: Any, models: Mapping[int, Checkpoint], selection: Selection) -> None:
    """The slider, and what moves with it: a move, or a frame of the player, runs this part of the page alone. `labels`
    (step, layer, head) are names of behaviors, `models` those of steps that are on this machine."""
    if st.session_state["head"] != selection.head.label():  # a click on the map: the picker is to follow
        st.rerun()
    index = choose_step(result) if len(result.steps) > 1 else 0
    left, middle, right = st.columns([4, 6, 3], gap="small")
    with left:
        st.markdown("**Head map**: what each head does")
        model = models.get(int(result.steps[index]))
        alt = "Map of all heads, layer by head: what each head does"
        lines = preview.of(replace(selection, checkpoint=model)) if model else b""
        drawing = memoize(map_at, result, labels, index, selection.base)
        page.head_map(drawing, "emergence-map", alt, selection, lines=lines, height=370)
    with middle:
        alt = f"The {result.loss_name}, and the number of heads with each behavior, over the training"
        page.chart(page.drawn(paper_figure, result, labels, index), "course-figure", alt)
    with right.container(key="tiles", gap="xsmall"):
        for title, here, beside in numbers(result, labels[index], index):
            st.metric(title, here, beside, delta_color="off", delta_arrow="off", border=True)


def choose_step(result: Emergence) -> int:
    """Draw the slider and the player that moves it; the address follows when the player stops."""
    steps = result.steps.tolist()

    def play() -> None:
        at = st.session_state[PLAYER]["at"]
        if at is not None:
            st.session_state[STEP] = steps[at["index"]]
            st.session_state[PLAYING] = at["playing"]

    with st.container(horizontal=True, vertical_alignment="bottom"):
        step = choices.select_slider("Training step", steps, key=STEP, default=steps[-1], format_func="{:,}".format)
        index = steps.index(step)
        data = {"at": index, "last": len(steps) - 1}
        component("player")(data=data, key=PLAYER, on_at_change=play, width="content")
    if st.session_state.get(PLAYING) and address.is_alone():  # the history is for the reader's own steps
        address.current().drawn.pop(STEP)
    return index


@address.fragment
def relations(result: Emergence, selection: Selection) -> None:
    """Chosen relations over the training; the slider does not redraw them."""
    st.markdown(
        "**Relations**: the best head and the best fixed offset. The best head of a step is selected on the words on "
        "which it is scored; the dotted line follows the head that is best at the end."
    )
    default = [*result.clearest_relations(MAX_RELATIONS - 1), UAS]
    look = {"max_selections": MAX_RELATIONS, "label_visibility": "collapsed"}
    chosen = choices.multiselect("Relations", result.relations, key="relations_of", default=default, **look)
    if chosen:
        figure = page.drawn(relations_figure, result, tuple(chosen), selection.base)
        alt = "For each relation the accuracy of the best head and of the best fixed offset over the training"
        page.chart(figure, "emergence-relations-figure", alt)


def table(result: Emergence) -> None:
    """The emergence as a table, a row for each step, to which a click moves the slider."""
    frame = memoize(Emergence.to_frame, result)
    loss = result.loss_name
    titles = {"loss": f"{loss}, nats", "masked_right": loss.replace("-word loss", " words right")}
    titles |= {name: f"mean {label(name)}" for name in result.quantities}
    titles |= {f"{name}_heads": f"{behavior[-1]}, heads" for name, behavior in BEHAVIORS.items()}
    for name in result.relations:
        titles |= {f"{name}_heldout": f"{name}, held out", f"{name}_offset": f"{name}, fixed offset"}
    config = {
        column: st.column_config.NumberColumn(
            titles.get(column, column), format="%.3f" if values.dtype.kind == "f" else "localized"
        )
        for column, values in frame.items()
    }

    def choose(row: int) -> None:
        st.session_state[STEP] = int(result.steps[row])

    page.clickable_table(frame, "emergence-table", choose, "A row for each step of the training", column_config=config)


selection = header.current()
with header.title_line().popover("Options", icon=":material/tune:", key="page-options", on_change="rerun"):
    training = choose_training()
if training is None:
    st.caption("A small BERT (6 × 8 heads) trained from scratch on Wikipedia and novels. It is not the demo model.")
    result, models = memoize(shipped), {}
else:
    result = computed(training)
    models = dict(zip(training.steps, training.checkpoints, strict=True))
layers, heads = result.shape
origin = result.provenance
labels = memoize(Emergence.behaviors, result)
model = origin["model"]
text = origin["corpus"]
treebank = origin["others"]["treebank"]
mode = "as in the paper" if origin["settings"]["mode"] == "paper" else "corrected"
st.session_state["origin"] = f"training {model['name']} ({model['fingerprint'][:8]}), {text['name']}, {mode}"
st.session_state["files"] = model["name"], text["name"]
st.markdown(f"**{plain(result.headline())}**")
explore(result, labels, models, selection)
basis = (
    f"{model['name']} on {text['name']} and {treebank['name']}, mode: {mode}. {len(result.steps)} checkpoints of "
    f"{layers} × {heads} heads; {origin['segments']:,} segments, {origin['sentences']:,} sentences."
)
st.caption(plain(f"{basis} {' '.join(result.notes)} Coreference heads are not counted here, unlike on the overview."))
relations(result, selection)
if selection.head in all_heads(layers, heads):
    st.markdown(f"**Head {selection.label}** over the training")
    alt = f"Average attention of head {selection.label} over the training"
    page.chart(page.drawn(head_figure, result, selection.head), "emergence-head", alt)
else:
    st.caption(
        f"Head {selection.label} is not one of this training's {layers} × {heads} heads. To browse them, choose one of "
        "its checkpoints as the model under the title."
    )

st.header("All steps")
st.caption("Click a row to move the slider to its step.")
table(result)
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
