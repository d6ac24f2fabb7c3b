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


@pytest.mark.parametrize("label", ["", "8", "0-1", "1-0", "-1-1", "8-10-1", "a-b", "8–10", "1.0-1"])
def test_anything_else_is_refused(label):
    with pytest.raises(SettingsError, match="layer-head"):
        Head.parse(label)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, -1.0, math.nan]), min_size=6, max_size=6))
def test_a_rank_counts_the_heads_with_a_higher_value(cells):
    def before(other: float, own: float) -> bool:
        return not math.isnan(other) and (math.isnan(own) or other > own)

    expected = [1 + sum(before(other, own) for other in cells) for own in cells]
    assert ranks(np.array(cells).reshape(2, 3)).reshape(-1).tolist() == expected
