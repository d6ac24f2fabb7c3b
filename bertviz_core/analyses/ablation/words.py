"""The words that the model predicts worse without a head."""

import pandas as pd

from bertviz_core.analyses.ablation.result import Ablation, WordRecord
from bertviz_core.analyses.base.shown_inputs import Example, Opened
from bertviz_core.analyses.base.table_blocks import Inputs
from bertviz_core.heads import Head
from bertviz_core.inputs.tokens import joined_pieces


def word_inputs(result: Ablation, head: Head) -> Inputs:
    """Each word in its passage, with what the model guesses for it before and after."""
    words = list(result.words(head))
    others = [{name: value for name, value in word.items() if name != "number"} for word in words]
    rows = [{"passage": word["number"] + 1} | other for word, other in zip(words, others, strict=True)]
    return Inputs(
        name="words",
        title=f"Words whose loss rises most without head {head.label()}",
        table=pd.DataFrame(rows),
        note="Largest increase of the loss first." if words else "No word is predicted worse without this head.",
        examples=tuple(map(_example, words)),
    )


def _example(word: WordRecord) -> Example:
    original = word["original"]
    before, after = (f"“{word[run]}” {'✓' if word[run] == original else '✗'}" for run in ("before", "after"))
    change = word["loss_after"] - word["loss_before"]
    left, right = joined_pieces(word["left"]), joined_pieces(word["right"])
    return Example(
        title=f"+{change:.2f} nats, passage {word['number'] + 1}, {word['where']}",
        text=f"{left} {word['shown']} {right}",
        notes=(f"“{original}”: the model guesses {before}, without the head {after}",),
        opened=Opened(word["number"]),
        marked=(len(left) + 1, len(left) + 1 + len(word["shown"])),
    )
