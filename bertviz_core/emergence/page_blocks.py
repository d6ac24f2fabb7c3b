"""What is shown of a training: the blocks of its page and of its files. A step and relations are chosen, each of which
changes its own blocks."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bertviz_core.analyses.base.blocks import Block, Card, Chart, Columns, Map, Numbers, Say
from bertviz_core.analyses.base.registry import display_label
from bertviz_core.analyses.base.result import cached_on_result
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.analyses.behaviors import behavior_metric, linguistic
from bertviz_core.emergence import order
from bertviz_core.emergence.figure import curves_figure, head_figure, order_figure, paper_figure, relations_figure
from bertviz_core.emergence.result import Emergence, followed
from bertviz_core.heads import Head, all_heads
from bertviz_core.overview.head_columns import behavior_counts, behavior_heads, columns
from bertviz_core.overview.summary import behavior_map
from bertviz_core.plotting import BEHAVIORS
from bertviz_core.plotting.head_map import HeadMap

MAP_HEIGHT = 370  # pixels, about those of the figure beside it
TABLE_HEIGHT = 400  # pixels of ten steps, and the beginning of the next
RELATIONS = "Relations: the best head and the best fixed offset"
HALVES = (
    "Where a quantity stood at the first and the last step, and between which two it made half of its way for good."
)
BIASED = (
    "The best head of a step is selected on the words on which it is scored; the dotted line follows the head that is "
    "best at the end."
)


def blocks(result: Emergence) -> Iterator[Block]:
    """All blocks of what is chosen; without choices the headline and the paper's figure."""
    if not (choices := result.choices):
        title = result.analysis.capitalize()
        yield _headline(result)
        yield Chart("course-figure", title, paper_figure, (result,), title)
        return
    yield from opening_blocks(result)
    yield step_blocks(result, result.step_index)
    yield from relation_blocks(result, choices["relations"])
    yield from whole_blocks(result, Head.parse(choices["head"]) if "head" in choices else None)


def basis(result: Emergence) -> tuple[str, str, str]:
    """What its figures are drawn from: a caption, and the names of the model and of the text."""
    model, text = result.provenance["model"], result.provenance["corpus"]
    caption = f"training {model['name']} ({model['fingerprint'][:8]}), {text['name']}, {_mode(result)}"
    return caption, model["name"], text["name"]


def basis_note(result: Emergence) -> str:
    """What was read at how many checkpoints, and what a reader has to know of the numbers, as sentences."""
    origin = result.provenance
    layers, heads = result.shape
    corpora = f"{origin['corpus']['name']} and {origin['others']['treebank']['name']}"
    sizes = f"{origin['segments']:,} passages, {origin['sentences']:,} sentences"
    checkpoints = f"{len(result.steps)} checkpoints of {layers} × {heads} heads"
    texts = (f"{origin['model']['name']} on {corpora}, mode: {_mode(result)}. {checkpoints}; {sizes}.", *result.notes)
    return f"{' '.join(texts)} Coreference heads are not counted here, unlike on the overview."


def _mode(result: Emergence) -> str:
    return "as in the paper" if result.provenance["settings"]["mode"] == "paper" else "corrected"


def _headline(result: Emergence) -> Say:
    return Say(result.headline(), first=True)


def opening_blocks(result: Emergence) -> list[Block]:
    """What a training comes to, and in what order its quantities arise, where any has changed."""
    sentence = order.sentence(result)
    title = "In what order they arise"
    alt = "For each quantity the share that it has made of its way from the first checkpoint to the last"
    charts = [Chart("emergence-order", title, order_figure, (result,), alt, note=sentence)] if sentence else []
    return [_headline(result), *charts]


def step_blocks(result: Emergence, index: int) -> Columns:
    """The map of a step, by its index, the course of the training with the step marked, and the key numbers."""
    labels = result.behaviors()
    title = "what each head does"
    squares = Map(
        name="emergence-map",
        title=title,
        detail=f", step {result.steps[index]:,}",
        build=map_at,
        arguments=(result, labels, index),
        alt=f"Map of all heads, layer by head: {title}",
        run=result.origin_at(index),
        height=MAP_HEIGHT,
    )
    course = Chart(
        name="course-figure",
        title="The course of the training",
        build=paper_figure,
        arguments=(result, labels, index),
        alt=f"The {result.loss_name}, and the number of heads with each behavior, over the training",
        is_main=True,
    )
    cards = tuple(numbers(result, labels[index], index))
    tiles = Numbers(cards, f"Step {result.steps[index]:,}", name="step", are_stacked=True)
    return Columns(left=(squares,), middle=(course,), right=(tiles,), widths=(4, 6, 3))


def relation_blocks(result: Emergence, names: Sequence[str]) -> Iterator[Chart]:
    """Relations over the training; nothing without any."""
    if names:
        alt = "For each relation the accuracy of the best head and of the best fixed offset over the training"
        arguments = (result, tuple(names))
        name = "emergence-relations-figure"
        yield Chart(name, RELATIONS, relations_figure, arguments, alt, note=BIASED, is_main=True)


def whole_blocks(result: Emergence, head: Head | None) -> list[Block]:
    """What follows neither the step nor the relations: the further quantities, a head of the training, all steps."""
    training_blocks: list[Block] = []
    if result.curves:
        note = "The highest head of each step, and the mean of all heads"
        curves = Chart(
            name="emergence-curves",
            title="Sinks, distances, induction and the next token",
            build=curves_figure,
            arguments=(result,),
            alt="For each further quantity the highest head and the mean over heads, over the training",
            note=f"{note}; the losses are the whole model's." if result.copy_losses is not None else f"{note}.",
        )
        training_blocks.append(curves)
    if head is not None and head in all_heads(*result.shape):
        alt = f"Average attention of head {head.label()} over the training"
        title = f"Head {head.label()} over the training"
        training_blocks.append(Chart("emergence-head", title, head_figure, (result, head), alt))
    elif head is not None:
        layers, heads = result.shape
        absence = (
            f"Head {head.label()} is not one of this training's {layers} × {heads} heads. To browse them, choose one "
            "of its checkpoints as the model under the title."
        )
        training_blocks.append(Say(absence))
    if order.ways(result):
        halves = order.order_table(result)
        training_blocks.append(Table("emergence-halves", "Half of the way", halves, note=HALVES, decimals=3))
    return [*training_blocks, steps_table(result)]


@cached_on_result
def steps_table(result: Emergence) -> Table:
    """All steps, a row of which chooses one."""

    def step_of(row: int) -> dict[str, Any]:
        return {"step": int(result.steps[row])}

    loss = result.loss_name
    titles = {"loss": f"{loss}, nats", "masked_right": loss.replace("-word loss", " words right")}
    titles |= {name: f"mean {display_label(name)}" for name in result.quantities}
    titles |= {f"highest_{name}": f"highest {column.short}" for name, column in followed().items()}
    titles |= {f"{name}_heads": f"{behavior[-1]}, heads" for name, behavior in BEHAVIORS.items()}
    for name in result.relations:
        titles |= {f"{name}_heldout": f"{name}, held out", f"{name}_offset": f"{name}, fixed offset"}
    return Table(
        name="emergence-table",
        title="All steps",
        table=result.to_frame(),
        decimals=3,
        choose=step_of,
        hint="click a row to move the slider to its step",
        titles=titles,
        height=TABLE_HEIGHT,
        in_files=False,
    )


def map_at(result: Emergence, labels: np.ndarray, index: int) -> HeadMap:
    """The map of all heads by their behaviors at one step, with those of all steps in the legend.

    Args:
        labels: (step, layer, head) names of behaviors.
        index: The step, from 0.
    """
    results = result.results(index)
    members = behavior_heads(results)
    assert members is not None, "every checkpoint has surface patterns"
    return behavior_map(members, columns(results), linguistic(results), behavior_counts(labels))


def numbers(result: Emergence, labels: np.ndarray, index: int) -> list[Card]:
    """The key numbers of one step with (layer, head) `labels`: name, value and a note each."""
    entries = [("Training step", f"{result.steps[index]:,}", f"of {result.steps[-1]:,}")]
    if not np.isnan(result.loss[index]):
        accuracy = f"{result.masked_accuracy[index]:.1%} accuracy"
        entries.append((result.loss_name.capitalize(), f"{result.loss[index]:.2f} nats", accuracy))
    uas = ("UAS of the best head", result.uas(index), f"best fixed offset: {result.uas()}")
    return [*entries, behavior_metric(labels), uas]
