"""Every coreference format is recognized and read right; what is broken names its line, what is lost is counted."""

import io
import json
import zipfile

import pytest

import bertviz_core as bv
from bertviz_core.corpora import ESCAPED, Skipped
from bertviz_core.corpora.annotated import BROKEN, CoreferenceCorpus
from bertviz_core.corpora.contents import describe
from bertviz_core.corpora.coreference import CoreferenceDocument
from bertviz_core.corpora.files import FOLDER
from bertviz_core.corpora.format_detection import join_files
from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.errors import InputError
from tests.support.bracketed import conll

LITBANK = "\t".join(["book", "0", "{}", "{}", *"________", "{}"])


def read(text: str) -> tuple[str, list[CoreferenceDocument], dict[str, int]]:
    corpus = CoreferenceCorpus(from_bytes(text.encode(), "given"))
    skipped = Skipped()
    documents = list(corpus.documents(skipped))
    return corpus.form.name, documents, {reason: entry["count"] for reason, entry in skipped.reasons.items()}


def spans(document: CoreferenceDocument) -> list[tuple[int, int, int]]:
    return [(mention.start, mention.end, mention.cluster) for mention in document.mentions]


def conllu(*entities: str, order: str = "eid-etype-head-other", ids: tuple[str, ...] = ()) -> str:
    ids = ids or tuple(str(i) for i in range(1, len(entities) + 1))
    rows = [
        "\t".join([i, f"w{i}", "_", "NOUN", "_", "_", "0" if i == "1" else "1", "_", "_", f"Entity={e}" if e else "_"])
        for i, e in zip(ids, entities, strict=True)
    ]
    return f"# newdoc id = d\n# global.Entity = {order}\n" + "\n".join(rows) + "\n"


def test_conll_2012_with_nested_mentions():
    kind, (document,), lost = read(conll("[1 [2 her ] ship ] sank / [2 Ann ] swam", tags={"her": "PRP$"}))
    assert (kind, lost) == ("CoNLL-2012", {})
    assert document.words == ("her", "ship", "sank", "Ann", "swam") and document.sentences == (0, 3)
    assert spans(document) == [(0, 2, 1), (0, 1, 0), (3, 4, 0)]  # outer before inner; chains as they close
    assert document.tags == ("PRP$", "-", "-", "-", "-") and document.governors is None and document.parse is None
    text = conll("[1 Ann ] swam / [1 she ] won").replace("Ann - -", "Ann NNP (TOP(S(NP*)")
    assert read(text)[1][0].parse[:2] == ("(TOP(S(NP*)", "-")


def test_litbank_has_thirteen_columns_and_empty_chains():
    rows = [LITBANK.format(i, word, chain) for i, (word, chain) in enumerate([("Ann", "(0)"), ("ran", ""), (".", "")])]
    kind, (document,), _ = read("#begin document (book); part 0\n" + "\n".join(rows) + "\n\n#end document\n")
    assert kind == "LitBank" and spans(document) == [(0, 1, 0)] and document.tags is None


def test_three_columns_with_typed_chains_and_sentences_from_full_stops():
    rows = ["0\tAnn\t(person-7-Ann)", "1\tran\t_", "2\t.\t_", "3\tThe\t(person-7-Ann(place-2"]
    rows += ["4\tend\tplace-2)person-7)"]
    kind, (document,), _ = read("# begin document X\n" + "\n".join(rows))
    assert kind.startswith("3 columns") and document.name == "X" and document.sentences == (0, 3)
    assert spans(document) == [(0, 1, 0), (3, 5, 1), (3, 5, 0)]


def test_five_columns():
    kind, (document,), _ = read("t\t0\t0\ta\t(1(3\nt\t0\t1\tb\t3)1)\t\nt\t0\t2\tc\t-")
    assert kind == "5 columns" and document.words == ("a", "b", "c") and spans(document) == [(0, 2, 0), (0, 2, 1)]


def test_crossing_mentions_and_mentions_of_one_chain_inside_each_other():
    rows = "t 0 0 a (1|(2\nt 0 1 b 1)\nt 0 2 c 2)|(3|(3\nt 0 3 d 3)\nt 0 4 e 3)"
    assert spans(read(rows)[1][0]) == [(0, 3, 1), (0, 2, 0), (2, 5, 2), (2, 4, 2)]


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ("t 0 0 a (1\nt 0 1 b (2\nt 0 2 c 2)", 1, "chain 1 that opens here never closes"),
        ("t 0 0 a (1)\nt 0 1 b 4)", 2, "Chain 4 is closed here"),
        ("t 0 0 a (1)\nt 0 1 b 4", 2, "'4' is not a list of chain brackets"),
        ("t 0 0 a (1)\nt 0 1 b ((4)", 2, "not a list of chain brackets"),
        (f"t 0 0 a (1)\nt 0 1 b {''.join(f'({chain})' for chain in range(101))}", 2, "begin at word 2"),
        ("t 0 0 a (1)\nt 0 b -", 2, "4 columns where the file has 5"),
    ],
)
def test_what_is_broken_names_its_line(rows, line, message):
    with pytest.raises(InputError, match=message) as caught:
        read(rows)
    assert caught.value.where == f"given, line {line}" and caught.value.hint


def test_a_mention_given_twice_is_read_once_and_counted():
    _, (document,), lost = read("t 0 0 a (1(1\nt 0 1 b 1)1)")
    assert spans(document) == [(0, 2, 0)] and lost == {"a mention given twice (read once)": 1}


def test_corefud_with_trees():
    kind, (document,), lost = read(conllu("(e1-person-1-(e2)", "e1)", "(e1)"))
    assert (kind, lost) == ("CorefUD", {}) and document.name == "d"
    assert spans(document) == [(0, 2, 1), (0, 1, 0), (2, 3, 1)]
    assert document.governors == (-1, 0, 0) and document.tags == ("NOUN",) * 3


def test_corefud_entities_are_found_where_the_declaration_says():
    order = "entity-GRP-infstat-MIN-coref_type-identity"
    text = conllu("(person-5-new-1-ana-Ann", "person-5)", "(person-5-giv-1-ana)", "(place-9-new-1)", order=order)
    assert spans(read(text)[1][0]) == [(0, 2, 0), (2, 3, 0), (3, 4, 1)]
    gum = conllu(
        "(12-person-giv:act-cf1-1,2-coref", "12)", "(12-person)", order="GRP-etype-infstat-centering-minspan-link"
    )
    assert spans(read(gum)[1][0]) == [(0, 2, 0), (2, 3, 0)]


def old_gum(*entities: str) -> str:
    """CoNLL-U without a header of entities."""
    return conllu(*entities).replace("# global.Entity = eid-etype-head-other\n", "")


def test_without_a_header_the_number_of_a_typed_entity_is_the_chain():
    text = old_gum("(person-1)", "(person-2)", "(place-3", "place-3)", "(person-1)", "(object-3)")
    assert spans(read(text)[1][0]) == [(0, 1, 0), (1, 2, 1), (2, 4, 2), (4, 5, 0), (5, 6, 2)]
    assert spans(read(old_gum("(e1)", "(e2)", "(e1)"))[1][0]) == [(0, 1, 0), (1, 2, 1), (2, 3, 0)]


def test_a_header_of_one_attribute_lets_chains_have_hyphens():
    text = conllu("(c-1", "c-1)", "(c-2)", "(c-1)", order="eid")
    assert spans(read(text)[1][0]) == [(0, 2, 0), (2, 3, 1), (3, 4, 0)]


HEADERS = "eid-etype-head-other"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (old_gum("(PER)", "(PER)(PER)", "(GPE", "GPE)"), "'PER' has no number of a chain: the file holds entities"),
        (old_gum("(person-Ann)", "(person-Ann)"), "holds entities, not chains"),
        (old_gum("(e1-person-2)", "(e1-person-2)"), "Nothing says which attribute of 'e1-person-2' is the chain"),
        (conllu("(person-Ann)", "(person)", order="etype-identity"), "names neither eid nor GRP"),
        (conllu("(e1-person-1-x-y)", "(e1)", order=HEADERS), "'e1-person-1-x-y' has too many attributes"),
        (conllu("(e-1-person)", "(e-1-person)", order=HEADERS), "'e-1-person' has no number as its head"),
        (conllu("(e", "e-1)", order=HEADERS), "'e-1' has too many attributes"),
        (conllu("(person)", "(person)", order="etype-eid"), "'person' has no eid"),
        (conllu("(-person)", "(-person)", order=HEADERS), "'-person' has no eid"),
        ("0\tAnn\t(PER)\n1\tsaw\t-\n2\tBob\t(PER)\n", "holds entities, not chains"),
    ],
)
def test_entities_that_are_no_chains_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        read(text)


def test_a_row_narrower_than_its_format_is_refused_with_its_line():
    wide = "\t".join(["1", "saw", *"_________________", "(1)"])
    with pytest.raises(InputError, match="line 1: The row has 3 columns; rows with a parse have at least 11"):
        read(f"0\tShe\t(1)\n{wide}\n")


def test_corefud_leaves_out_and_counts_discontinuous_mentions_and_zeros():
    _, (document,), lost = read(
        conllu("(e1[1/2]-x)", "(e3)", "(e1[2/2]-x)", "(e2)", "(e2)", ids=("1", "2", "3", "3.1", "4"))
    )
    assert document.words == ("w1", "w2", "w3", "w4") and spans(document) == [(1, 2, 0), (3, 4, 1)]
    assert lost == {"a discontinuous mention": 1, "a mention without a word of its own (a zero)": 1}


def test_corefud_multi_word_lines_are_no_words_and_documents_begin_at_newdoc():
    two = conllu("", "(e1)", "", ids=("1-2", "1", "2")) + "\n" + conllu("(e1", "e1)")
    first, second = read(two)[1]
    assert first.words == ("w1", "w2") and spans(second) == [(0, 2, 0)] and second.governors == (-1, 0)
    with pytest.raises(InputError, match="never closes") as caught:
        read(conllu("(e1", "") + "\n" + conllu("e1)"))
    assert caught.value.where == "given, line 3"
    _, documents, lost = read(conllu("(e1", "") + "\n" + conllu("(e1)", "(e1)") + "\n" + conllu("e1)"))
    assert [spans(document) for document in documents] == [[(0, 1, 0), (1, 2, 0)]] and lost == {BROKEN: 2}


@pytest.mark.parametrize("row", ["d 0 0 b 4)", "d 0 0 b (4", "d 0 b -", "d 0 0 b 4"])
def test_a_broken_document_costs_itself_where_a_line_begins_each(row):
    good = "#begin document (a); part 000\na 0 0 x (1)\na 0 1 y (1)\n#end document\n"
    broken = f"#begin document (d); part 000\nd 0 0 a (1\nd 0 1 a 1)\n{row}\n#end document\n"
    _, documents, lost = read(good + broken + good)
    assert [document.name for document in documents] == ["a", "a"] and [d.number for d in documents] == [0, 1]
    assert lost == {BROKEN: 1}


def test_jsonlines():
    value = {"doc_key": "k", "sentences": [["Ann", "ran"], ["She", "won"]], "clusters": [[[0, 0], [2, 2]]]}
    kind, (document,), _ = read(json.dumps(value) + "\n")
    assert kind == "jsonlines" and document.sentences == (0, 2) and spans(document) == [(0, 1, 0), (2, 3, 0)]
    wrong = "is not a span of the document's 4 words"
    shapes = dict.fromkeys(("3", "[3]", '{"a": 1}', '"ab"'), "not a list of lists of spans") | {"[[[3, 4]]]": wrong}
    for clusters, message in shapes.items():
        broken = json.dumps(value | {"clusters": json.loads(clusters)})
        with pytest.raises(InputError, match=message) as caught:
            read("\n" + broken)
        assert caught.value.where == "given, line 2"
        assert read(f"{json.dumps(value)}\n{broken}\n{json.dumps(value)}")[2] == {BROKEN: 1}
    with pytest.raises(InputError, match="not JSON"):
        read('{"sentences": [')
    with pytest.raises(InputError, match="list of lists"):
        read('{"sentences": ["Ann"]}')


def test_gap_words_are_cut_at_the_names():
    header = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL"
    text = "McAnn met Bo Day. She left."
    row = f"dev-1\t{text}\tShe\t18\tAnn\t2\tTRUE\tBo Day\t10\tFALSE\turl"
    kind, (document,), _ = read(f"{header}\n{row}\n")
    assert kind == "GAP" and document.name == "dev-1" and document.sentences == (0, 6)
    assert document.words == ("Mc", "Ann", "met", "Bo", "Day", ".", "She", "left", ".")
    assert spans(document) == [(1, 2, 0), (3, 5, 1), (6, 7, 0)]
    with pytest.raises(InputError, match="'She' is not at 19") as caught:
        read(f"{header}\n{row.replace('18', '19')}")
    assert caught.value.where == "given, line 2"
    _, documents, lost = read(f"{header}\n{row}\n{row.replace('18', '19')}\n{row}\ndev-4\ttext")
    assert len(documents) == 2 and lost == {BROKEN: 2}
    with pytest.raises(InputError, match="2 columns"):
        read(f"{header}\ndev-1\ttext")


TWO_COLUMNS = "#begin document (x); part 000\nx (1\nx 1)\nx -\nx (1)\n#end document"


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "plain words of a text", "a b c d", TWO_COLUMNS])
def test_other_files_are_refused(text):
    with pytest.raises(InputError) as caught:
        read(text)
    assert "CorefUD" in caught.value.hint


def test_the_sample_is_the_same_in_both_forms_and_rich_enough():
    """CC0 sample: 30 documents or more of 60 to 120 words or little over, equal words, tags' types and mentions."""
    forms = [CoreferenceCorpus(from_path(FOLDER / f"coreference.{ending}")) for ending in ("conll", "conllu")]
    skipped = Skipped()
    first, second = (list(form.documents(skipped)) for form in forms)
    assert [corpus.form.name for corpus in forms] == ["CoNLL-2012", "CorefUD"] and not skipped.reasons
    for one, other in zip(first, second, strict=True):
        assert (one.name, one.words, one.sentences) == (other.name, other.words, other.sentences)
        assert one.mentions == other.mentions
    assert len(first) >= 30 and all(60 <= len(document.words) <= 135 for document in first)


def test_an_upload_without_chains_is_refused_at_once():
    describe("coreference", from_bytes(conll("[1 a ] b [1 c ]").encode(), "given"))
    with pytest.raises(InputError, match="no chain of two mentions"):
        describe("coreference", from_bytes(conll("[1 a ] b [2 c ]").encode(), "given"))
    with pytest.raises(InputError, match="never closes"):
        describe("coreference", from_bytes(b"t 0 0 a (1)\nt 0 1 b (1)\nt 0 2 c (1", "given"))


def test_documents_without_markers_are_told_apart_by_name():
    text = conll("[1 a ] b", "[1 c ]")
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert [document.name for document in read(plain)[1]] == ["d0", "d1"]
    parts = read(text.replace("(d1); part 000", "(d1); part 002"))[1]
    assert [document.name for document in parts] == ["d0", "d1, part 2"]


def test_other_white_space_than_spaces_and_tabs_is_part_of_a_word():
    rows = "d 0 0 10\u00a0000 CD - - - - - * (1)\nd 0 1 fell VBD - - - - - * -\nd 0 2 it PRP - - - - - * (1)\n"
    _, (document,), lost = read(rows)
    assert document.words == ("10\u00a0000", "fell", "it") and document.tags == ("CD", "VBD", "PRP") and not lost


def test_a_sentence_begins_at_its_first_number_without_a_blank_line_too():
    rows = "d 0 0 She (1)\nd 0 1 slept -\nd 0 0 Then -\nd 0 1 she (1)\n"
    assert read(rows)[1][0].sentences == read(rows.replace("d 0 0 Then", "\nd 0 0 Then"))[1][0].sentences == (0, 2)
    assert read("d 0 0 She (1)\nd 0 0 slept -\nd 0 0 she (1)\n")[1][0].sentences == (0,)  # numbers that say nothing
    order = ("1", "1", "2", "3-4", "3", "4", "1-2", "1", "2")
    _, (document,), _ = read(conllu("(e1)", "", "(e1)", "", "", "", "", "", "(e1)", ids=order))
    assert document.sentences == (0, 1, 5) and document.governors == (-1, -1, 1, 1, 1, -1, 5)


@pytest.mark.parametrize(
    "text",
    [
        "0\tAnn\t(1)\n1\tslept\t-\n2\tshe\t(1)\n",
        conllu("(e1)", "", "(e1)").partition("\n")[2],
        "#begin document (d); part 000\nd 0 0 Ann (1)\nd 0 1 slept -\nd 0 2 she (1)\n#end document\n",
    ],
)
def test_chains_of_two_files_are_never_the_same(text):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.conll", text)
        archive.writestr("b.conll", text)
    (one,) = read(text)[1]
    files = [(text.encode(), "a.conll"), (text.encode(), "b.conll")]
    joined, parts, _ = join_files(files, 10_000)
    for source in (from_bytes(packed.getvalue(), "ab.zip"), from_bytes(joined, "ab"), parts):
        first, second = CoreferenceCorpus(source).documents(Skipped())
        assert (first.words, first.mentions, first.sentences) == (one.words, one.mentions, one.sentences)
        assert (second.words, second.mentions, second.sentences) == (one.words, one.mentions, one.sentences)


def test_spans_that_end_after_their_last_word_are_refused():
    def jsonlines(last: int) -> bytes:
        clusters = [[[4 * i, 4 * i + last], [4 * i + 2, 4 * i + 2 + last]] for i in range(10)]
        return json.dumps({"sentences": [["she", "slept", "it", "rang"] * 10], "clusters": clusters}).encode()

    describe("coreference", from_bytes(jsonlines(0), "given"))
    with pytest.raises(InputError, match="No mention has one word") as caught:
        describe("coreference", from_bytes(jsonlines(1), "given"))
    assert "[first, last]" in caught.value.hint
    with pytest.raises(InputError, match="No mention has one word"):
        bv.analyze("coreference_heads", model="demo", corpus=[json.loads(jsonlines(1))], store=False)


@pytest.mark.parametrize("indent", [None, 1])
def test_documents_in_one_list_of_json_are_refused_with_what_to_do(indent):
    text = json.dumps([{"sentences": [["Ann", "slept"]], "clusters": []}], indent=indent)
    with pytest.raises(InputError, match="JSON, but no object on each line") as caught:
        read(text)
    assert "jq" in caught.value.hint
    with pytest.raises(InputError, match="not a coreference file"):
        read("[The developer] argued with the designer because [he] did not like it.\n")


def test_gap_names_what_is_neither_true_nor_false():
    header = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL"
    row = "dev-1\tAnn met Bo. She left.\tShe\t12\tAnn\t0\tTRUE\tBo\t8\tFALSE\turl"
    _, documents, lost = read(f"{header}\n{row}\n{row.replace('TRUE', '1')}\n")
    assert len(documents) == 1 and lost == {BROKEN: 1}
    with pytest.raises(InputError, match="A-coref is '1', neither TRUE nor FALSE"):
        read(f"{header}\n{row.replace('TRUE', '1')}\n")
    # Ten columns, as CoNLL-U has.
    assert read(f"{header}\n{row}\n".replace("\turl", "").replace("\tURL", ""))[0] == "GAP"
    with pytest.raises(InputError, match="both TRUE"):
        read(f"{header}\n{row.replace('FALSE', 'TRUE')}\n")
    with pytest.raises(InputError, match="names no column A-coref and no B-coref"):
        read(f"{header}\n{row}\n".replace("\tA-coref", "").replace("\tB-coref", "").replace("TRUE\t", ""))


def test_parts_of_a_document_without_begin_lines_have_chains_of_their_own():
    rows = "a {0} 0 She (1)\na {0} 1 slept -\na {0} 2 she (1)\n\n"
    _, documents, _ = read(rows.format(0) + rows.format(1))
    assert [document.name for document in documents] == ["a", "a, part 1"]
    assert [spans(document) for document in documents] == [[(0, 1, 0), (2, 3, 0)]] * 2


def test_marks_in_the_spelling_of_the_penn_treebank_are_counted():
    record = {"sentences": [["Ann", "-LRB-", "she", "-RRB-", "slept", "/."]], "clusters": [[[0, 0], [2, 2]]]}
    result = bv.analyze("coreference_heads", model="demo", corpus=[record], store=False)
    assert [entry["count"] for entry in result.provenance["skipped"] if entry["reason"] == ESCAPED] == [3]
