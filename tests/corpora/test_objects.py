"""Objects of other libraries are the file with the same content. What needs the libraries themselves is skipped without
them; the rest has small objects with the same attributes."""

import gc
import io
import json
import tracemalloc
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import conllu
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.corpora import Skipped, temporary
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.files import source_of
from bertviz_core.corpora.format_detection import kinds
from bertviz_core.corpora.readers import TextCorpus, is_surely_prose, read_text
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import InputError

WORDS = ["Ann", "sat", "\n", ".", "She", "slept"]
HEADS = [1, 1, 1, 1, 5, 5]
DEPS = ["nsubj", "ROOT", "dep", "punct", "nsubj", "ROOT"]
POS = ["PROPN", "VERB", "SPACE", "PUNCT", "PRON", "VERB"]
CONLLU = """# newdoc
# text = Ann sat .
1\tAnn\t_\tPROPN\t_\t_\t2\tnsubj\t_\t_
2\tsat\t_\tVERB\t_\t_\t0\tROOT\t_\t_
3\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_

# text = She slept
1\tShe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tslept\t_\tVERB\t_\t_\t0\tROOT\t_\t_

"""
LINES = "Ann sat .\nShe slept\n\n"
CHAINS = '{"sentences": [["Ann", "sat", "."], ["She", "slept"]], "clusters": [[[0, 0], [3, 3]]]}\n'


class Token(SimpleNamespace):
    """A token of a spaCy Doc."""

    @property
    def head(self):
        return self.doc[HEADS[self.i]]

    @property
    def is_space(self) -> bool:
        return self.text.isspace()


class Tokens(list):
    start, end = 0, 0

    @property
    def text(self) -> str:
        return " ".join(token.text for token in self)


class Doc(Tokens):
    """What is read of a spaCy Doc."""

    def __init__(self, annotation=("DEP", "SENT_START")) -> None:
        columns = enumerate(zip(WORDS, DEPS, POS, strict=True))
        super().__init__(Token(doc=self, i=i, text=text, dep_=dep, pos_=pos) for i, (text, dep, pos) in columns)
        self.annotation = annotation
        self.spans = {"coref_clusters_1": [SimpleNamespace(start=0, end=1), SimpleNamespace(start=4, end=5)], "x": []}

    def has_annotation(self, name: str) -> bool:
        return name in self.annotation

    @property
    def sents(self):
        if not self.has_annotation("SENT_START"):
            raise ValueError("sentence boundaries unset")
        return iter([Tokens(self[:4]), Tokens(self[4:])])


@dataclass
class StanzaWord:
    text: str
    upos: str
    head: int | None
    deprel: str | None


@dataclass
class StanzaDocument:
    """What is read of a Stanza Document, which is not iterable."""

    has_trees: bool = True
    sentences: list = field(default_factory=list)
    num_words: int = 5

    def __post_init__(self) -> None:
        for rows in conllu.parse(CONLLU):
            kept = [(row["head"], row["deprel"]) if self.has_trees else (None, None) for row in rows]
            words = [StanzaWord(row["form"], row["upos"], *pair) for row, pair in zip(rows, kept, strict=True)]
            self.sentences.append(SimpleNamespace(text=None, words=words))
        zero = SimpleNamespace(sentence=1, start_word=(1, 1), end_word=(1, 1))
        mentions = [SimpleNamespace(sentence=n, start_word=0, end_word=1) for n in (0, 1)]
        self.coref = [SimpleNamespace(mentions=[*mentions, zero])]


def content(corpus, kind: str) -> str:
    with source_of(corpus, kind).opener() as stream:
        return stream.read().decode()


@pytest.mark.parametrize("make", [Doc, StanzaDocument])
def test_a_parsed_document_is_the_file_with_its_trees_its_text_or_its_chains(make, tmp_path: Path):
    for kind, expected in (("treebank", CONLLU), ("text", LINES), ("coreference", CHAINS)):
        path = tmp_path / kind
        path.write_text(expected * 2, encoding="utf-8")
        for corpus in ([make(), make()], (make() for _ in range(2))):
            source = source_of(corpus, kind)
            assert source.digest == source_of(path, kind).digest and source.name == "2 documents in memory"
        assert content(make(), kind) == expected  # by itself
    trees = list(Treebank(source_of([make(), make()], "treebank")).sentences(Skipped()))
    assert [tree.governors for tree in trees] == [(2, 0, 2), (2, 0)] * 2 and trees[-1].document == 1
    (document,) = CoreferenceCorpus(source_of(make(), "coreference")).documents(Skipped())
    assert [(mention.start, mention.cluster) for mention in document.mentions] == [(0, 0), (3, 0)]


@pytest.mark.parametrize(("document", "name"), [(Doc(()), "Doc"), (StanzaDocument(has_trees=False), "Document")])
def test_a_document_without_a_parse_is_refused_with_its_number_and_what_to_do(document, name: str):
    with pytest.raises(InputError, match=f"^entry 2: This {name} has no dependency parse. Run a pipeline"):
        source_of([Doc(), document], "treebank")
    assert content(document, "text").split() == LINES.split()


def test_trees_of_which_none_has_a_governor_are_refused_and_one_among_others_is_skipped():
    empty, whole = (["a", "b"], [None, None], ["x", "y"]), (["a", "b"], [2, 0], ["det", "root"])
    record = dict(zip(("words", "head", "deprel"), empty, strict=True))
    for corpus in ([empty], [empty, empty], [record]):
        with pytest.raises(InputError, match="Entry 1 has no governor"):
            source_of(corpus, "treebank")
    skipped = Skipped()
    assert len(list(Treebank(source_of([empty, whole], "treebank")).sentences(skipped))) == 1
    assert [each["count"] for each in skipped.to_json()] == [1]


def test_a_governor_in_another_sentence_costs_its_sentence():
    doc = Doc()
    doc[5] = Token(doc=doc, i=5, text="slept", dep_="conj", pos_="VERB")
    skipped = Skipped()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{__name__}.HEADS", [*HEADS[:5], 1])
        read = list(Treebank(source_of(doc, "treebank")).sentences(skipped))
    assert [sentence.words for sentence in read] == [("Ann", "sat", ".")]
    assert [entry["count"] for entry in skipped.to_json()] == [1] and "beyond" in skipped.to_json()[0]["reason"]


@pytest.mark.parametrize("kind", ["treebank", "text", "coreference"])
def test_sentences_of_conllu_are_their_file(kind: str, tmp_path: Path):
    path = tmp_path / "x.conllu"
    path.write_text(CONLLU.replace("nsubj\t_\t_", "nsubj\t_\tEntity=(e1)"), encoding="utf-8")
    digest = source_of(path, kind).digest
    text = path.read_text()
    for corpus in (conllu.parse(text), conllu.parse_incr(io.StringIO(text)), conllu.parse_tree(text)):
        assert source_of(corpus, kind).digest == digest
    (first, _) = conllu.parse(text)
    assert source_of(first, kind).name == "1 sentence in memory"  # its tokens are dicts, but no records


def test_a_column_of_texts_or_of_words_is_a_list_of_them():
    texts, words = ["One.", "Two."], [["One", "."], ["Two"]]
    frame = pd.DataFrame({"review": texts, "tokens": words, "when": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    for column in (frame["review"], frame["review"].to_numpy(), iter(texts), (text for text in texts)):
        assert source_of(column, "text").digest == source_of(texts, "text").digest
    arrays = pd.Series([np.array(each, dtype=object) for each in words])  # as pandas reads Parquet
    for column in (frame["tokens"], words, arrays, iter(words)):
        source = source_of(column, "text")
        assert source.digest == source_of([{"words": each} for each in words], "text").digest
        assert [record.value for record in read_text(source).records()] == words
    records = [{"text": "One.", "when": "2020-01-01T00:00:00"}, {"text": "Two.", "when": "2020-01-02T00:00:00"}]
    renamed = frame.rename(columns={"review": "text"})[["text", "when"]]
    assert source_of(renamed, "text").digest == source_of(records, "text").digest


def test_a_table_of_arrow_is_its_rows():
    pyarrow = pytest.importorskip("pyarrow")
    rows = [{"words": ["One", "."], "id": 1}, {"words": ["Two"], "id": 2}]
    assert source_of(pyarrow.Table.from_pylist(rows), "text").digest == source_of(rows, "text").digest


def test_a_table_with_trees_is_a_treebank_without_its_rows_of_multiword_tokens():
    rows = [
        {"tokens": ["He", "sat"], "head": ["2", "0"], "deprel": ["nsubj", "root"]},
        {"tokens": ["He", "slept"], "head": np.array([2, 0]), "deprel": ["nsubj", "root"]},
        {"tokens": ["du", "de", "le"], "head": ["None", "0", "1"], "deprel": ["_", "root", "det"]},
    ]
    trees = [(row["tokens"], [2, 0], row["deprel"]) for row in rows[:2]]
    for corpus in (rows[:2], pd.DataFrame(rows[:2]), iter(rows[:2])):
        assert source_of(corpus, "treebank").digest == source_of(trees, "treebank").digest
    skipped = Skipped()
    *_, third = Treebank(source_of(rows, "treebank")).sentences(skipped)
    assert (third.words, third.governors, skipped.to_json()) == (("de", "le"), (0, 1), [])
    rows[2]["upos"] = ["ADP", "ADP", "DET"]  # A word without a governor is no multi-word token.
    assert len(list(Treebank(source_of(rows, "treebank")).sentences(skipped))) == 2
    assert skipped.to_json()[0]["count"] == 1


def test_a_list_of_texts_is_text_whatever_its_entries_look_like(tmp_path):
    entries = ['{"text": "a cat"}', '[{"text": "x"}]', "<html><p>A cat.</p></html>", "1\tHe\t(1)", "<doc>", "</doc>"]
    for texts in [*([entry] for entry in entries), entries, entries[:1] * 3, ["He 2-nsubj\nsat 0-root"] * 2]:
        source = source_of(texts, "text")
        corpus = read_text(source)
        assert [p.text for p in corpus.paragraphs()] == [line for text in texts for line in text.split("\n")]
        path = tmp_path / "same.txt"
        path.write_text("".join(f"{text}\n\n" for text in texts))
        is_alike = texts in (["<doc>"], ["</doc>"])  # as a line alone these are text in a file too
        assert (source_of(path, "text").digest == source.digest) == is_alike
    tree = "1\tHe\the\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsat\tsit\tVERB\t_\t_\t0\troot\t_\t_"
    assert kinds(source_of([tree], "treebank"))[0] == "treebank"


@given(st.lists(st.text(st.sampled_from("ab1-([{<#\t \n_*)0"), max_size=40), min_size=1, max_size=3))
def test_what_is_surely_prose_is_text_in_a_file_too(texts):
    text = "".join(f"{text}\n" for text in texts)
    if is_surely_prose(text) and text.strip():
        assert type(read_text(from_bytes(text.encode(), "a"))) is TextCorpus


MISSING = [None, float("nan"), pd.NA, np.float32("nan")]


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_words_and_relations_that_are_missing_are_refused_with_their_entry(value):
    good = (["He", "sat"], [2, 0], ["nsubj", "root"])
    for bad in ([value, "sat"], [2, 0], ["nsubj", "root"]), (["He", "sat"], [2, 0], ["nsubj", value]):
        records = [dict(zip(("words", "head", "deprel"), tree, strict=True)) for tree in (good, bad)]
        for corpus in ([good, bad], records, pd.DataFrame(records)):
            with pytest.raises(InputError, match=r"Entry 2 has a (word|relation) that is missing"):
                source_of(corpus, "treebank")
    with pytest.raises(InputError, match="Entry 2"):
        source_of(pd.DataFrame([records[0], {"words": value, "head": [0], "deprel": ["root"]}]), "treebank")
    named = (["None", "saw", "Ann", "nan", "here"], [2, 0, 2, 3, 2], ["nsubj", "root", "obj", "flat", "advmod"])
    (sentence,) = Treebank(source_of([named], "treebank")).sentences(Skipped())
    assert sentence.words == ("None", "saw", "Ann", "nan", "here")


class ArrowScalar:
    """A value of Arrow: no string, but it has one."""

    def __init__(self, value):
        self.as_py = lambda: value


class Frame:
    """What a DataFrame of polars has of use."""

    columns = ("text", "number")

    def iter_rows(self):
        return iter([("The cat sat .", 1), ("It slept .", 2)])


class LazyFrame(Frame):
    def collect(self): ...

    def collect_schema(self): ...


class Formatted:
    """A Dataset that is formatted as Arrow: its rows are tables until the format is taken off."""

    column_names = ("text",)

    def __init__(self, rows=()):
        self.rows = rows

    def with_format(self, name):
        return Formatted([{"text": "The cat sat ."}])

    def __iter__(self):
        return iter(self.rows)


def test_frames_of_polars_values_of_arrow_and_formatted_datasets_are_read():
    texts = ["The cat sat .", "It slept ."]
    assert source_of([ArrowScalar(text) for text in texts], "text").digest == source_of(texts, "text").digest
    assert [record.value for record in read_text(source_of(Frame(), "text")).records()] == texts
    assert [record.value for record in read_text(source_of(Formatted(), "text")).records()] == texts[:1]
    with pytest.raises(InputError, match=r"frame\.collect"):
        source_of(LazyFrame(), "text")


def test_lists_of_documents_say_what_to_do():
    with pytest.raises(InputError, match=r"Entry 1 is a list of texts.*Join the texts"):
        source_of([["The cat sat on it.", "It slept there long."]], "text")
    with pytest.raises(InputError, match="Entry 1 is a list of sentences"):
        source_of([[["The", "cat"], ["It", "slept"]]], "text")
    assert "10 000" in content([["10 000", "học sinh"]], "text")


def test_lists_without_words_are_left_out_and_none_but_those_is_an_error():
    assert content([[], ["a"], []], "text") == '[{"words": ["a"]}]'
    with pytest.raises(InputError, match="empty"):
        list(read_text(source_of([[], []], "text")).records())


@pytest.mark.parametrize(
    ("corpus", "kind", "message"),
    [
        (pd.DataFrame({"review": ["a"], "stars": [5]}), "text", r'columns review, stars; .*corpus=table\["review"\]'),
        (pd.DataFrame({"text": ["a"], "words": [["a"]]}), "text", "columns text, words; one of them must be"),
        (pd.DataFrame({"text": ["a"]}), "treebank", "The table has no dependency trees: it has text"),
        (pd.Series(["a", None]), "text", "Entry 2 has no value.*dropna"),
        (pd.Series(["a", pd.NA]), "text", "Entry 2 has no value"),
        ([["a", "b"]], "coreference", "Lists of words have no chains of mentions"),
        ([Doc(), "text"], "text", "first documents, in entry 2 texts"),
        (b"bytes", "text", "Entry 1, of type int"),
        ([(["He", "sat"], [2.7, 0], ["nsubj", "root"])], "treebank", "Entry 1 is not"),
        ([{"tokens": ["He", "sat"], "head": ["2", "0"], "deprel": [3, 7]}], "treebank", "a number, 3, as a relation"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_do(corpus, kind: str, message: str):
    with pytest.raises(InputError, match=message) as caught:
        source_of(corpus, kind)
    assert caught.value.hint


def test_an_iterator_is_read_once_and_only_its_file_grows(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(temporary, "IN_MEMORY", 1 << 16)
    monkeypatch.setattr(temporary.tempfile, "tempdir", str(tmp_path))
    texts = (f"{number} " * 1000 for number in range(1000))
    tracemalloc.start()
    source = source_of(texts, "text")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert next(texts, None) is None and source.size > 3_000_000 and peak < 1_000_000
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size == source.size
    for _ in range(2):  # every analysis reads it again
        assert sum(1 for _, line in source.lines() if line) == 1000
    monkeypatch.setattr(temporary, "IN_MEMORY", 1 << 30)
    assert source_of([f"{number} " * 1000 for number in range(1000)], "text").digest == source.digest
    assert len(list(tmp_path.iterdir())) == 1
    del source
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_disk_without_room_is_named(monkeypatch):
    monkeypatch.setattr(temporary, "IN_MEMORY", 1)
    monkeypatch.setattr(temporary.TemporaryFile, "__init__", lambda self: setattr(self, "path", Path("/dev/full")))
    with pytest.raises(InputError, match=r"cannot be written.*No space left.*TMPDIR"):
        source_of(["some text"], "text")


def test_spacy():
    spacy = pytest.importorskip("spacy")
    vocab = spacy.blank("en").vocab
    doc = spacy.tokens.Doc(vocab, words=WORDS, heads=HEADS, deps=DEPS, pos=POS)
    doc.spans["coref_clusters_1"] = [doc[:1], doc[4:5]]
    for kind, expected in (("treebank", CONLLU), ("text", LINES), ("coreference", CHAINS)):
        assert content(doc, kind) == expected
        assert content(iter([doc, doc]), kind) == expected * 2
    assert content(doc.sents, "text") == "Ann sat .\n\nShe slept\n\n"  # each span is a document
    blank = spacy.blank("en")("Not divided.\nInto sentences.")
    assert content(blank, "text") == "Not divided.\nInto sentences.\n\n"
    with pytest.raises(InputError, match="This Doc has no dependency parse"):
        source_of(blank, "treebank")


def test_stanza():
    pytest.importorskip("stanza")
    from stanza.models.common.doc import Document
    from stanza.models.coref.coref_chain import CorefChain, CorefMention

    names = ("id", "form", "upos", "head", "deprel")
    sentences = [[{name: row[name] for name in names} for row in rows] for rows in conllu.parse(CONLLU)]
    for word in (word for sentence in sentences for word in sentence):
        word["text"] = word.pop("form")
    document = Document(sentences)
    document.coref = [CorefChain(0, [CorefMention(0, 0, 1), CorefMention(1, 0, 1)], "Ann", 0)]
    for kind, expected in (("treebank", CONLLU), ("text", LINES), ("coreference", CHAINS)):
        assert content(document, kind) == expected
        assert content([document, document], kind) == expected * 2
    with pytest.raises(InputError, match="This Document has no dependency parse"):
        source_of(Document([[{"id": 1, "text": "He"}, {"id": 2, "text": "sat"}]]), "treebank")


def test_datasets():
    datasets = pytest.importorskip("datasets")
    texts, words = ["One.", "Two."], [["One", "."], ["Two"]]
    data = datasets.Dataset.from_dict({"text": texts, "label": [0, 1]})
    listed = source_of([{"text": "One.", "label": 0}, {"text": "Two.", "label": 1}], "text").digest
    for table in (data, data.to_iterable_dataset(), data.to_pandas()):
        assert source_of(table, "text").digest == listed
    assert json.loads(content(data, "text")) == list(data)
    for column in (data["text"], data.to_iterable_dataset()["text"], data.with_format("numpy")["text"]):
        assert source_of(column, "text").digest == source_of(texts, "text").digest
    tokens = datasets.Dataset.from_dict({"tokens": words})
    for column in (tokens["tokens"], tokens.with_format("numpy")["tokens"], tokens.to_pandas()["tokens"]):
        assert source_of(column, "text").digest == source_of(words, "text").digest
    trees = datasets.Dataset.from_dict({"tokens": [["He", "sat"]], "head": [["2", "0"]], "deprel": [["nsubj", "root"]]})
    assert content(trees, "treebank") == "He 2-nsubj\nsat 0-root\n"
    with pytest.raises(InputError, match="one split of a DatasetDict"):
        source_of(datasets.DatasetDict({"train": data}), "text")
