"""The figures and tables of the dependency heads say what the result says."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from bertviz_core import paper
from bertviz_core.analyses.dependency_heads import figure as drawn
from bertviz_core.analyses.dependency_heads.cards import cards
from bertviz_core.analyses.dependency_heads.figure import example_svg, examples, paper_figure
from bertviz_core.analyses.dependency_heads.result import RelationFilter
from bertviz_core.analyses.dependency_heads.statements import relation_finding
from bertviz_core.corpora.files import sample
from bertviz_core.heads import DirectedHead, Head, counting_from
from bertviz_core.plotting.arcs import RIGHT, WRONG
from tests.support import shipped

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module", params=["corrected", "paper"])
def result(request):
    """The sample's result, as it ships, read with function words as governors."""
    return shipped.result("dependency_heads", mode=request.param).show(RelationFilter("function-heads", 20))


def test_the_shipped_result_is_of_the_treebank_as_it_is(result):
    source = sample("treebank")
    assert result.provenance["corpus"]["digest"] == source.digest
    words = sum(1 for _, text in source.lines() if text[:1].isdigit())
    assert result.n.sum(0)[0] == words == sum(len(s["words"]) for s in result.stored.sentences)


def test_totals_alone_say_why_there_is_no_relation(result):
    assert not list(drawn.left_out(result))
    [reason] = drawn.left_out(result.stored.show(RelationFilter(min_count=5000)))
    assert reason.text.startswith("No relation has 5,000 words or more")


def test_pictures_and_table_agree(result):
    figure, frame = paper_figure(result), result.to_frame()
    best, offset, theirs = figure.data
    np.testing.assert_allclose(best.x, 100 * frame["accuracy"])
    np.testing.assert_allclose(offset.x, 100 * frame["baseline_accuracy"])
    assert list(best.y) == result.relations == [label.text for label in figure.layout.annotations]
    assert "She <i>read</i> the <b>book</b>" in figure.layout.annotations[result.relations.index("dobj")].hovertext
    at = result.relations.index("prep")
    assert theirs.x[at] == paper.TABLE_1["prep"][1] and theirs.x[1] is None
    bars, row = drawn.offset_figure(result, "prep").data[0], frame.iloc[at]
    assert list(bars.x) == [f"{offset:+d}" for offset in result.offsets]
    assert max(bars.y) == pytest.approx(100 * row["baseline_accuracy"])
    assert bars.x[int(np.argmax(bars.y))] == f"{row['baseline_offset']:+d}"


def test_table_for_the_screen_and_latex(result):
    with counting_from(0):
        table = drawn.relation_table(result).set_index("relation")
    assert table.loc["det", "paper"] == 94.3 and np.isnan(float(table.loc["UAS", "paper"] or "nan"))
    assert "held out" in table
    frame = result.to_frame().set_index("relation")
    with counting_from(0):
        assert table.loc["det", "head"] == Head.parse(frame.loc["det", "head"]).label()
    lines = drawn.latex(result).splitlines()
    assert len([line for line in lines if " & " in line]) == len(result.relations) + 1
    assert f"{100 * frame.loc['det', 'accuracy']:.1f}" in next(line for line in lines if line.startswith("det &"))


def test_examples_count_what_the_accuracy_counts(result):
    head = Head(1, 2)
    for relation in ("all", "UAS", "prep", "dobj"):
        for direction in (0, 1):
            found = examples(result, DirectedHead(direction, head), relation)
            row = result.relations.index(relation)
            assert sum(len(example.chosen) for example in found) == result.n.sum(0)[row]
            # The release's rule for `poss` is not in the guesses.
            if result.provenance["settings"]["mode"] == "corrected" or relation in ("prep", "dobj"):
                right = sum(example.right for example in found)
                assert right == result.correct.sum(0)[direction, row, head.layer, head.head]


def test_an_example_is_drawn_with_every_guess_of_the_relation(result):
    head = Head(0, 1)
    example = max(examples(result, DirectedHead(0, head), "det"), key=lambda example: len(example.chosen))
    svg = ElementTree.fromstring(example_svg(example, DirectedHead(0, head)))
    words = example.sentence["words"]
    assert [text.text for text in svg.findall(f"{SVG}text")] == words
    strokes = [group.find(f"{SVG}path").get("stroke") for group in svg.findall(f"{SVG}g")]
    assert strokes.count(RIGHT) == example.right and strokes.count(WRONG) == len(example.chosen) - example.right
    assert len(strokes) == len(words) + len(example.chosen)


def test_a_relation_of_a_file_is_no_markup(result):
    named = replace(result, relations=["<b>x</b>", *result.relations[1:]])
    assert all(trace.y[0] == "&lt;b&gt;x&lt;/b&gt;" for trace in paper_figure(named).data)


def in_german(counts):
    """The same numbers of a treebank whose words are not English."""
    sentences = [sentence | {"words": ["der" for _ in sentence["words"]]} for sentence in counts.stored.sentences]
    return replace(counts, stored=replace(counts.stored, sentences=sentences))


def test_the_paper_s_numbers_stand_only_beside_those_of_its_language(result):
    german = in_german(result)
    assert "; the paper's head, 94.3%" in relation_finding(result, "det").claim
    finding = relation_finding(german, "det")
    assert "paper" not in finding.claim and finding.statement == ""
    assert [trace.name for trace in paper_figure(german).data] == ["best head", "best fixed offset"]
    assert {"paper", "its head"} & {*drawn.relation_table(german)} == set()
    assert (
        "The paper's columns" in drawn.table_1(result).note and "The paper's columns" not in drawn.table_1(german).note
    )
    best = result.best_choice("det")
    assert any("paper" in note for *_, note in cards(result, "det", best))
    assert not any("paper" in note for *_, note in cards(german, "det", best))


def test_the_paper_s_numbers_do_not_stand_beside_those_of_some_of_the_words(result):
    """A causal model's directions count a part of the words each."""
    assert result.in_paper == paper.TABLE_1
    assert replace(result, visible=np.stack([result.n] * 2, 1)).in_paper == {}
