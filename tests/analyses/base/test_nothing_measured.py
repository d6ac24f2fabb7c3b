"""A corpus with nothing of what an analysis measures: a sentence in place of numbers, in every file and report."""

import json
import sys
from pathlib import Path

import pytest

import bertviz_core as bv
from bertviz_core import exports
from bertviz_core.analyses.base.averages import averaged_column
from bertviz_core.analyses.base.entry_points import REGISTERED
from bertviz_core.analyses.base.findings import ABSENT
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.comparison.result import compare
from bertviz_core.overview.head_columns import columns
from bertviz_core.overview.summary import every_finding
from bertviz_core.plotting import layer_figure

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "repeated_token"))
from repeated_token import RepeatedToken

NO_REPETITION = ["the cat sat on a mat ."]
SENTENCE = "No input of this corpus has what “Repeated token” measures: there is no number to show."


class WithFigure(RepeatedToken):
    """The tutorial's analysis with a figure of its own, which needs numbers."""

    columns = (averaged_column("earlier", "attention to earlier occurrences"),)

    def main_figure(self, result):
        return layer_figure([column.series(result) for column in self.columns])


@pytest.fixture(params=[RepeatedToken, WithFigure])
def empty(request, monkeypatch, tiny_folder):
    """The result of a text in which no token repeats."""
    monkeypatch.setitem(REGISTERED._load(), "repeated_token", request.param())
    return bv.analyze("repeated_token", model=str(tiny_folder), corpus=NO_REPETITION, max_length=32, store=False)


def test_the_frame_is_empty_and_a_sentence_says_why(empty):
    assert len(empty.to_frame()) == 0 and list(empty.to_frame()) == ["label", "layer", "head"]
    assert empty.quantities() == []
    assert [(finding.state, finding.sentence) for finding in empty.findings()] == [(ABSENT, SENTENCE)]
    assert SENTENCE in empty.figure().layout.annotations[0].text
    assert "Repeated token" in empty._repr_html_()


def test_every_file_has_the_sentence(empty):
    shown = ANALYSES["repeated_token"].view().choose(empty.result)
    assert json.loads(exports.to_json(shown))["findings"][0]["sentence"] == SENTENCE
    assert SENTENCE in exports.to_text(shown) and SENTENCE in exports.to_html(shown).decode()
    assert exports.to_csv(shown).startswith(b"label,layer,head,") and exports.to_zip(shown)


def test_the_rest_of_the_overview_and_of_a_comparison_stands(empty):
    results = {"repeated_token": empty.result}
    assert columns(results) == []
    assert SENTENCE in [finding.sentence for finding in every_finding(results)]
    with pytest.raises(bv.BertvizError, match="no number of each head"):
        compare(empty.result, empty.result)


def test_the_rest_of_the_report_stands(empty, tiny_folder, tmp_path):
    corpora = {"text": NO_REPETITION, "treebank": False, "coreference": False}
    path = bv.report(tmp_path / "r.html", model=str(tiny_folder), **corpora, max_length=32, store=tmp_path / "store")
    page = path.read_text(encoding="utf-8")
    assert SENTENCE in page and "Surface patterns" in page


@pytest.mark.parametrize("name", ["surface_patterns", "entropy", "reach", "clustering", "ablation", "sep_gradients"])
def test_a_text_of_one_word(name, masked_folder):
    """It has no next or previous word, no full stop and no [MASK] to predict but itself."""
    result = bv.analyze(name, model=str(masked_folder), corpus=["cat"], max_length=32, store=False).result
    shown = ANALYSES[name].view().choose(result)
    assert exports.to_json(shown) and exports.to_html(shown) and exports.to_zip(shown) and exports.to_text(shown)


def test_a_treebank_of_one_word(tiny_folder):
    trees = [(["cat"], [0], ["root"])]
    result = bv.analyze("dependency_heads", model=str(tiny_folder), corpus=trees, max_length=32, store=False).result
    assert exports.to_json(result) and exports.to_html(result) and exports.to_text(result)
