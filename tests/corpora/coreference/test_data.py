"""Real corpora, where they lie beside the project: the documented counts, and two forms of one corpus agree."""

from __future__ import annotations

import lzma
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from bertviz_core.corpora.annotated import CoreferenceCorpus
from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import from_bytes, from_path

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "coref"

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the data for development is not here")


def members(name: str) -> list[tuple[str, bytes]]:
    with lzma.open(DATA / name) as packed, tarfile.open(fileobj=packed) as archive:
        return [(entry.name, archive.extractfile(entry).read()) for entry in archive.getmembers() if entry.isfile()]


def counts(sources) -> tuple[Counter, Counter, set[str]]:
    """(documents, sentences, words, mentions, chains), what was left out, formats."""
    total, skipped, formats = Counter(), Skipped(), set()
    for source in sources:
        corpus = CoreferenceCorpus(source)
        formats.add(corpus.form.name)
        for document in corpus.documents(skipped):
            total["documents"] += 1
            total["sentences"] += len(document.sentences)
            total["words"] += len(document.words)
            total["mentions"] += len(document.mentions)
            total["chains"] += len({mention.cluster for mention in document.mentions})
    return total, Counter({k: v["count"] for k, v in skipped.reasons.items()}), formats


def packed(name: str):
    return [from_bytes(data, member) for member, data in members(name)]


def test_litbank():
    total, lost, formats = counts(packed("litbank/litbank-coref-conll-shared.tar.xz"))
    assert formats == {"LitBank"} and not lost
    assert total == {"documents": 50, "sentences": 4518, "words": 106518, "mentions": 14741, "chains": 4072}


def test_ontogum_in_conll_and_in_jsonlines():
    for name, kind in (("v4_gold_conll", "CoNLL-2012"), ("jsonlines", "jsonlines")):
        total, lost, formats = counts([from_path(DATA / f"ontogum/derived/ontogum-dev.{name}.xz")])
        assert formats == {kind} and not lost
        assert total == {"documents": 30, "sentences": 1575, "words": 28119, "mentions": 3818, "chains": 857}


def partition(document: CoreferenceDocument) -> set[frozenset[tuple[int, int]]]:
    """The chains as sets of spans, whatever their names."""
    chains: dict[int, list[tuple[int, int]]] = {}
    for mention in document.mentions:
        chains.setdefault(mention.cluster, []).append((mention.start, mention.end))
    return {frozenset(chain) for chain in chains.values()}


def test_ontogum_chains_are_the_same_in_corefud_and_in_three_columns():
    columns = {name.split("/")[-1]: data for name, data in members("ontogum/ontogum-conll-train+dev.tar.xz")}
    checked = 0
    for name, data in members("ontogum/ontogum-conllu-train+dev.tar.xz")[::4]:
        pair = (data, columns[name.split("/")[-1].replace(".conllu", ".conll")])
        corpora = [CoreferenceCorpus(from_bytes(each, name)) for each in pair]
        (tree,), (flat,) = (list(corpus.documents(Skipped())) for corpus in corpora)
        assert [corpus.form.name for corpus in corpora] == ["CorefUD", "3 columns (index, token, chains)"]
        assert tree.governors is not None and partition(tree) == partition(flat), name
        checked += len(tree.mentions)
    assert checked > 6000


def test_the_scorers_test_cases_with_words_are_read():
    sources = [from_bytes(data, name) for name, data in members("conll-scorer-testcases/testcases.tar.xz")]
    total, lost, formats = counts([source for source in sources if len(_first_row(source).split()) != 2])
    assert formats == {"5 columns"} and total["documents"] > 5
    assert set(lost) <= {"a mention given twice (read once)"}


def _first_row(source) -> str:
    return next(text for _, text in source.lines() if text.strip() and not text.startswith("#"))


@pytest.mark.parametrize(("name", "rows"), [("development", 2000), ("validation", 454)])
def test_gap(name, rows):
    total, lost, formats = counts([from_path(DATA / f"gap/gap-{name}.tsv.xz")])
    assert formats == {"GAP"} and not lost and (total["documents"], total["mentions"]) == (rows, 3 * rows)


def test_winobias():
    total, _, formats = counts(packed("winobias/winobias-conll2012-dev.tar.xz"))
    assert formats == {"CoNLL-2012"} and (total["documents"], total["sentences"]) == (1584, 1584)
