"""The list of sentences with the chosen head's guesses, for the files of a result."""

from typing import Any

import pandas as pd

from bertviz_core.analyses.base.blocks import Example, Inputs
from bertviz_core.analyses.base.list_view import ListView, list_note, listed
from bertviz_core.analyses.dependency_heads.figure import example_svg
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import RelationView
from bertviz_core.analyses.dependency_heads.sentences import SentenceExample, SentenceQuery
from bertviz_core.corpora.treebank import ALL, UAS
from bertviz_core.heads import DirectedHead, Head

PER_PAGE = 5  # sentences that are drawn
LEGEND = (
    "Above, the gold arcs; below, the guesses: correct ones solid with a check mark, wrong ones dashed with a cross, "
    "and the attention they have."
)
ROOT = "ROOT"  # in place of the governor of a root


def sentence_query(counts: RelationCounts, choice: DirectedHead, relation: str, chosen: ListView[Any]) -> SentenceQuery:
    """The sentences that the list has."""
    view, is_merged = (counts.provenance["options"][name] for name in ("view", "merge_subtypes"))
    return SentenceQuery(
        choice=choice,
        guesses=chosen.guesses,
        least_weight=chosen.least_weight,
        search=chosen.search,
        order=chosen.order,
        relation=relation,
        view=view,
        merge_subtypes=is_merged,
        causal=counts.is_causal,
    )


def list_title(counts: RelationCounts, head: Head, relation: str, total: int) -> str:
    """What the list has, as "Head 3-1 in 78 of all 200 sentences with dobj"."""
    count = counts.provenance["sentences"]
    is_all = counts.is_whole or counts.lists is not None
    first = 0 if counts.stored is None else len(counts.stored.sentences)
    part = f"all {count:,} sentences" if is_all else f"the first {first:,} of {count:,} sentences"
    of_relation = "" if relation in (ALL, UAS) else f" with {relation}"
    return f"Head {head.label()} in {total:,} of {part}{of_relation}"


def sentence_inputs(counts: RelationCounts, view: RelationView) -> Inputs:
    """The chosen head's sentences: of each word of the relation the guess, the governor, and whether it is right."""
    relation, choice = view.choice()
    query = sentence_query(counts, choice, relation, view)
    found = listed(counts.lists or counts, query, view.page, PER_PAGE)
    return Inputs(
        name="sentences",
        title=list_title(counts, choice.head, relation, found.total),
        table=pd.DataFrame([row for each in found.entries for row in guess_rows(each)]),
        note=list_note(view, found, "sentences"),
        examples=tuple(_example(each, choice, view.arcs) for each in found.drawn),
        legend=LEGEND,
    )


def drawing_title(example: SentenceExample) -> str:
    """The title of a drawn sentence: where it is, and how many of its guesses are right."""
    return f"{example.where}: {example.right} of {len(example.chosen)} right"


def guess_rows(example: SentenceExample) -> list[dict[str, Any]]:
    """A row for each word of the relation; positions count from 1, and 0 is ROOT."""
    sentence = example.sentence
    words = sentence["words"]
    rows = []
    for at in example.chosen:
        governor = sentence["governors"][at]
        guess = int(example.guesses[at])
        row = {
            "sentence": sentence["number"] + 1,
            "line": sentence["line"],
            "text": " ".join(words),
            "position": at + 1,
            "word": words[at],
            "relation": sentence["relations"][at],
            "guess_position": guess + 1,
            "guess": words[guess],
            "governor_position": governor,
            "governor": words[governor - 1] if governor else ROOT,
            "right": guess == governor - 1,
            "weight": round(int(example.weights[at]) / 255, 3),
        }
        rows.append(row)
    return rows


def _example(example: SentenceExample, choice: DirectedHead, every: bool) -> Example:
    notes = []
    for row in guess_rows(example):
        mark = "✓" if row["right"] else "✗"
        truth = "" if row["right"] else f"; the treebank: {row['governor']}"
        notes.append(f"{mark} {row['relation']}: {row['word']} ← {row['guess']}, {row['weight']:.2f}{truth}")
    text = " ".join(example.sentence["words"])
    return Example(drawing_title(example), text, example_svg(example, choice, every=every), tuple(notes))
