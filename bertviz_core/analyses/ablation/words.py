"""The words that the model predicts worse without the chosen head, for the files of a result."""

import pandas as pd

from bertviz_core.analyses.ablation.result import Ablation, WordRecord
from bertviz_core.analyses.base.parts import Example, Part
from bertviz_core.heads import Head
from bertviz_core.inputs.tokens import joined_pieces


def words_title(head: Head) -> str:
    """The title of the words whose loss rises most without a head."""
    return f"Words whose loss rises most without head {head.label()}"


def words_note(count: int) -> str:
    """The note above so many of these words."""
    return "Largest increase of the loss first." if count else "No word is predicted worse without this head."


def words_part(result: Ablation, head: Head) -> Part:
    """Each word in its passage, with what the model guesses for it before and after."""
    words = list(result.words(head))
    others = [{name: value for name, value in word.items() if name != "number"} for word in words]
    table = pd.DataFrame([{"passage": word["number"] + 1} | other for word, other in zip(words, others, strict=True)])
    return Part("words", words_title(head), table, words_note(len(words)), tuple(map(_example, words)))


def _example(word: WordRecord) -> Example:
    original = word["original"]
    before, after = (f"“{word[run]}” {'✓' if word[run] == original else '✗'}" for run in ("before", "after"))
    change = word["loss_after"] - word["loss_before"]
    title = f"+{change:.2f} nats, passage {word['number'] + 1}, {word['where']}"
    text = f"{joined_pieces(word['left'])} {word['shown']} {joined_pieces(word['right'])}"
    return Example(title, text, notes=(f"“{original}”: the model guesses {before}, without the head {after}",))
