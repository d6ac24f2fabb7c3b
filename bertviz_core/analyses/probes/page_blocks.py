"""What the page of the probes shows beside its figures: Table 3, the accuracy by relation, the weights of the chosen
head, and trees with the guesses of the chosen probe."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from bertviz_core import paper
from bertviz_core.analyses.base.blocks import Card, Say
from bertviz_core.analyses.base.list_view import MOST
from bertviz_core.analyses.base.result import cached_on_result
from bertviz_core.analyses.base.shown_inputs import Example, OpenedWords
from bertviz_core.analyses.base.statistics import share, units_text
from bertviz_core.analyses.base.table_blocks import InputList, ListPage, Table
from bertviz_core.analyses.probes.figure import guessed_edges, sentence_drawing, table_3
from bertviz_core.analyses.probes.options import AS_RELEASED
from bertviz_core.analyses.probes.result import (
    ATTENTION_DIRECTIONS,
    ROOT_DIRECTIONS,
    Probes,
    ProbesView,
    SentenceRecord,
    title,
)
from bertviz_core.corpora.treebank import ALL, meaning
from bertviz_core.corpora.word_search import has, searched_words
from bertviz_core.heads import Head, arrow, ranks
from bertviz_core.numbers import number

PER_PAGE = 10  # sentences that are drawn
ROOT = "ROOT"
LEGEND = (
    "Above, the gold arcs; below, the guesses: correct ones solid with a check mark, wrong ones dashed with a cross."
)


@cached_on_result
def cards(result: Probes) -> list[Card]:
    """The scores of the probes on attention beside the paper's, the selectivity, and words without a vector."""
    entries = []
    table = table_3(result)
    for probe, score, printed in zip(result.probes, result.score, table["paper"], strict=True):
        if probe.startswith("attention") and probe + AS_RELEASED not in result.probes:
            notes = ["as released"] if probe.endswith(AS_RELEASED) else []
            notes += [f"paper: {printed:g}%"] if result.counts_as_paper else []
            entries.append((title(probe.removesuffix(AS_RELEASED)), f"{score:.1%}", "; ".join(notes)))
    if control := result.about.get("control"):
        selectivity = f"{100 * control['selectivity']:.1f}"
        entries.append(("Selectivity, attention only", selectivity, f"control task: {control['accuracy']:.1%}"))
    if vectors := result.about.get("vectors"):
        source = vectors["name"].removeprefix("the model's ")  # as much as fits
        entries.append(("Words without a vector", f"{vectors['unknown_words']:.1%}", source))
    return entries or [("Best fixed offset", f"{result.about['best_offset']:+d}", "on the training part")]


@cached_on_result
def scores_table(result: Probes) -> Table:
    """Table 3, in percent, beside the paper's numbers where they count the same."""
    units = result.about["units"]
    table = table_3(result).round(1)
    table["95%"] = [f"{low:.1f} to {high:.1f}" for low, high in zip(table["low"], table["high"], strict=True)]
    names = {"with_punctuation": "with punctuation", "paper_with_punctuation": "paper, with punctuation"}
    order = ["probe", "metric", "score", "95%", "paper", *names.values(), "parameters", "trained", "seconds"]
    if not result.counts_as_paper:
        order = [name for name in order if not name.startswith("paper")]
    sentences = result.about["sentences"]
    until = "until the loss of held-out sentences of the training part no longer falls"
    if result.is_paper:
        until = "for one epoch, as the release does"
    papers = " The paper's scores are on WSJ." if result.counts_as_paper else ""
    note = (
        f"95% intervals over {units_text(units['test'], units['unit'])}. Trained on {sentences['train']:,} sentences, "
        f"{until}; scored on {sentences['test']:,} others.{papers}"
    )
    as_printed = tuple(name for name in order if name.startswith("paper"))
    return Table(
        name="table_3",
        title="Table 3 (%)",
        table=table.rename(columns=names)[order],
        note=note,
        decimals=1,
        as_printed=as_printed,
        in_report=True,
    )


def scores_notes(result: Probes) -> Iterator[Say]:
    """What Table 3 counts, and how the structural probe's layer was chosen."""
    in_paper = (
        ", as in the paper except for its right-branching "
        f"{paper.TABLE_3_WITH_PUNCTUATION['right-branching']}, which is over all words ({paper.TABLE_1[ALL][2]} in "
        "Table 1, offset +1)"
    )
    released = (
        " As released: the notebook scores a candidate with the vector of the next word (a misaligned ROOT); aligned: "
        "with its own vector."
    )
    is_released = any(probe.endswith(AS_RELEASED) for probe in result.probes)
    exception = in_paper if result.counts_as_paper else ""
    yield Say(f"UAS excludes punctuation{exception}.{released if is_released else ''}")
    if layer := result.about.get("structural"):
        name = f"layer {layer['layer']}" if layer["layer"] else "the embeddings"
        best_layer = f"Best layer of the structural probe, chosen without the test set: {name}; rank {layer['rank']}."
        yield Say(best_layer)


@cached_on_result
def relations_table(result: Probes) -> Table:
    """The accuracy of every probe by relation, in percent, of the relations that are scored."""
    rows = [row for row in range(len(result.relations)) if result.relation_n[:, row].max() > 0]
    n = result.relation_n[:, rows]
    names = [result.relations[row] for row in rows]
    accuracy = 100 * share(result.relation_right[:, rows], n)
    columns: dict[str, Any] = {"relation": names, "meaning": list(map(meaning, names)), "words": n.max(0)}
    columns |= dict(zip(probe_names(result), accuracy, strict=True))
    note = (
        "Labels are as annotated, since the probes learn the annotated trees. The page Dependency heads reads function "
        "words as governors, with the paper's labels: obj is dobj there, and case is prep."
    )
    title = "Accuracy by relation (%); punctuation is not scored"
    return Table("relations", title, pd.DataFrame(columns), note, decimals=1, height=320)


def probe_names(result: Probes) -> list[str]:
    """Short titles of the probes."""
    return [title(probe, result).partition(" (")[0] for probe in result.probes]


def weights_table(result: Probes, head: Head) -> Table:
    """The weights of the chosen head in the probe on attention alone, with their ranks among all heads; those of a
    token that the model lacks are 0 in every head, and left out."""
    rows = []
    ways = zip((*ATTENTION_DIRECTIONS, *ROOT_DIRECTIONS), [*result.attention, *result.root], strict=False)
    for name, values in ways:
        if not values.any():
            continue
        rank = f"{ranks(values)[head]} of {values.size}"
        rows.append({"attention": arrow(name), "weight": number(values[head], "+"), "rank": rank})
    title = f"Weights of head {head.label()} in the attention-only probe"
    return Table("head", title, pd.DataFrame(rows), is_folded=True)


def matching(result: Probes, text: str) -> list[SentenceRecord]:
    """The sentences that have the searched words."""
    words = searched_words(text)
    return [sentence for sentence in result.sentences if has(sentence["words"], words)]


def list_note(result: Probes, count: int) -> str:
    """How many sentences a list has, and of how many."""
    tested = result.about["sentences"]["test"]
    of = "all" if len(result.sentences) == tested else f"the first {len(result.sentences):,} of"
    return f"{count:,} of {of} {tested:,} sentences."


def tree_list(result: Probes, view: ProbesView) -> InputList:
    """The trees of the sentences that have the searched words, with the guesses of a probe."""
    return InputList(
        name="sentences",
        result=result,
        view=view,
        page=tree_page,
        rows=tree_rows,
        size=PER_PAGE,
        fields=("probe",),
    )


def tree_page(result: Probes, view: ProbesView) -> ListPage:
    """A page of the trees."""
    assert view.probe, "a resolved view"
    sentences = matching(result, view.search)
    first = PER_PAGE * (view.page - 1) if PER_PAGE * (view.page - 1) < len(sentences) else 0
    return ListPage(
        title="Gold and predicted trees",
        detail=f": {title(view.probe, result)}",
        total=len(sentences),
        examples=tuple(_example(each, view.probe) for each in sentences[first : first + PER_PAGE]),
        note=list_note(result, len(sentences)),
        legend=LEGEND,
    )


def tree_rows(result: Probes, view: ProbesView) -> pd.DataFrame:
    """A row for each edge that is guessed."""
    assert view.probe, "a resolved view"
    sentences = matching(result, view.search)[:MOST]
    return pd.DataFrame([row for each in sentences for row in guess_rows(each, view.probe)])


def _example(sentence: SentenceRecord, probe: str) -> Example:
    right, svg = sentence_drawing(sentence, probe)
    notes = []
    for row in guess_rows(sentence, probe):
        if not row["right"]:
            truth = f"; the treebank: {row['governor']}"
            notes.append(f"✗ {row['relation']}: {row['word']} ← {row['guess']}{truth}")
    words = tuple(sentence["words"])
    opened = OpenedWords(words, sentence["where"])
    return Example(f"{sentence['where']}: {right}", " ".join(words), svg, tuple(notes), opened)


def guess_rows(sentence: SentenceRecord, probe: str) -> list[dict[str, Any]]:
    """A row for each word, or each edge of the structural probe; positions count from 1, and 0 is ROOT."""
    words = [ROOT, *sentence["words"]]
    rows = []
    for edge in guessed_edges(sentence, probe):
        governor = sentence["governors"][edge.word]
        row = {
            "where": sentence["where"],
            "text": " ".join(sentence["words"]),
            "position": edge.word + 1,
            "word": words[edge.word + 1],
            "relation": sentence["relations"][edge.word],
            "guess_position": edge.governor + 1,
            "guess": words[edge.governor + 1],
            "governor_position": governor,
            "governor": words[governor],
            "right": edge.right,
            "scored": edge.scored,
        }
        rows.append(row)
    return rows


def weights_of_head(result: Probes, head: Head) -> str:
    """The chosen head's weights as a sentence; empty without the probe on attention alone."""
    if not len(result.attention):
        return ""
    texts = [
        f"{number(values[head], '+')} from {arrow(name)}, rank {ranks(values)[head]} of {values.size}"
        for name, values in zip(ATTENTION_DIRECTIONS, result.attention, strict=True)
    ]
    return f"Head {head.label()} has a weight of {' and '.join(texts)}."
