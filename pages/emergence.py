"""Emergence: how the heads' behaviors develop during training, checkpoint by checkpoint."""

from dataclasses import replace
from typing import cast

import streamlit as st

from bertviz_core.analyses.base.registry import display_label
from bertviz_core.corpora import describe_skipped
from bertviz_core.emergence import figure, series
from bertviz_core.emergence.result import MAX_RELATIONS, Emergence, followed
from bertviz_core.emergence.training import find_training
from bertviz_core.heads import all_heads
from bertviz_core.models.checkpoint import Checkpoint, short_names
from bertviz_core.models.model_sources import trainings
from bertviz_core.plotting import BEHAVIORS
from pages.shared import endnotes, jobs, page, preview, services, stored, widgets
from pages.shared.components import component
from pages.shared.costly import renamed, shipped
from pages.shared.frame import header
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import EmergenceChoices
from pages.shared.state.selection import Basis

behaviors_of = memoized(Emergence.behaviors)
map_at = memoized(figure.map_at)
to_frame = memoized(Emergence.to_frame)

SHIPPED = EmergenceChoices.training
LOCAL = "Enter a local folder of checkpoint folders whose names end in their step: step-0000500, checkpoint-500. "
HUB = (
    "Or enter revisions of a hub model: `owner/name@step*` for all that begin so, `owner/name@step0,step1000` for two. "
)
PLAYER = "emergence-player"  # key of the component


@session.fragment
def draw_step() -> None:
    """The slider, and what moves with it: the player's frames run this part of the page alone."""
    # A click on the map has chosen a head, which the picker is to follow.
    if session.current().header.head not in (None, selection.head):
        st.rerun()
    with st.container(gap="xsmall"):  # The gap is that of the page; a fragment's own container has wider gaps.
        draw_at(choose_step() if len(result.steps) > 1 else 0)


def draw_at(index: int) -> None:
    """Draw the map, the course of the training and the key numbers at a step, by its index."""
    left, middle, right = st.columns([4, 6, 3], gap="small")
    with left:
        st.markdown("**Head map**: what each head does")
        step = int(result.steps[index])
        model = models.get(step)
        alt = "Map of all heads, layer by head: what each head does"
        lines = preview.of(replace(selection, checkpoint=model)) if model else b""
        squares = map_at(result, labels, index)
        page.head_map(squares, "emergence-map", alt, selection, lines=lines, height=370)
    with middle:
        alt = f"The {result.loss_name}, and the number of heads with each behavior, over the training"
        page.chart(page.drawn(figure.paper_figure, result, labels, index), "course-figure", alt, selection.basis)
    with right.container(key="tiles", gap="xsmall"):
        for title, value, note in figure.numbers(result, labels[index], index):
            st.metric(title, value, note, delta_color="off", delta_arrow="off", border=True)


def step_of(now: EmergenceChoices) -> int:
    """The step that is shown, the last where the training lacks the chosen one."""
    steps = result.steps.tolist()
    return now.at_step if now.at_step is not None and now.at_step in steps else int(steps[-1])


def choose_step() -> int:
    """Draw the slider and the player that moves it; the address follows when the player stops. Returns the index."""
    steps = result.steps.tolist()
    now = session.current()
    step = now.playing if now.playing is not None and now.playing in steps else step_of(session.page(EmergenceChoices))
    index = steps.index(step)

    def play() -> None:
        at = widgets.received(PLAYER, "at")
        if at is None:
            return
        reached = steps[at["index"]]
        now.playing = reached if at["playing"] else None
        if not at["playing"]:
            session.choose(at_step=reached)

    def stop() -> None:
        now.playing = None

    with page.row():
        shown = "{:,}".format
        widgets.select_slider("Training step", steps, "at_step", step, format_func=shown, on_change=stop)
        component("player")(data={"at": index, "last": len(steps) - 1}, key=PLAYER, on_at_change=play, width="content")
    return index


def relations_of(now: EmergenceChoices) -> list[str]:
    """The relations that are shown."""
    if now.relations_of is None:
        return result.opening_relations
    return [name for name in now.relations_of if name in result.relations][:MAX_RELATIONS]


@session.fragment
def draw_relations() -> None:
    """Chosen relations over the training; the slider does not redraw them."""
    st.markdown(
        "**Relations**: the best head and the best fixed offset. The best head of a step is selected on the words on "
        "which it is scored; the dotted line follows the head that is best at the end."
    )
    names = widgets.multiselect(
        "Relations",
        result.relations,
        "relations_of",
        relations_of(session.page(EmergenceChoices)),
        max_selections=MAX_RELATIONS,
        label_visibility="collapsed",
    )
    if names:
        drawing = page.drawn(figure.relations_figure, result, names)
        alt = "For each relation the accuracy of the best head and of the best fixed offset over the training"
        page.chart(drawing, "emergence-relations-figure", alt, selection.basis)


def reported() -> Emergence:
    """The training with what the page shows of it."""
    now = current.of_page(EmergenceChoices)
    head = selection.head.key() if selection.head in all_heads(*result.shape) else None
    return result.on(step_of(now), relations_of(now), head)


def choose_training() -> str:
    """Draw the choice of the training."""
    now = session.current()
    access = services.access()
    if not now.trainings:
        now.trainings = [SHIPPED, *trainings(access)]
    name = session.page(EmergenceChoices).training
    if name not in now.trainings:
        now.trainings.append(name)
    options = page.options_popover()
    if not options.open:
        return name
    short = short_names(now.trainings)
    how = (LOCAL if access.folders is None else "") + (HUB if access.downloads != 0 else "")
    with options:
        return widgets.select(
            "Training",
            now.trainings,
            "training",
            name,
            accept_new_options=bool(how),
            format_func=lambda folder: short.get(folder, folder),
            help=f"`{SHIPPED}` ships with the project. {how}"
            "The corpora, mode and settings under the title apply to all other trainings.",
        )


def move_slider(row: int) -> None:
    """Choose the step of a row, in a callback."""
    session.choose(at_step=int(result.steps[row]))


selection = session.selection()
with header.title_line():
    name = choose_training()
if name == SHIPPED:
    st.caption("A small BERT (6 × 8 heads) trained from scratch on Wikipedia and novels. It is not the demo model.")
    result = shipped()
    models: dict[int, Checkpoint] = {}
else:
    training = find_training(name, services.access())
    read = selection.corpora["text"], selection.corpora["treebank"]
    passes = series.CheckpointRequests(training, *read, selection.settings)
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
        stored.start_button(stored.timed("Analyze", stored.duration(missing)), key, "Emergence", requests)
    for line in describe_skipped(training.skipped.to_json()):
        st.caption(f":material/info: {plain(f'Left out of these numbers: {line}.')}")
    if found is None:
        raise session.PageEnd
    corpora = {source.digest: source.name for source in read}  # as this reader names them
    result = cast(Emergence, renamed(found, corpora))
    models = dict(zip(training.steps, training.checkpoints, strict=True))
current = session.current()  # its step and relations may change without the rest of the page
layers, heads = result.shape
origin = result.provenance
labels = behaviors_of(result)
model = origin["model"]
text = origin["corpus"]
treebank = origin["others"]["treebank"]
mode = "as in the paper" if origin["settings"]["mode"] == "paper" else "corrected"
caption = f"training {model['name']} ({model['fingerprint'][:8]}), {text['name']}, {mode}"
selection = session.rebase(Basis(caption, model["name"], text["name"]))
stored.warn([result])
st.markdown(f"**{plain(result.headline())}**")
draw_step()
basis = (
    f"{model['name']} on {text['name']} and {treebank['name']}, mode: {mode}. {len(result.steps)} checkpoints of "
    f"{layers} × {heads} heads; {origin['segments']:,} passages, {origin['sentences']:,} sentences."
)
st.caption(plain(f"{basis} {' '.join(result.notes)} Coreference heads are not counted here, unlike on the overview."))
draw_relations()
if result.curves:
    st.markdown("**Sinks, distances and induction**: the highest head of each step, and the mean of all heads.")
    drawing = page.drawn(figure.curves_figure, result)
    alt = "For each further quantity the highest head and the mean over heads, over the training"
    page.chart(drawing, "emergence-curves", alt, selection.basis)
if selection.head in all_heads(layers, heads):
    st.markdown(f"**Head {selection.label}** over the training")
    alt = f"Average attention of head {selection.label} over the training"
    page.chart(page.drawn(figure.head_figure, result, selection.head), "emergence-head", alt, selection.basis)
else:
    st.caption(
        f"Head {selection.label} is not one of this training's {layers} × {heads} heads. To browse them, choose one of "
        "its checkpoints as the model under the title."
    )

st.header("All steps", anchor=False)
st.caption("Click a row to move the slider to its step.")
frame = to_frame(result)
loss = result.loss_name
titles = {"loss": f"{loss}, nats", "masked_right": loss.replace("-word loss", " words right")}
titles |= {name: f"mean {display_label(name)}" for name in result.quantities}
titles |= {f"highest_{name}": f"highest {column.short}" for name, column in followed().items()}
titles |= {f"{name}_heads": f"{behavior[-1]}, heads" for name, behavior in BEHAVIORS.items()}
for name in result.relations:
    titles |= {f"{name}_heldout": f"{name}, held out", f"{name}_offset": f"{name}, fixed offset"}
config = {}
for column, values in frame.items():
    numeric = "%.3f" if values.dtype.kind == "f" else "localized"
    config[column] = st.column_config.NumberColumn(titles.get(column, column), format=numeric)
alt = "A row for each step of the training"
page.clickable_table(frame, "emergence-table", move_slider, alt, column_config=config)
page.downloads(result, reported)
endnotes.ending(result, Emergence.followed)
