"""Table 2 as the page shows it: each system, the best heads and the chosen head on each type of mention."""

import re

import numpy as np
import pandas as pd

from bertviz_core import paper
from bertviz_core.analyses.base.blocks import Card
from bertviz_core.analyses.base.result import head_frame
from bertviz_core.analyses.base.statistics import share
from bertviz_core.analyses.base.table_blocks import Heads, Table
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.baselines import CHANCE, RANDOM
from bertviz_core.analyses.coreference_heads.groups import TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import DIRECTIONS
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.plotting import percent, percent_decimals, tabular

PAPER_HEAD = "head 5-4"
# CoNLL-2012 names its documents by genre and source, as nw/wsj/24/wsj_2400; other corpora use its format too.
PAPER_DOCUMENT = re.compile("(bc|bn|mz|nw|pt|tc|wb)/.")
PAPER_SYSTEMS = ("nearest", "head match", "rule-based")


def cited(counts: AntecedentCounts) -> dict[str, tuple[int, ...]]:
    """The paper's Table 2, beside numbers of the corpus that it is about, counted as there."""
    is_papers = all(PAPER_DOCUMENT.match(document["name"]) for document in counts.stored.first_documents)
    is_papers &= "CoNLL-2012" in counts.provenance["format"]
    return paper.TABLE_2 if is_papers and counts.counts_as_paper else {}


def best_by_type(counts: AntecedentCounts) -> list[DirectedHead | None]:
    """The best head on each of TYPE_ROWS; None where there are no such mentions."""
    return [counts.best(name) if count else None for name, count in zip(TYPE_ROWS, counts.n, strict=True)]


def systems_table(counts: AntecedentCounts, choice: DirectedHead) -> Table:
    """The systems, the best heads and the chosen head, in percent with intervals, and with the paper's numbers in
    parentheses."""
    rows = []
    printed = cited(counts)
    best = best_name(counts)
    for name, cells in _by_type(counts, choice).items():
        for row, number in enumerate(printed.get(PAPER_HEAD if name == best else name, ())):
            cells[row] += f" ({number})"
        rows.append({"system": name} | dict(zip(TYPE_ROWS, cells, strict=True)))
    beside = "; in parentheses: the paper's, on CoNLL-2012" if printed else ""
    return Table(
        name="table_2",
        title=f"Table 2: accuracy (%), mention → antecedent{beside}",
        table=pd.DataFrame(rows),
        note=f"In brackets 95% intervals over {counts.units_text}. {_note(counts)}",
        widths={"system": 290},  # the longest name
        in_report=True,
    )


def all_heads(counts: AntecedentCounts, direction: int) -> Heads:
    """The accuracy of all heads in a direction, in percent."""
    return Heads(
        name="accuracy",
        title=f"Accuracy of all heads (%), {arrow(DIRECTIONS[direction])}",
        columns=TYPE_ROWS,
        titles={},
        build=_percents,
        arguments=(counts, direction),
        decimals={name: percent_decimals(count) for name, count in zip(TYPE_ROWS, counts.n, strict=True)},
    )


def _percents(counts: AntecedentCounts, direction: int) -> pd.DataFrame:
    return head_frame(dict(zip(TYPE_ROWS, 100 * counts.accuracy[direction], strict=True)))


def cards(counts: AntecedentCounts, kind: str, choice: DirectedHead) -> list[Card]:
    """The best head of a direction on a type of mentions, and the baselines, beside the paper's."""
    index = TYPE_ROWS.index(kind)
    n = int(counts.n[index])
    best = counts.best(kind, choice.direction)
    printed = {name: f"paper: {numbers[index]}%" for name, numbers in cited(counts).items() if index < len(numbers)}
    note = "" if choice.direction else printed.get(PAPER_HEAD, "")
    entries = [(f"Best head: {best.head.label()}", percent(counts.row(best, kind)["accuracy"], n), note)]
    if counts.is_causal and kind == TYPE_ROWS[0]:
        of_all_mentions = percent(counts.row(best)["accuracy_of_all_mentions"], counts.of_all)
        entries.append(("Best head, of all mentions", of_all_mentions, f"of {counts.of_all:,}"))
    for name in (CHANCE, RANDOM, *PAPER_SYSTEMS):
        entries.append((name.capitalize(), percent(counts.of_system(name)[index], n), printed.get(name, "")))
    return entries


def best_name(counts: AntecedentCounts) -> str:
    """The name of the row of the head that is best on all mentions."""
    return f"best head, {counts.best().head.label()}"


def _by_type(counts: AntecedentCounts, choice: DirectedHead) -> dict[str, list[str]]:
    """The accuracy of each system on each type of mention; of the chosen head where it is not one of the best."""
    best, *others = (counts.best(direction=direction) for direction in range(len(counts.directions)))
    cells = {name: _cells(counts, name) for name in counts.systems}
    cells[best_name(counts)] = _cells(counts, best)
    cells["best head for each type"] = [
        _cells(counts, directed)[row] if directed else "–" for row, directed in enumerate(best_by_type(counts))
    ]
    for other in others:
        cells[f"{arrow(DIRECTIONS[other.direction])}: best head, {other.head.label()}"] = _cells(counts, other)
    if choice not in (best, *others):
        name = f"{arrow(DIRECTIONS[choice.direction])}: chosen head, {choice.head.label()}"
        cells[name] = _cells(counts, choice)
    return cells


def _cells(counts: AntecedentCounts, system: DirectedHead | str) -> list[str]:
    """The accuracy of a system on each type of mention."""
    scores = counts.scores(system).of("type")
    return list(map(_cell, share(scores.right, scores.n), scores.low, scores.high))


def _cell(accuracy: float, low: float, high: float) -> str:
    """An accuracy in percent, with its interval if that is known, as "37.0 [35.1–38.9]"; a dash for NaN."""
    interval = "" if np.isnan(low) else f" [{100 * low:.1f}–{100 * high:.1f}]"
    return "–" if np.isnan(accuracy) else f"{100 * accuracy:.1f}{interval}"


def _note(counts: AntecedentCounts) -> str:
    """How many mentions each type has and its best head, as sentences."""
    labels = [directed.head.label() if directed else "none" for directed in best_by_type(counts)]
    texts = [f"{name} {count:,} ({head})" for name, count, head in zip(TYPE_ROWS, counts.n, labels, strict=True)]
    neural = ""
    if printed := cited(counts):
        neural = f" Wiseman et al.'s neural system reaches {printed['neural coreference'][0]} in the paper."
    return f"n and best head: {', '.join(texts)}.{neural}"


def latex(counts: AntecedentCounts) -> str:
    """Table 2 as a LaTeX tabular (booktabs): a row for each system and each best head, percent with intervals, and the
    paper's numbers in parentheses where they are of the same corpus."""
    names = {kind: f"{kind.capitalize()} (n = {n:,})" for kind, n in zip(TYPE_ROWS, counts.n, strict=True)}
    return tabular(systems_table(counts, counts.best()).table.rename(columns={"system": "Model"} | names))
