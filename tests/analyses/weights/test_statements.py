"""What a result of weights states, on heads that are wired by hand (see `test_worked_example`)."""

from pathlib import Path

from bertviz_core.analyses.base.findings import ABSENT, SHOWN
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.weights.view import WeightsView
from bertviz_core.heads import Head
from tests.analyses.weights.test_measure import computed, wired
from tests.support import planted

WEIGHTS = ANALYSES["weights"]


def test_statements_of_heads_that_are_wired_by_hand(tmp_path: Path) -> None:
    findings = {each.id: each for each in WEIGHTS.findings(computed(wired(tmp_path)))}
    eigenvalues, composition = findings["weights.eigenvalues"], findings["weights.composition"]
    assert eigenvalues.state == composition.state == SHOWN
    assert eigenvalues.head == Head(0, 1) and "head 1-2 writes for the tokens that it reads sum to 1.00" in (
        eigenvalues.sentence
    )
    assert composition.sentence.startswith("Head 2-2 reads what head 1-2 writes the most, by query: composition 1.000;")


def test_statements_of_an_encoder_have_no_words(masked_folder: Path) -> None:
    findings = {each.id: each for each in WEIGHTS.findings(computed(masked_folder))}
    assert findings["weights.copy"].state == findings["weights.suppression"].state == ABSENT
    assert "writes of what it reads sum to" in findings["weights.eigenvalues"].sentence


def test_of_heads_that_write_nothing_there_is_no_statement(tmp_path: Path) -> None:
    result = computed(planted.save(tmp_path, {(0, 0): "previous", (1, 0): "next", (1, 1): "sep"}))
    assert {each.state for each in WEIGHTS.findings(result)} == {ABSENT}
    assert WEIGHTS.is_empty(result) and len(WEIGHTS.shown(result)) == 2


def test_the_page_shows_a_head_its_partners_and_one_that_is_alone_none(tmp_path: Path) -> None:
    result = computed(wired(tmp_path))
    view = WeightsView(path="key", head="2-1").resolve(result)
    blocks = {getattr(block, "name", ""): block for block in WEIGHTS.blocks(result, view)}
    assert blocks["pairs"].table.loc[0, ["reads", "writes", "path"]].tolist() == ["2-2", "1-2", "by query"]
    rows, words = WEIGHTS.of_head(result, Head(1, 0))
    assert "reads 1-1 by key (0.71)" in rows.figure.sentence
    assert (
        [each.words for each in words.figure.lists]
        == [("(nothing)",)] * 5
        == [(row,) for row in blocks["words"].table["writes most"]]
    )
