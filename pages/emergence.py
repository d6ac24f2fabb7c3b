"""Emergence: how the heads' behaviors develop during training, checkpoint by checkpoint."""

from dataclasses import replace
from typing import cast

import streamlit as st

from bertviz_core.analyses.registry import label
from bertviz_core.analyses.results import renamed
from bertviz_core.corpora import describe_skipped
from bertviz_core.corpora.treebank import UAS
from bertviz_core.emergence import Emergence, figure, series
from bertviz_core.heads import all_heads
from bertviz_core.models.checkpoint import Checkpoint, short_names
from bertviz_core.models.sources import trainings
from bertviz_core.plotting import BEHAVIORS
from pages.shared import endnotes, jobs, page, preview, services, stored
from pages.shared.components import component
from pages.shared.frame import address, choices, header
from pages.shared.memoize import memoize
from pages.shared.messages import plain

SHIPPED = "small-bert"
HOW_TO_NAME = "Enter a local folder of checkpoint folders whose names end in their step: step-0000500, checkpoint-500. "
MAX_RELATIONS = 6
# Keys of the session.
PLAYER = "emergence-player"
PLAYING = "emergence plays"
# Also in the address: `step` is the tour's.
STEP = "at_step"


@address.fragment
def draw_step() -> None:
    """The slider, and what moves with it: the player's frames run this part of the page alone."""
    if st.session_state["head"] != selection.head.label():  # a click on the map: the picker is to follow
        st.rerun()
    index = choose_step() if len(result.steps) > 1 else 0
    left, middle, right = st.columns([4, 6, 3], gap="small")
    with left:
        st.markdown("**Head map**: what each head does")
        step = int(result.steps[index])
        model = models.get(step)
        alt = "Map of all heads, layer by head: what each head does"
        lines = preview.of(replace(selection, checkpoint=model)) if model else b""
        squares = memoize(figure.map_at, result, labels, index, selection.base)
        page.head_map(squares, "emergence-map", alt, selection, lines=lines, height=370)
    with middle:
        alt = f"The {result.loss_name}, and the number of heads with each behavior, over the training"
        page.chart(page.drawn(figure.paper_figure, result, labels, index), "course-figure", alt)
    with right.container(key="tiles", gap="xsmall"):
        for title, value, note in figure.numbers(result, labels[index], index):
            st.metric(title, value, note, delta_color="off", delta_arrow="off", border=True)


def choose_step() -> int:
    """Draw the slider and the player that moves it; the address follows when the player stops."""
    steps = result.steps.tolist()
    state = st.session_state

    def play() -> None:
        at = state[PLAYER]["at"]
        if at is not None:
            state[STEP] = steps[at["index"]]
            state[PLAYING] = at["playing"]

    with page.row():
        step = choices.select_slider("Training step", steps, key=STEP, default=steps[-1], format_func="{:,}".format)
        index = steps.index(step)
        data = {"at": index, "last": len(steps) - 1}
        component("player")(data=data, key=PLAYER, on_at_change=play, width="content")
    if state.get(PLAYING) and address.is_alone():  # the history is for the reader's own steps
        address.current().drawn.pop(STEP)
    return index


@address.fragment
def draw_relations() -> None:
    """Chosen relations over the training; the slider does not redraw them."""
    st.markdown(
        "**Relations**: the best head and the best fixed offset. The best head of a step is selected on the words on "
        "which it is scored; the dotted line follows the head that is best at the end."
    )
    default = [*result.clearest_relations(MAX_RELATIONS - 1), UAS]
    look = {"max_selections": MAX_RELATIONS, "label_visibility": "collapsed"}
    chosen = choices.multiselect("Relations", result.relations, key="relations_of", default=default, **look)
    if chosen:
        drawing = page.drawn(figure.relations_figure, result, tuple(chosen), selection.base)
        alt = "For each relation the accuracy of the best head and of the best fixed offset over the training"
        page.chart(drawing, "emergence-relations-figure", alt)


def move_slider(row: int) -> None:
    st.session_state[STEP] = int(result.steps[row])


selection = header.current()
with header.title_line().popover("Options", icon=":material/tune:", key="page-options", on_change="rerun"):
    access = services.access()
    folders: list[str] = st.session_state.setdefault("trainings", [*trainings(access)])
    linked = choices.ahead("training", SHIPPED)
    if linked not in (SHIPPED, *folders):
        folders.append(linked)
    shown = short_names([SHIPPED, *folders])
    is_open = access.folders is None
    name = choices.selectbox(
        "Training",
        [SHIPPED, *folders],
        key="training",
        default=SHIPPED,
        accept_new_options=is_open,
        format_func=lambda folder: shown.get(folder, folder),
        help=f"`{SHIPPED}` ships with the project. {HOW_TO_NAME if is_open else ''}"
        "The corpora, mode and settings under the title apply to all other trainings.",
    )
if name in (None, SHIPPED):
    st.caption("A small BERT (6 × 8 heads) trained from scratch on Wikipedia and novels. It is not the demo model.")
    result = memoize(series.shipped)
    models: dict[int, Checkpoint] = {}
else:
    training = series.find_training(name, access)
    read = selection.corpora["text"], selection.corpora["treebank"]
    passes = series.Series(training, *read, selection.settings)
    found, missing = services.emergence(passes)
    requests = passes.requests()
    key = jobs.everything_key(requests)
    if missing and not jobs.is_running(jobs.last(key), "Results of finished passes are stored."):
        st.write(
            f"{len(training.steps)} checkpoints, steps {training.steps[0]:,} to {training.steps[-1]:,}. Each is run on "
            f"{plain(' and '.join(source.name for source in read))}, on this machine. {len(missing)} of "
            f"{len(requests)} analyses are missing. Results are stored as each pass finishes, so a stopped job can "
            "resume. You can use other pages meanwhile."
        )
        for line in describe_skipped(training.skipped.to_json()):
            st.caption(plain(f"Skipped: {line}"))
        stored.start_button(f"Analyze ({stored.duration(missing)})", key, "Emergence", requests)
    if found is None:
        raise address.PageEnd
    corpora = {source.digest: source.name for source in read}  # as this reader names them
    result = cast(Emergence, memoize(renamed, found, corpora))
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
draw_step()
basis = (
    f"{model['name']} on {text['name']} and {treebank['name']}, mode: {mode}. {len(result.steps)} checkpoints of "
    f"{layers} × {heads} heads; {origin['segments']:,} segments, {origin['sentences']:,} sentences."
)
st.caption(plain(f"{basis} {' '.join(result.notes)} Coreference heads are not counted here, unlike on the overview."))
draw_relations()
if selection.head in all_heads(layers, heads):
    st.markdown(f"**Head {selection.label}** over the training")
    alt = f"Average attention of head {selection.label} over the training"
    page.chart(page.drawn(figure.head_figure, result, selection.head), "emergence-head", alt)
else:
    st.caption(
        f"Head {selection.label} is not one of this training's {layers} × {heads} heads. To browse them, choose one of "
        "its checkpoints as the model under the title."
    )

st.header("All steps")
st.caption("Click a row to move the slider to its step.")
frame = memoize(Emergence.to_frame, result)
loss = result.loss_name
titles = {"loss": f"{loss}, nats", "masked_right": loss.replace("-word loss", " words right")}
titles |= {name: f"mean {label(name)}" for name in result.quantities}
titles |= {f"{name}_heads": f"{behavior[-1]}, heads" for name, behavior in BEHAVIORS.items()}
for name in result.relations:
    titles |= {f"{name}_heldout": f"{name}, held out", f"{name}_offset": f"{name}, fixed offset"}
config = {}
for column, values in frame.items():
    numeric = "%.3f" if values.dtype.kind == "f" else "localized"
    config[column] = st.column_config.NumberColumn(titles.get(column, column), format=numeric)
alt = "A row for each step of the training"
page.clickable_table(frame, "emergence-table", move_slider, alt, column_config=config)
page.downloads(result)
endnotes.ending(result, Emergence.followed)
