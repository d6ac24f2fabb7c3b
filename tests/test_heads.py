import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, all_keys, all_labels, count_from, counting_from, ranks


def test_the_papers_head_8_10_is_row_7_column_9():
    assert Head(7, 9).label() == "8-10"
    with counting_from(0):
        assert (Head(7, 9).label(), Head(7, 9).key()) == ("7-9", "8-10")
        assert Head(7, 9).full_label() == "7-9 · L7H9"
    assert Head(7, 9).full_label() == "8-10 · L7H9"
    assert Head.parse("8-10") == Head(7, 9)
    assert Head.parse(" 8-10 ") == Head(7, 9)


def test_one_threads_counting_is_not_anothers():
    count_from(0)
    try:
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(Head(7, 9).label).result() == "8-10"
            pool.submit(count_from, 1).result()
        assert Head(7, 9).label() == "7-9" and all_labels(1, 2) == ("0-0", "0-1") and all_keys(1, 2) == ("1-1", "1-2")
    finally:
        count_from(1)


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_label_reads_back(layer, head):
    assert Head.parse(Head(layer, head).key()) == Head(layer, head)


@pytest.mark.parametrize(
    "value",
    ["5-4", " 5-4 ", (5, 4), [5, 4], "(5, 4)", "5,4", "L4H3", "l4h3", "L4 H3", "L4.H3", "4.3", Head(4, 3)],
)
def test_one_head_in_every_common_form(value):
    assert Head.parse(value) == Head(4, 3)


@pytest.mark.parametrize(
    "value",
    [
        *("", "8", "0-1", "1-0", "-1-1", "8-10-1", "a-b", "8–10", "1.0-1", "0,1", "LH", "L1H", "-1.2", "1.2.3"),
        *(None, True, 5, 4.3, (5,), (5, 4, 1), (0, 1), (5, -4), (5.0, 4), ("5", "4"), (True, 1), Head(-1, 2), {5, 4}),
    ],
)
def test_anything_else_is_refused(value):
    with pytest.raises(SettingsError, match="layer-head"):
        Head.parse(value)


@pytest.mark.parametrize("index", [np.array([4, 3]), np.unravel_index(3, (1, 5))])
def test_an_index_of_an_array_is_refused_with_what_to_write(index):
    with pytest.raises(SettingsError, match=f"L{index[0]}H{index[1]}"):
        Head.parse(index)


def test_a_head_that_a_model_does_not_have():
    for head in (Head(2, 0), Head(0, 3), Head(-1, 0), Head(0, -1)):
        with pytest.raises(SettingsError, match="1-1 to 2-3"):
            head.check(2, 3)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, -1.0, math.nan]), min_size=6, max_size=6))
def test_a_rank_counts_the_heads_with_a_higher_value(cells):
    def before(other: float, own: float) -> bool:
        return not math.isnan(other) and (math.isnan(own) or other > own)

    expected = [1 + sum(before(other, own) for other in cells) for own in cells]
    assert ranks(np.array(cells).reshape(2, 3)).reshape(-1).tolist() == expected
