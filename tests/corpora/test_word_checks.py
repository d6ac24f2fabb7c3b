"""Files as people have them: placeholders, wordpieces, mark-up, records, line ends, bad rows and rarer formats."""

import io
import json
import zipfile

import pytest

from bertviz_core.analyses.base.reading_warnings import warnings_of
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.contents import describe
from bertviz_core.corpora.files import source_of
from bertviz_core.corpora.format_detection import kinds
from bertviz_core.corpora.readers import read_text
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.corpora.word_checks import COLUMNS, MARKUP, ODD
from bertviz_core.errors import InputError


def source(text: str, name: str = "given") -> Source:
    return from_bytes(text.encode(), name)


def tree(*words: str, relation: str = "dep", tag: str = "_", comment: str = "") -> str:
    """A sentence in ten columns; the first word governs the others."""
    rows = (f"{i}\t{w}\t_\t{tag}\t_\t_\t{int(i > 1)}\t{relation}\t_\t_\n" for i, w in enumerate(words, start=1))
    return comment + "".join(rows) + "\n"


def sentences(text: str) -> tuple[str, list[tuple[str, ...]], list[dict]]:
    bank = Treebank(source(text))
    skipped = Skipped()
    return bank.form.name, [sentence.words for sentence in bank.sentences(skipped)], skipped.to_json()


def paragraphs(text: str) -> tuple[list[tuple[int, str]], list[dict]]:
    skipped = Skipped()
    found = [(each.document, each.text) for each in read_text(source(text)).paragraphs(skipped)]
    return found, skipped.to_json()


SKELETON = "#begin document (a); part 000\n" + "".join(
    f"a 0 {i} [WORD] NN * - - - S * {chain}\n" for i, chain in enumerate(["(0)", "-", "(0)", "-"])
)


@pytest.mark.parametrize("text", [tree("_", "_", "_", tag="X") * 3, tree("____", "_", "__") * 2, SKELETON])
def test_a_file_without_words_is_refused_with_where_to_get_them(text):
    kind = kinds(source(text))[0]
    for each in (kind, "text"):
        with pytest.raises(InputError, match="has no words") as caught:
            describe(each, source(text))
        assert "README" in caught.value.hint and "LDC2013T19" in caught.value.hint


def test_sentences_without_words_are_skipped_and_a_line_of_underscores_is_kept():
    _, found, skipped = sentences(tree("Go", "there", "now") * 3 + tree("_", "_", "_") + tree("___"))
    assert found == [("Go", "there", "now")] * 3 + [("___",)]
    assert [(entry["count"], entry["unit"]) for entry in skipped] == [(1, "sentences")]


def test_wordpieces_are_put_together_or_refused():
    pieces = ["[CLS]", "Ann", "jump", "##ed", ".", "She", "fell", "[SEP]"]
    document = {"sentences": [pieces[:5], pieces[5:]], "clusters": [[[1, 1], [5, 5]], [[2, 3], [6, 6]]]}
    numbered = document | {"subtoken_map": [0, 0, 1, 1, 2, 3, 4, 4], "sentence_map": [0, 0, 0, 0, 0, 1, 1, 1]}
    (read,) = CoreferenceCorpus(source(json.dumps(numbered))).documents(Skipped())
    assert read.words == ("Ann", "jumped", ".", "She", "fell") and read.sentences == (0, 3)
    assert [(m.start, m.end, m.cluster) for m in read.mentions] == [(0, 1, 0), (1, 2, 1), (3, 4, 0), (4, 5, 1)]
    with pytest.raises(InputError, match="pieces of a tokenizer"):
        CoreferenceCorpus(source(json.dumps(document)))
    with pytest.raises(InputError, match="`subtoken_map` is not a list of a number for each of the 8"):
        list(CoreferenceCorpus(source(json.dumps(numbered | {"subtoken_map": [0]}))).documents(Skipped()))
    with pytest.raises(InputError, match="pieces of a tokenizer"):
        Treebank(source(tree("jump", "##ed")))
    with pytest.raises(InputError, match="pieces of a tokenizer"):
        read_text(source("She jump ##ed over it .\n"))


def test_json_lines_are_records_and_a_bad_one_costs_itself():
    text = '{"text": "One.", "id": 1}\n{"words": ["a", "b"]}\n{"text": null}\n{"tokens": ["x"]}\n{"text": "cut\n'
    skipped = Skipped()
    for name in ("x.jsonl", "x.json"):
        found = list(read_text(source(text, name)).records(skipped))
        assert [(each.form, each.value, each.line) for each in found] == [
            ("text", "One.", 1),
            ("words", ["a", "b"], 2),
            ("tokens", ["x"], 4),
        ]
    assert [(entry["count"], entry["where"][0]) for entry in skipped.to_json()] == [(2, "line 3"), (2, "line 5")]
    with pytest.raises(InputError, match="not JSON"):
        describe("text", source('{"text": "broken\n{"text": "too\n'))


def test_a_cr_ends_a_line_where_there_is_no_lf_and_nothing_else_does():
    assert paragraphs("One.\rTwo.\r\rThree.\r")[0] == [(0, "One."), (0, "Two."), (1, "Three.")]
    assert paragraphs("One\rstill.\nTwo.\n")[0] == [(0, "One\rstill."), (0, "Two.")]
    text = "One.\u2028Two.\x0bThree.\x85Four.\x0cFive."
    assert paragraphs(text)[0] == [(0, text)]
    for given in ("One.\rTwo.", text, "One.\r\nTwo.\n"):
        in_memory = read_text(source_of([given], "text")).paragraphs()
        assert [(each.document, each.text) for each in in_memory] == paragraphs(given)[0]


def test_tags_of_wikiextractor_end_documents_and_are_counted():
    text = '<doc id="1" title="A">\nA\n\nOne.\n\n</doc>\n<doc id="2" title="B">\nB\n</doc>\n'
    found, skipped = paragraphs(text)
    assert found == [(0, "A"), (0, "One."), (1, "B")]
    assert [entry["count"] for entry in skipped] == [4]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('<?xml version="1.0"?>\n<text>\n<p>The old mill stood.</p>\n</text>\n', "mark-up"),
        ("id,text,label\n1,The old mill stood.,yes\n2,A fox came out.,no\n", "a table"),
        ("1\tThe old mill stood.\n2\tA fox came out.\n", "a table"),
    ],
)
def test_markup_and_tables_are_counted_and_warned_of(text, kind):
    skipped = paragraphs(text)[1]
    assert kind in skipped[0]["reason"] and skipped[0]["count"] == text.count("\n")
    (warning,) = warnings_of({"skipped": skipped, "corpus": {"name": "x"}, "tokens": 9})
    assert "Save the text alone" in warning
    assert paragraphs("He said 1,000, or <i>more</i>, was fine.\nIt was.\nIt is.\n")[1] == []


def test_a_bad_row_costs_its_sentence_and_labels_like_parts_of_speech_are_labels():
    latin = tree("dixit", "et", relation="ADV").replace("\t0\tADV", "\t0\tPRED") * 5
    name, found, skipped = sentences(latin + latin.replace("1\t", "\t", 1))
    assert (name, len(found)) == ("CoNLL-X", 9) and skipped[0]["count"] == 1
    assert [entry["count"] for entry in paragraphs(latin + latin.replace("1\t", "\t", 1))[1]] == [1]
    name, found, skipped = sentences(tree("a", "b", relation="OBJ", tag="n", comment="# sent_id = 1\n") * 3 + latin)
    assert (len(found), skipped) == (8, [])


def test_a_large_share_of_skipped_sentences_is_a_warning():
    entry = {"reason": "more than one root", "count": 5, "where": ["line 3"], "unit": "sentences"}
    provenance = {"skipped": [entry], "corpus": {"name": "x"}, "sentences": 10, "tokens": 9}
    assert warnings_of(provenance) == []
    (warning,) = warnings_of(provenance | {"sentences": 9})
    assert "5 of 14 sentences of x (36%) were skipped" in warning
    assert "Most often: more than one root, first at line 3. Correct the file" in warning


def test_mark_up_that_is_read_as_words_is_a_warning_that_names_its_first_line():
    entry = {"reason": ODD[MARKUP], "count": 1200, "where": ["line 4", "line 6"]}
    (warning,) = warnings_of({"skipped": [entry], "corpus": {"name": "x"}, "segments": 9, "tokens": 9})
    assert warning.startswith("1,200 lines of x look like mark-up, with tags that are read as words, first at line 4. ")
    assert "Save the text alone" in warning and "`" not in warning  # a page would show it


def test_a_comment_that_a_line_break_cut_is_read():
    text = tree("Go", "there", comment="# text = Go\nthere . Now\n# sent_id = 0\n") + tree(
        "It", "is", comment="# text = It is\n"
    )
    assert paragraphs(text)[0] == [(0, "Go there . Now"), (0, "It is")]
    assert sentences(text)[1:] == ([("Go", "there"), ("It", "is")], [])


TAGGED = "He\tPRP\t2\nsat\tVBD\t0\n\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("# global.columns = ID FORM HEAD DEPREL X\n1\tHe\t2\tnsubj\t*\n2\tsat\t0\troot\t*\n", "CoNLL-U Plus"),
        (
            "1\tHe\the\the\tP\tP\t_\t_\t2\t2\tSBJ\tSBJ\t_\t_\n2\tsat\tsit\tsit\tV\tV\t_\t_\t0\t0\tROOT\tROOT\tY\tx\n",
            "CoNLL-2009",
        ),
        (TAGGED, "word tag head"),
        (TAGGED.replace("\t", " "), "word tag head"),
        (TAGGED.replace("2\n", "2\tnsubj\n").replace("0\n", "0\troot\n"), "word tag head"),
    ],
)
def test_rarer_treebanks(text, name):
    assert kinds(source(text)) == ("treebank", "text")
    (sentence,) = Treebank(source(text)).sentences(Skipped())
    assert Treebank(source(text)).form.name == name
    assert (sentence.words, sentence.governors) == (("He", "sat"), (2, 0))
    assert paragraphs(text)[0] == [(0, "He sat")]


def test_the_number_of_columns_is_true():
    with pytest.raises(InputError, match="11 columns between tabs") as caught:
        Treebank(source(tree("He", "sat").replace("_\n", "_\t*\n")))
    assert "global.columns" in caught.value.hint
    with pytest.raises(InputError, match="does not name HEAD"):
        Treebank(source("# global.columns = ID FORM DEPREL\n1\tHe\troot\n"))


def test_preco_and_semeval():
    preco = {"id": "p", "sentences": [["Ann", "slept"], ["The", "girl", "woke"]]}
    clusters = {"mention_clusters": [[[0, 0, 1], [1, 0, 2]]]}
    (read,) = CoreferenceCorpus(source(json.dumps(preco | clusters))).documents(Skipped())
    assert read.name == "p" and [(m.start, m.end) for m in read.mentions] == [(0, 1), (2, 4)]
    with pytest.raises(InputError, match="neither `clusters` nor `mention_clusters`; it has id, sentences"):
        list(CoreferenceCorpus(source(json.dumps(preco))).documents(Skipped()))
    row = "{}\t{}\tx\tx\tN\tN\t_\t_\t{}\t_\tx\tx\t_\t_\t{}\n"
    semeval = "#begin document 7\n" + row.format(1, "Ann", 2, "(1)") + row.format(2, "ran", 0, "_") + "\n"
    semeval += row.format(1, "She", 2, "(1)") + row.format(2, "won", 0, "_") + "#end document\n"
    assert kinds(source(semeval)) == ("treebank", "coreference", "text")
    (read,) = CoreferenceCorpus(source(semeval)).documents(Skipped())
    assert (read.name, read.words) == ("7", ("Ann", "ran", "She", "won")) and read.governors == (1, -1, 3, -1)


def test_a_treebank_with_chains_is_read_as_either():
    text = "# global.Entity = eid\n1\tAnn\t_\tX\t_\t_\t2\tdep\t_\tEntity=(e1)\n2\tsaw\t_\tX\t_\t_\t0\troot\t_\t_\n"
    text += "3\therself\t_\tX\t_\t_\t2\tdep\t_\tEntity=(e1)\n"
    assert kinds(source(text)) == ("treebank", "coreference", "text")
    describe("treebank", source(text))
    describe("coreference", source(text))


def zipped(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_", "."), text)
    return packed.getvalue()


def test_archives_name_what_is_left_out_and_where_an_error_is():
    assert from_bytes(zipped(a_conllu=tree("a"), b_conllu=tree("b"), c_txt="c"), "x.zip").left_out() == ["x.zip: c.txt"]
    with pytest.raises(InputError, match="The zip is empty"):
        list(from_bytes(zipped(), "x.zip").lines())
    archive = from_bytes(zipped(a_jsonl="", b_jsonl='\n{"sentences": 1}\n'), "x.zip")
    with pytest.raises(InputError) as caught:
        list(CoreferenceCorpus(archive).documents(Skipped()))
    assert caught.value.where == "x.zip: b.jsonl, line 2"


LITBANK = "MENTION\tT0\t0\t0\t0\t1\tAnn Lee\tPROP\tPER\nMENTION\tT1\t1\t0\t1\t0\tshe\tPRON\tPER\nCOREF\tT0\tAnn_Lee-1\n"
BRAT = "T1\tPER 0 3\tAnn\nT2\tPER 10 13\tshe\nR1\tCoref Arg1:T2 Arg2:T1\n"
XML = '<?xml version="1.0"?>\n'
MMAX_WORDS = f'{XML}<!DOCTYPE words SYSTEM "words.dtd">\n<words>\n<word id="word_1">Ann</word>\n</words>\n'
MMAX = f'{XML}<markables xmlns="www.eml.org/NameSpaces/coref">\n<markable id="m1" span="word_1"/>\n</markables>\n'


@pytest.mark.parametrize(
    ("text", "what"), [(LITBANK, "LitBank"), (BRAT, "brat"), (MMAX, "MMAX2"), (MMAX_WORDS, "MMAX2")]
)
@pytest.mark.parametrize("kind", ["text", "coreference"])
def test_annotation_apart_from_its_text_is_named_with_what_to_give(text, what, kind):
    with pytest.raises(InputError, match=what) as caught:
        describe(kind, from_bytes(text.encode(), "given"))
    assert "in columns" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("( (S (NP (DT The) (NN cat))\n     (VP (VBD sat))\n     (. .)) )\n", "in brackets"),
        ("(ROOT\n  (S\n    (NP (PRP It))\n    (VP (VBD slept))\n    (. .)))\n", "in brackets"),
        ("det(cat-2, The-1)\nnsubj:pass(seen-4, cat-2)\nroot(ROOT-0, seen-4)\n", "Stanford parser"),
    ],
)
@pytest.mark.parametrize("kind", ["text", "treebank"])
def test_parses_in_brackets_or_triples_are_refused_with_what_to_give(text, what, kind):
    with pytest.raises(InputError, match=what) as caught:
        describe(kind, from_bytes(text.encode(), "given"))
    assert "CoNLL-U" in caught.value.hint
    describe("text", from_bytes(b"(The cat) sat.\nNASA (see below) wrote.\n(NASA said) so.\n", "given"))


@pytest.mark.parametrize("lines", [True, False])
def test_records_of_wordpieces_as_words_are_refused(lines):
    records = [json.dumps({"words": ["the", "un", "##related", "cat", "bark", "##ed"]})] * 3
    text = "\n".join(records) if lines else f"[{', '.join(records)}]"
    with pytest.raises(InputError, match="pieces of a tokenizer") as caught:
        describe("text", from_bytes(text.encode(), "given.json"))
    assert "##related" in caught.value.what and '"tokens"' in caught.value.hint
    describe("text", from_bytes(text.replace("words", "tokens").encode(), "given.json"))
    describe("text", from_bytes(text.replace("##", "").encode(), "given.json"))


def test_lines_of_one_word_are_counted_where_they_are_many():
    column = "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\ncalls\n. . O O\n\n" * 5
    _, (entry,) = paragraphs(column)
    assert (entry["reason"], entry["count"]) == (ODD[COLUMNS], 20)
    (warning,) = warnings_of({"skipped": [entry], "corpus": {"name": "x"}, "segments": 9, "tokens": 9})
    assert warning.startswith(
        "20 lines of x look like columns, or words with their tags, that are read as words, first at"
    )
    (entry,) = paragraphs("The/at jury/nn said/vbd ./.\n" * 20)[1]
    assert entry["count"] == 20
    assert paragraphs("cat\ndog\n")[1] == paragraphs("Yes.\nNo!\n\\\\par{Why}\nEither and/or both.\n" * 20)[1] == []
    # These scripts put no spaces between words.
    assert paragraphs("我喜欢狗。\n" * 30)[1] == paragraphs("ฉันชอบหมา\n" * 30)[1] == []
    assert paragraphs("The cat sat on the mat, O\nIt slept.\n" + "It was very warm there.\n" * 30)[1] == []
