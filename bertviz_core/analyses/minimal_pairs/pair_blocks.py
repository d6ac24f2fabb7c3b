"""What the page of minimal pairs shows of one head: the pairs that flip, and its change in every phenomenon."""

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.blocks import Card
from bertviz_core.analyses.base.shown_inputs import Example
from bertviz_core.analyses.base.table_blocks import Inputs, Table
from bertviz_core.analyses.minimal_pairs.result import QUANTITIES, FlippedPair, MinimalPairs, points_text
from bertviz_core.analyses.minimal_pairs.statements import controls
from bertviz_core.corpora.pairs import differing_words
from bertviz_core.heads import Head
from bertviz_core.numbers import nats, plural, unit_name


def cards(result: MinimalPairs, head: Head) -> list[Card]:
    """The accuracy of the whole model, without the head, and without the other heads of its layer."""
    before = result.shown_accuracy
    change = result["accuracy_change"]
    points = points_text(float(change[head]), float(result.interval("accuracy_change")[head]), result.unit)
    entries = [
        ("Accuracy", f"{before:.1%}", f"of {plural(result.shown_pairs, 'pairs')}; chance: {result.chance:.0%}"),
        (f"Without {head.label()}", f"{before + change[head]:.1%}", points),
    ]
    if other := controls(change, head):
        span = f"{before + other.low:.1%} to {before + other.high:.1%}"
        name = f"Without another head of layer {head.label().split('-')[0]}"
        entries.append((name, f"{before + other.mean:.1%}", f"{span}, {plural(other.others, 'heads')}"))
    return entries


def phenomena_table(result: MinimalPairs, head: Head) -> Table:
    """The change without a head in every phenomenon, beside that in the others."""
    at = (slice(None), *head)
    halves = {quantity: result.change_intervals(quantity)[at] for quantity in QUANTITIES}
    margin = result.changes[:, 1, head.layer, head.head]
    others = result.specificity(head)
    ends = [
        f"{low:.0%} to {high:.0%}" if low <= high else f"too few {unit_name(result.unit)} to say"
        for low, high in zip(*result.accuracy_limits(), strict=True)
    ]
    rows = []
    for place, name in enumerate(result.phenomena):
        change = result.changes[place, 0, head.layer, head.head]
        rows.append(
            {
                "phenomenon": name,
                "pairs": int(result.pairs[place]),
                "accuracy": f"{result.accuracy[place]:.0%} ({ends[place]})",
                "change": points_text(change, halves["accuracy_change"][place], result.unit),
                "against the others": "–" if np.isnan(others[place]) else f"{100 * others[place]:+.1f} points",
                "margin": nats(margin[place], halves["margin_change"][place], result.unit),
            }
        )
    note = (
        "Accuracy with all heads; its change and the change of the margin without this head, with 95% intervals; the "
        "change minus its mean in the other phenomena. Where no pair turns, the interval has no width."
    )
    return Table("phenomena", f"Without head {head.label()}, by phenomenon", pd.DataFrame(rows), note)


def flipped_inputs(result: MinimalPairs, head: Head | None) -> Inputs:
    """The pairs that are right with all heads and wrong without one, or without the set that is removed."""
    pairs = result.flipped_pairs(head)
    rows = [
        {"number": pair.number + 1, **pair.text, "margin_without": pair.without, "words": _words(pair)}
        for pair in pairs
    ]
    count = result.flip_count(head)
    removed = f"head {head.label()}" if head else "the set"
    note = "The largest fall of the margin first." if pairs else f"No pair turns from right to wrong without {removed}."
    return Inputs(
        name="flipped" if head else "set_flipped",
        title=f"{plural(count, 'pairs')} that {'turns' if count == 1 else 'turn'} wrong without {removed}",
        table=pd.DataFrame(rows),
        note=note if len(pairs) in (0, count) else f"{note} {len(pairs)} of {count:,} are shown.",
        examples=tuple(_example(pair, removed) for pair in pairs),
    )


def _words(pair: FlippedPair) -> str:
    """The words that differ, those of the grammatical sentence first."""
    texts = (pair.text["good"], pair.text["bad"])
    places = differing_words(*texts)
    return " / ".join(
        " ".join(text.split()[at] for at in positions) or "–" for text, positions in zip(texts, places, strict=True)
    )


def _example(pair: FlippedPair, removed: str) -> Example:
    text = pair.text["good"]
    places, _ = differing_words(text, pair.text["bad"])
    notes = (f"margin {pair.text['margin']:+.2f} nats, without {removed} {pair.without:+.2f}",)
    return Example(
        title=f"{_words(pair)}, {pair.text['where']}", text=text, notes=notes, marked=_characters(text, places)
    )


def _characters(text: str, places: list[int]) -> tuple[int, int] | None:
    """The characters of a text from the first of some of its words to the last; None without any."""
    if not places:
        return None
    words = text.split(" ")
    start = len(" ".join([*words[: places[0]], ""]))
    return start, len(" ".join(words[: places[-1] + 1]))
