"""What the page of the probes shows beside its figures: Table 3, the accuracy by relation, the weights of the chosen
head, and trees with the guesses of the chosen probe."""

from typing import Any

import pandas as pd

from bertviz_core.analyses.base.list_view import MOST
from bertviz_core.analyses.base.parts import Card, Example, Part, table_part
from bertviz_core.analyses.base.statistics import share, units_text
from bertviz_core.analyses.probes.figure import guessed_edges, sentence_drawing, table_3, title
from bertviz_core.analyses.probes.options import AS_RELEASED
from bertviz_core.analyses.probes.result import ATTENTION_DIRECTIONS, ROOT_DIRECTIONS, Probes, SentenceRecord
from bertviz_core.corpora.treebank import meaning
from bertviz_core.corpora.word_search import has, searched_words
from bertviz_core.heads import Head, arrow, ranks
from bertviz_core.numbers import number

PER_PAGE = 10  # sentences that are drawn
ROOT = "ROOT"
LEGEND = (
    "Above, the gold arcs; below, the guesses: correct ones solid with a check mark, wrong ones dashed with a cross."
)


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


def scores_part(result: Probes) -> Part:
    """Table 3, in percent, beside the paper's numbers where they count the same."""
    units = result.about["units"]
    table = table_3(result).round(1)
    table["95%"] = [f"{low:.1f} to {high:.1f}" for low, high in zip(table["low"], table["high"], strict=True)]
    names = {"with_punctuation": "with punctuation", "paper_with_punctuation": "paper, with punctuation"}
    order = ["probe", "metric", "score", "95%", "paper", *names.values(), "parameters", "trained", "seconds"]
    if not result.counts_as_paper:
        order = [name for name in order if not name.startswith("paper")]
    over = units_text(units["test"], units["unit"])
    return Part("table_3", f"Table 3 (%); 95% intervals over {over}", table.rename(columns=names)[order])


def relations_part(result: Probes) -> Part:
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
    return Part(
        "relations", "Accuracy by relation (%); punctuation is not scored", pd.DataFrame(columns), note, decimals=1
    )


def probe_names(result: Probes) -> list[str]:
    """Short titles of the probes."""
    return [title(probe, result).partition(" (")[0] for probe in result.probes]


def weights_part(result: Probes, head: Head) -> Part:
    """The weights of the chosen head in the probe on attention alone, with their ranks among all heads."""
    rows = []
    ways = zip((*ATTENTION_DIRECTIONS, *ROOT_DIRECTIONS), [*result.attention, *result.root], strict=False)
    for name, values in ways:
        rank = f"{ranks(values)[head]} of {values.size}"
        rows.append({"attention": arrow(name), "weight": number(values[head], "+"), "rank": rank})
    return table_part("head", f"Weights of head {head.label()} in the attention-only probe", rows)


def matching(result: Probes, text: str) -> list[SentenceRecord]:
    """The sentences that have the searched words."""
    words = searched_words(text)
    return [sentence for sentence in result.sentences if has(sentence["words"], words)]


def list_note(result: Probes, count: int) -> str:
    """How many sentences a list has, and of how many."""
    tested = result.about["sentences"]["test"]
    of = "all" if len(result.sentences) == tested else f"the first {len(result.sentences):,} of"
    return f"{count:,} of {of} {tested:,} sentences."


def sentences_part(result: Probes, probe: str, text: str, page: int) -> Part:
    """The trees of a page of the sentences that have the searched words, and a row for each edge that is guessed."""
    sentences = matching(result, text)
    first = PER_PAGE * (page - 1) if PER_PAGE * (page - 1) < len(sentences) else 0
    examples = []
    for sentence in sentences[first : first + PER_PAGE]:
        right, svg = sentence_drawing(sentence, probe)
        notes = []
        for row in guess_rows(sentence, probe):
            if not row["right"]:
                truth = f"; the treebank: {row['governor']}"
                notes.append(f"✗ {row['relation']}: {row['word']} ← {row['guess']}{truth}")
        text_of = " ".join(sentence["words"])
        examples.append(Example(f"{sentence['where']}: {right}", text_of, svg, tuple(notes)))
    table = pd.DataFrame([row for each in sentences[:MOST] for row in guess_rows(each, probe)])
    heading = f"Gold and predicted trees: {title(probe, result)}"
    return Part("sentences", heading, table, list_note(result, len(sentences)), tuple(examples), LEGEND)


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
