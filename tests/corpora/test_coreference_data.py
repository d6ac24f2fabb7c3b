"""Real corpora, where they lie beside the project: the documented counts, and two forms of one corpus agree."""

import lzma
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import CoreferenceCorpus
from bertviz_core.corpora.coreference import CoreferenceDocument
from bertviz_core.corpora.source import from_bytes, from_path

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "coref"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.exists(), reason="the data for development is not here"),
]


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


NAMES = ("documents", "sentences", "words", "mentions", "chains")
PUBLISHED = {  # format and file -> documents, sentences, words, mentions, chains
    ("LitBank", "litbank/litbank-coref-conll-shared.tar.xz"): (50, 4518, 106518, 14741, 4072),
    ("CoNLL-2012", "ontogum/derived/ontogum-dev.v4_gold_conll.xz"): (30, 1575, 28119, 3818, 857),
    ("jsonlines", "ontogum/derived/ontogum-dev.jsonlines.xz"): (30, 1575, 28119, 3818, 857),
    ("GAP", "gap/gap-development.tsv.xz"): (2000, None, None, 6000, None),
    ("CoNLL-2012", "winobias/winobias-conll2012-dev.tar.xz"): (1584, 1584, None, None, None),
}


@pytest.mark.parametrize(("form", "file"), PUBLISHED)
def test_the_counts_of_the_publishers(form, file):
    packed = (
        (from_bytes(data, member) for member, data in members(file)) if ".tar" in file else [from_path(DATA / file)]
    )
    total, lost, formats = counts(packed)
    assert formats == {form} and ("winobias" in file or not lost)
    for name, count in zip(NAMES, PUBLISHED[form, file], strict=True):
        assert count in (None, total[name]), name


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
