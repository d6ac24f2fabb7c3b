"""The list of sentences with the chosen head's guesses."""

from typing import Any

import pandas as pd

from bertviz_core.analyses.base.list_view import entries_of, list_note, page_of
from bertviz_core.analyses.base.shown_inputs import Example, OpenedWords
from bertviz_core.analyses.base.table_blocks import InputList, ListPage
from bertviz_core.analyses.dependency_heads.figure import example_svg
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import RelationView
from bertviz_core.analyses.dependency_heads.sentences import GuessedSentences, SentenceExample
from bertviz_core.corpora.treebank import ALL, UAS
from bertviz_core.heads import DirectedHead

PER_PAGE = 5  # sentences that are drawn
LEGEND = (
    "Above, the gold arcs; below, the guesses: correct ones solid with a check mark, wrong ones dashed with a cross, "
    "and the attention they have."
)
ROOT = "ROOT"  # in place of the governor of a root


def list_detail(counts: RelationCounts, relation: str, total: int) -> str:
    """What the list has, as " in 78 of all 200 sentences with dobj"."""
    count = counts.provenance["sentences"]
    is_all = counts.is_whole or counts.lists is not None
    first = 0 if counts.stored is None else len(counts.stored.sentences)
    part = f"all {count:,} sentences" if is_all else f"the first {first:,} of {count:,} sentences"
    of_relation = "" if relation in (ALL, UAS) else f" with {relation}"
    return f" in {total:,} of {part}{of_relation}"


def sentence_list(counts: RelationCounts, view: RelationView) -> InputList:
    """The chosen head's sentences."""
    return InputList(
        name="sentences",
        result=counts,
        view=view,
        page=sentence_page,
        rows=sentence_rows,
        size=PER_PAGE,
        fields=("guesses",),
        folded=("order", "least_weight", "arcs"),
    )


def sentence_page(counts: RelationCounts, view: RelationView) -> ListPage:
    """A page of the chosen head's sentences."""
    relation, choice = view.choice()
    total, entries = page_of(GuessedSentences(counts, view, counts.lists), PER_PAGE)
    return ListPage(
        title=f"Head {choice.head.label()}",
        detail=list_detail(counts, relation, total),
        total=total,
        examples=tuple(sentence_example(each, relation, choice, every=view.arcs) for each in entries),
        note=list_note(view, len(entries), total, "sentences"),
        legend=LEGEND,
    )


def sentence_rows(counts: RelationCounts, view: RelationView) -> pd.DataFrame:
    """Of each word of the relation the guess, the governor, and whether it is right."""
    entries = entries_of(GuessedSentences(counts, view, counts.lists))
    return pd.DataFrame([row for each in entries for row in guess_rows(each)])


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


def sentence_example(example: SentenceExample, relation: str, choice: DirectedHead, *, every: bool) -> Example:
    """A sentence as it is shown; without `every` gold arc those of other relations are left out."""
    notes = []
    for row in guess_rows(example):
        mark = "✓" if row["right"] else "✗"
        truth = "" if row["right"] else f"; the treebank: {row['governor']}"
        notes.append(f"{mark} {row['relation']}: {row['word']} ← {row['guess']}, {row['weight']:.2f}{truth}")
    words = tuple(example.sentence["words"])
    pinned = () if relation in (ALL, UAS) else tuple(example.chosen)
    opened = OpenedWords(words, example.where, pinned, choice.direction)
    svg = example_svg(example, choice, every=every)
    return Example(drawing_title(example), " ".join(words), svg, tuple(notes), opened)
