"""The paper's numbers stand beside those of its language that count the same, and beside no others."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bertviz_core.analyses.base.highest_tables import highest_tables
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.coreference_heads.systems_table import cards as coreference_cards
from bertviz_core.analyses.coreference_heads.systems_table import systems_table
from bertviz_core.analyses.entropy.analysis import cards as entropy_cards
from bertviz_core.analyses.probes import figure as probes_figure
from bertviz_core.analyses.probes.page_blocks import cards as probes_cards
from bertviz_core.analyses.probes.page_blocks import scores_table
from bertviz_core.analyses.sep_gradients.analysis import cards as gradient_cards
from bertviz_core.analyses.surface_patterns.analysis import cards as surface_cards
from bertviz_core.heads import DirectedHead, Head
from bertviz_core.paper import READ_OFF


def causal(result: Any) -> Any:
    """The same numbers, of a model whose tokens see only what comes earlier."""
    model = result.provenance["model"] | {"causal": True}
    return replace(result, provenance=result.provenance | {"model": model})


def german(result: Any) -> Any:
    """The same numbers, of a text that is not English."""
    texts = {number: text | {"tokens": ["der" for _ in text["tokens"]]} for number, text in result.texts.items()}
    return replace(result, texts=texts)


def in_other_trees(result: Any) -> Any:
    """The same scores of probes, on a treebank that is not English."""
    sentences = [sentence | {"words": ["der" for _ in sentence["words"]]} for sentence in result.sentences]
    return replace(result, sentences=sentences)


def texts_of_averages(result: Any) -> Iterator[str]:
    """What stands beside the key numbers of a result of averages: cards, the overview's, and the report's tables."""
    cards = {"surface_patterns": lambda each: surface_cards(each, 0.5), "entropy": entropy_cards}
    for *_, note in cards.get(result.analysis, gradient_cards)(result):
        yield note
    analysis = ANALYSES[result.analysis]
    for *_, note in analysis.key_numbers(result):
        yield note
    if any(column.paper_means for column in analysis.columns):
        yield from (table.note for table in highest_tables(result, analysis.columns) if READ_OFF in table.note)


@pytest.mark.parametrize("name", ["surface_patterns", "entropy", "sep_gradients"])
def test_key_numbers(results, name):
    own = results[name]
    assert any("paper" in text for text in texts_of_averages(own))
    for other in (causal(own), german(own)):
        texts = list(texts_of_averages(other))
        assert texts and not any("paper" in text for text in texts)


def texts_of_probes(result: Any) -> Iterator[str]:
    for *_, note in probes_cards(result):
        yield note
    yield from scores_table(result).table.columns
    yield scores_table(result).note
    yield probes_figure.latex(result)
    for trace in probes_figure.paper_figure(result).data:
        yield trace.name


def test_table_3(results):
    own = results["probes"]
    assert sum("paper" in text.lower() for text in texts_of_probes(own)) == 7
    for other in (causal(own), in_other_trees(own)):
        assert not any("paper" in text.lower() for text in texts_of_probes(other))
        assert [name for name, *_ in probes_cards(other)] == [name for name, *_ in probes_cards(own)]


def of_documents(counts: Any, name: str) -> Any:
    """The same numbers, of documents of this name."""
    documents = [document | {"name": name} for document in counts.stored.first_documents]
    return replace(counts, stored=replace(counts.stored, first_documents=documents))


def texts_of_coreference(counts: Any) -> Iterator[str]:
    choice = DirectedHead(0, Head(0, 0))
    table = systems_table(counts, choice)
    yield from (table.title, table.note)
    for *_, note in coreference_cards(counts, "all", choice):
        yield note


def test_table_2(results):
    counts = results["coreference_heads"].default_view()
    assert counts.provenance["format"] == "CoNLL-2012" and counts.counts_as_paper, "English, of an encoder"
    assert not any("paper" in text for text in texts_of_coreference(counts))
    papers = of_documents(counts, "nw/wsj/24/wsj_2400")
    assert sum("paper" in text for text in texts_of_coreference(papers)) > 5
    for other in ("CorefUD", "LitBank"):
        elsewhere = replace(papers, provenance=papers.provenance | {"format": other})
        assert not any("paper" in text for text in texts_of_coreference(elsewhere))
