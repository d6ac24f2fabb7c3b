"""The oracle itself, on examples small enough to do by hand."""

import math

import pytest

from tests.oracles import reference


def test_chunks_need_two_lines_and_the_budget():
    a, b, c = ["a"] * 5, ["b"] * 1, ["c"] * 2
    assert reference.chunks([[a, b, c]], 4) == [[a, b], [c]]
    assert reference.chunks([[b, c, a]], 4) == [[b, c, a]]
    assert reference.chunks([[b], [c, a]], 4) == [[b], [c, a]]


def test_the_longer_side_is_cut_until_both_fit():
    assert reference.final_lengths(3, 2, 10) == {(3, 2)}
    assert reference.final_lengths(9, 2, 6) == {(4, 2)}
    assert reference.final_lengths(5, 5, 6) == {(3, 3)}
    assert reference.final_lengths(5, 5, 7) == {(3, 4), (4, 3)}


def test_a_pair_must_be_runs_of_two_sides_of_one_cut():
    chunk = [list("ab"), list("cd"), list("ef")]
    assert reference.possible_pair(list("a"), list("cde"), chunk, 4) is False  # 2 and 4 tokens end as 2 and 2
    assert reference.possible_pair(list("ab"), list("de"), chunk, 4) is True
    assert reference.possible_pair(list("ab"), list("cd"), chunk, 4) is True
    assert reference.possible_pair(list("ad"), list("ef"), chunk, 4) is False
    assert reference.possible_pair(list("bc"), list("ef"), chunk, 4) is True


def test_to_a_split_word_the_sum_from_it_the_mean():
    """[CLS] play ##ing [SEP] as three words."""
    rows = [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0.2, 0.2, 0.5, 0.1], [0.0, 0.5, 0.5, 0.0]]
    assert reference.word_level(rows, [-1, 0, 0, -1]) == [
        pytest.approx([0.1, 0.5, 0.4]),
        pytest.approx([0.3, 0.6, 0.1]),
        pytest.approx([0.0, 1.0, 0.0]),
    ]
    assert reference.word_level(rows, [-1, 0, 0, -1], first_piece=True)[1] == pytest.approx([0.4, 0.5, 0.1])


def test_averages_leave_out_what_is_absent():
    assert reference.document_average([1.0, math.nan, 3.0]) == (2.0, 1.0, 2)
    assert math.isnan(reference.document_average([math.nan])[0])
