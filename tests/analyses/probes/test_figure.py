"""Figures of the probes: every probe and the paper's scores are there, and drawings say what is right."""

from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.analyses.dependency_heads.guesses import offset_name
from bertviz_core.analyses.probes import page_blocks
from bertviz_core.analyses.probes.figure import STYLES, distance_figure, paper_figure, sentence_drawing, table_3, title
from bertviz_core.analyses.probes.options import PROBES
from bertviz_core.analyses.probes.result import ProbesView
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from tests.support import shipped


@pytest.fixture(scope="module", params=["corrected", "paper"])
def result(request):
    return shipped.result("probes", mode=request.param)


def test_table_3_as_a_picture(result):
    here, included, theirs = paper_figure(result).data
    released = {f"{name}-as-released" for name in PROBES if "words" in name}
    assert set(STYLES) == {*PROBES} | released and list(here.y) == [title(name, result) for name in result.probes]
    np.testing.assert_allclose(here.x, 100 * result.score)
    np.testing.assert_allclose(here.x + here.error_x.array, 100 * result.high)
    np.testing.assert_allclose(included.x, 100 * result.with_punctuation)
    paired = [name for name in result.probes if f"{name}-as-released" in result.probes]
    assert len(paired) == (3 if result.provenance["settings"]["mode"] == "paper" else 0)
    printed = dict(zip(result.probes, theirs.x, strict=True))
    assert printed["attention-and-words-as-released" if paired else "attention-and-words"] == 77
    assert (
        printed["right-branching"] == 26
        and np.isnan([printed[name] for name in [*paired, "random-attention-only"]]).all()
    )


def test_every_row_is_named_and_the_papers_score_stands_beside_what_it_counts(result):
    """The paper's 26 for right-branching is over all words, its other scores are without punctuation."""
    table = table_3(result)
    names = dict(zip(result.probes, table["probe"], strict=True))
    assert len(set(names.values())) == len(names)
    assert names["right-branching"] == "Right-branching (last word to ROOT)"
    assert names["best-offset"].startswith(f"Best offset {result.about['best_offset']:+d} (")
    if result.provenance["settings"]["mode"] == "paper":
        assert names["attention-and-words"] == "Attention and words, aligned"
        assert names["attention-and-words-as-released"] == "Attention and words, as released"
    without, including = (table[name].fillna(-1).tolist() for name in ("paper", "paper_with_punctuation"))
    assert {without[row] for row in (0, 1)} == {-1} and including[0] == 26
    assert including[1] == (26.3 if result.about["best_offset"] == 1 else -1)
    assert without[-1] == 80 and set(including[2:]) == {-1}
    assert title("best-offset") == "Best offset" and title("attention-only") == "Attention only"


def test_offsets_are_named_by_what_they_do_at_the_edge():
    assert offset_name(1) == "offset +1 (last word to itself)" and offset_name(-2) == "offset -2 (first word to ROOT)"
    assert offset_name(0) == "offset +0 (every word to itself)"


def test_accuracy_by_distance(result):
    trace = distance_figure(result).data[result.probes.index("attention-only")]
    row = result.probes.index("attention-only")
    n = result.distance_n[row]
    assert trace.x[list(result.distances).index(0)] == "ROOT"
    assert np.nansum(trace.y * n) / 100 == pytest.approx(result.score[row] * n.sum())


def test_drawings_count_right_words_and_escape_what_came_from_a_file():
    sentence = {
        "words": ["<b>", "ran", "."],
        "governors": [2, 0, 2],
        "relations": ["nsubj", "root", "punct"],
        "guesses": {"attention-only": [2, 1, 2], "structural": [[0, 1]]},
    }
    caption, svg = sentence_drawing(sentence, "attention-only")
    assert caption == "1 of 2 words right" and "<b>" not in svg and "&lt;b&gt;" in svg
    assert sentence_drawing(sentence, "structural")[0] == "1 of 1 edges right"


@pytest.mark.parametrize("probe", ["attention-only", "structural"])
def test_the_rows_of_files_are_the_guesses_beside_the_tree(result, probe):
    for sentence in result.sentences[:20]:
        rows = page_blocks.guess_rows(sentence, probe)
        words = ["ROOT", *sentence["words"]]
        if probe == "structural":
            tree = {frozenset((at + 1, governor)) for at, governor in enumerate(sentence["governors"]) if governor}
            edges = [frozenset((a + 1, b + 1)) for a, b in sentence["guesses"][probe]]
            assert [frozenset((row["position"], row["guess_position"])) for row in rows] == edges
            assert [row["right"] for row in rows] == [edge in tree for edge in edges]
        else:
            assert [row["guess_position"] for row in rows] == sentence["guesses"][probe]
            right = [a == b for a, b in zip(sentence["guesses"][probe], sentence["governors"], strict=True)]
            assert [row["right"] for row in rows] == right
        for row in rows:
            assert row["word"] == words[row["position"]] and row["guess"] == words[row["guess_position"]]
            assert row["governor"] == words[sentence["governors"][row["position"] - 1]]


def test_the_view_of_a_run_without_a_probe_is_refused_and_the_head_is_that_of_the_largest_weight(result):
    chosen = ProbesView().choose(result).choices
    layer, head = map(int, np.argwhere(result.attention.max(0) == result.attention.max())[0])
    assert chosen == {"probe": "attention-only", "head": f"{layer + 1}-{head + 1}"}
    with pytest.raises(SettingsError, match="no probe 'none'"):
        ProbesView(probe="none").choose(result)
    with pytest.raises(SettingsError):
        ProbesView(head="99-1").choose(result)


def test_weights_on_a_token_that_the_model_lacks_are_left_out(result):
    rows = len(page_blocks.weights_table(result, Head(0, 0)).table)
    assert rows == 2 + len(result.root)
    without_sep = replace(result, root=result.root * np.array([1, 1, 0, 0])[: len(result.root), None, None])
    named = page_blocks.weights_table(without_sep, Head(0, 0)).table["attention"]
    assert len(named) == min(rows, 4) and not named.str.contains("SEP").any()
