"""Coreference in words, and in a table beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts, Choice
from bertviz_core.analyses.coreference_heads.baselines import CHANCE, RANDOM
from bertviz_core.analyses.coreference_heads.figure import arrow
from bertviz_core.analyses.coreference_heads.groups import TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import DIRECTIONS
from bertviz_core.analyses.coreference_heads.predictions import score
from bertviz_core.analyses.proportions import MIN_SCORED, wilson
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.files import SAMPLES
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.errors import BertvizError
from bertviz_core.heads import ranks
from bertviz_core.plotting.style import percent
from pages.shared import boxes, services
from pages.shared.frame import address, choices
from pages.shared.frame.selection import Selection

PAPER_HEAD = "head 5-4"
PAPER_SYSTEMS = ("nearest", "head match", "rule-based")
AMONG = {"mentions": "among the preceding ones", "words": "among all other words"}


def choose_direction(result: AntecedentCounts) -> int:
    """Which of DIRECTIONS the chosen head is read in, kept in the address; the paper's by default."""
    direction = choices.segmented(
        "Direction of attention",
        result.directions,
        key="direction",
        default=DIRECTIONS[0],
        format_func=arrow,
        help="The paper measures mention → antecedent; its numbers are shown for that direction only.",
    )
    return DIRECTIONS.index(direction)


def claim(result: AntecedentCounts, direction: int, selection: Selection) -> None:
    """What this run shows in one direction, in a sentence with its numbers; and the way to the head it names."""
    best, n = result.best(direction=direction), int(result.n[0])
    row = result.head_row(best)
    outside = ", which the paper does not measure" if direction else ""
    st.markdown(
        f"**Head {best.head.label(selection.base)}, {arrow(DIRECTIONS[direction])}{outside}, finds an antecedent of "
        f"{percent(row['accuracy'], n)} of the mentions** {AMONG[result.candidates]} (n = {n:,}, {_checked(row, n)}). "
        f"{_verdict(result, direction)}"
    )
    if result.candidates == "mentions" and 2 * result.single > n:
        st.info(
            "Most mentions have only one candidate, so no head can be wrong about them: the file marks few mentions "
            "(like WinoBias). Choose “words” as candidates.",
            icon=":material/info:",
        )
    _offer(best, selection)


def say_read(result: AntecedentCounts, direction: int, base: int) -> None:
    """Chance and the rules, whether the other direction is better, and how the file was read."""
    n, origin = int(result.n[0]), result.provenance
    chance, drawn, rules = (percent(result.chance(name)[0], n) for name in (CHANCE, RANDOM, "rule-based"))
    st.caption(
        f"Chance (1 / candidates) is {chance}; a random candidate is an antecedent in {drawn}; the rules find {rules}."
        f"{_other_direction(result, direction, base)} {result.single:,} mentions have only one candidate. Read as "
        f"{boxes.plain(origin['format'])}; head words by the {origin['head_words']}."
    )


def _other_direction(result: AntecedentCounts, direction: int, base: int) -> str:
    """Say that the best head is one of the other direction, where it is."""
    better = result.better_direction() or result.best()
    if better.direction == direction:
        return ""
    here, more = (result.head_row(each)["accuracy"] for each in (result.best(direction=direction), better))
    named = f"{better.head.label(base)}, {arrow(DIRECTIONS[better.direction])}"
    return f" The best head of both directions is {named}: {more:.1%} beside {here:.1%}."


def _verdict(result: AntecedentCounts, direction: int) -> str:
    """Which simple baselines the best head is above on held-out documents."""
    if int(result.n[0]) < MIN_SCORED:
        return f"Fewer than {MIN_SCORED} mentions: too few for a verdict."
    if np.isnan(result.heldout(direction=direction)[0]):
        return "One half of the documents has no mention to score: no verdict."
    compared = {RANDOM: "a random candidate (and so chance)"} | {name: name for name in PAPER_SYSTEMS}
    beaten = [text for name, text in compared.items() if result.is_above(name, direction)]
    return f"On held-out documents it is clearly above {', '.join(beaten) or 'neither chance nor any baseline'}."


def _checked(row: dict[str, Any], n: int) -> str:
    """The accuracy's interval, and the held-out accuracy where there is one."""
    heldout = "" if np.isnan(row["heldout_accuracy"]) else f"; held out {percent(row['heldout_accuracy'], n)}"
    return f"{percent(row['low'], n)}–{percent(row['high'], n)}{heldout}"


def _offer(choice: Choice, selection: Selection) -> None:
    """A button that opens a head in its direction."""
    if choice.head != selection.head:
        chosen = {"head": choice.head.label(), "direction": DIRECTIONS[choice.direction]}
        st.button(
            f"Choose head {choice.head.label(selection.base)}",
            icon=":material/visibility:",
            on_click=address.choose,
            kwargs=chosen,
            key="look",
        )


def metrics(result: AntecedentCounts, direction: int, base: int) -> list[tuple[str, str, str]]:
    """(label, this run, paper) for the best head of one direction, chance, and the paper's baselines."""
    best, n = result.best(direction=direction), int(result.n[0])
    accuracy = result.head_row(best)["accuracy"]
    cited = {name: f"paper: {numbers[0]}%" if is_comparable(result) else "" for name, numbers in paper.TABLE_2.items()}
    entries = [(f"Best head: {best.head.label(base)}", percent(accuracy, n), "" if direction else cited[PAPER_HEAD])]
    for name, share in zip(result.systems, result.systems_accuracy[:, 0], strict=True):
        if name in (CHANCE, RANDOM, *PAPER_SYSTEMS):
            entries.append((name.capitalize(), percent(share, n), cited.get(name, "")))
    return entries


def is_comparable(result: AntecedentCounts) -> bool:
    """Whether the paper's numbers may stand beside this corpus's: they are of CoNLL-2012."""
    origin = result.provenance
    return "CoNLL-2012" in origin["format"] and origin["corpus"]["name"] not in SAMPLES["coreference"]


def table_2(result: AntecedentCounts, base: int) -> None:
    """This corpus beside the paper's Table 2, percent; intervals and held-out choices are in the downloads."""
    best, accuracy = result.best(), result.accuracy
    systems = zip(result.systems, result.systems_accuracy, strict=True)
    cited = paper.TABLE_2 if is_comparable(result) else {}
    rows = [_table_row(name, shares, result.n, cited.get(name, ())) for name, shares in systems]
    label = f"best head, {best.head.label(base)}"
    rows.append(_table_row(label, _of(accuracy, best), result.n, cited.get(PAPER_HEAD, ())))
    apart = [result.best(kind) if n else None for kind, n in zip(TYPE_ROWS, result.n, strict=True)]
    each = [np.nan if choice is None else _of(accuracy, choice)[row] for row, choice in enumerate(apart)]
    rows.append(_table_row("best head for each type", np.array(each), result.n))
    for index in range(1, len(result.directions)):
        other = result.best(direction=index)
        label = f"{arrow(DIRECTIONS[index])}: best head, {other.head.label(base)}"
        rows.append(_table_row(label, _of(accuracy, other), result.n))
    beside = "; in parentheses: the paper's, on CoNLL-2012" if cited else ""
    st.markdown(f"**Table 2**: accuracy (%), mention → antecedent{beside}")
    st.dataframe(rows, hide_index=True, alt="Accuracy by system and type of mention, the paper's in parentheses")
    named = [choice.head.label(base) if choice else "none" for choice in apart]
    neural = "Wiseman et al.'s neural system reaches 83 in the paper." if cited else ""
    counts = [f"{kind} {n:,} ({head})" for kind, n, head in zip(TYPE_ROWS, result.n, named, strict=True)]
    st.caption(f"n and best head: {', '.join(counts)}. {neural}")


def _table_row(name: str, shares: np.ndarray, counts: np.ndarray, there: Sequence[int] = ()) -> dict[str, Any]:
    cells = [percent(share, n).removesuffix("%") for share, n in zip(shares, counts, strict=True)]
    cells = [f"{cell} ({there[i]})" if i < len(there) else cell for i, cell in enumerate(cells)]
    return {"": name} | dict(zip(TYPE_ROWS, cells, strict=True))


def _of(accuracy: np.ndarray, choice: Choice) -> np.ndarray:
    """(type,) accuracy of one head read in one direction."""
    return np.asarray(accuracy[choice.direction, :, choice.head.layer, choice.head.head])


def numbers(result: AntecedentCounts, choice: Choice, selection: Selection) -> None:
    """The chosen head on each type: accuracy, 95% interval, rank among the heads read in this direction."""
    rows = []
    for index, (kind, n) in enumerate(zip(TYPE_ROWS, result.n, strict=True)):
        values = result.accuracy[choice.direction, index]
        share = values[choice.head.layer, choice.head.head]
        if not np.isnan(share):
            low, high = wilson(share * n, n)
            rows.append(
                {
                    "mentions": kind,
                    "accuracy": f"{percent(share, n)} ({percent(float(low), n)}–{percent(float(high), n)})",
                    "rank": f"{ranks(values)[choice.head.layer, choice.head.head]} of {values.size}",
                }
            )
    st.markdown(f"**Head {selection.label}**, {arrow(DIRECTIONS[choice.direction])}")
    st.dataframe(rows, hide_index=True, alt=f"Accuracy of head {selection.label} by type, with interval and rank")


def with_uploaded_predictions(result: AntecedentCounts, request: Request) -> AntecedentCounts:
    """The result with another system's chains scored beside it, where the reader has given some."""
    with st.popover("Compare another system", icon=":material/compare_arrows:"):
        values = st.file_uploader("Its chains for the same documents, in any supported format", key="predictions")
    if values is None:
        return result
    paper_values = services.bounded(from_bytes(values.getvalue(), values.name))
    try:
        return result.with_predictions(paper_values, _score(request.key(), paper_values.digest, request, paper_values))
    except BertvizError as problem:
        boxes.error(problem)
        return result


@st.cache_data(max_entries=16, show_spinner="Scoring the predictions")
def _score(key: str, digest: str, _request: Request, _predictions: Source) -> np.ndarray:
    """(group,) right items of uploaded predictions; cached by the request's key and the file's digest."""
    return score(_request, _predictions)
