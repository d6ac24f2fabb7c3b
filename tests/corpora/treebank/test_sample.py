"""The sample treebank that ships: valid trees, enough of them, and every relation of Table 1 often enough."""

from __future__ import annotations

from collections import Counter

import pytest

from bertviz_core import paper
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.formats import CONLLU
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.treebank.conll import UNIVERSAL_RELATIONS, UNIVERSAL_TAGS
from bertviz_core.corpora.treebank.trees import Sentence, function_heads


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    skipped = Skipped()
    bank = Treebank(sample(next(iter(SAMPLES["treebank"]))))
    read = list(bank.sentences(skipped))
    assert (bank.form.name, skipped.to_json()) == (CONLLU, [])
    return read


def test_there_are_enough_sentences_of_varied_length(sentences):
    lengths = [len(sentence) for sentence in sentences]
    assert len(sentences) >= 120
    assert min(lengths) <= 4 and max(lengths) >= 25
    assert len({sentence.words for sentence in sentences}) == len(sentences)


def test_every_relation_is_universal_and_the_root_is_called_root(sentences):
    for sentence in sentences:
        for governor, relation in zip(sentence.governors, sentence.relations, strict=True):
            assert relation.split(":")[0] in UNIVERSAL_RELATIONS, sentence.where
            assert (governor == 0) == (relation == "root"), sentence.where


def test_columns_are_whole(sentences):
    source = sample(next(iter(SAMPLES["treebank"])))
    rows = [text.split("\t") for _, text in source.lines() if text.strip() and not text.startswith("#")]
    assert {len(row) for row in rows} == {10}
    assert {row[3] for row in rows} <= UNIVERSAL_TAGS
    assert all(all(cell.strip() == cell and cell for cell in row) for row in rows)


def test_the_text_comment_is_the_sentence():
    source = sample(next(iter(SAMPLES["treebank"])))
    blocks = "\n".join(text for _, text in source.lines()).strip().split("\n\n")
    for block in blocks:
        text = next(line.removeprefix("# text = ") for line in block.splitlines() if line.startswith("# text = "))
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        spaced = "".join(row[1] + ("" if "SpaceAfter=No" in row[9] else " ") for row in rows)
        assert spaced.strip() == text


def test_every_relation_of_table_1_occurs_at_least_eight_times_under_the_function_head_view(sentences):
    counted = Counter(relation for sentence in sentences for relation in function_heads(sentence).relations)
    rare = {relation: counted[relation] for relation in paper.TABLE_1 if relation != "all" and counted[relation] < 8}
    assert not rare
