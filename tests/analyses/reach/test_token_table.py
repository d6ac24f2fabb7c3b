"""Tables of sums are added up by key, in order, and in the memory of their sum."""

import tracemalloc

import numpy as np

from bertviz_core.analyses.reach.token_table import TokenTable, add_up

SHAPES = ((4, 2, 3), (2, 3, 3, 2))


def table(keys: list[int], seed: int) -> TokenTable:
    draw = np.random.default_rng(seed).normal
    return TokenTable(np.array(keys), *(draw(size=(len(keys), *shape)) for shape in SHAPES))


def test_rows_of_the_same_key_are_added_in_order_and_others_are_left_out() -> None:
    first, second, third = table([1, 4, 9], 0), table([0, 4], 1), table([4, 9, 12], 2)
    found = add_up([first, second, TokenTable.empty(*SHAPES), third], np.array([9, 4, 0, 77]))
    assert found.keys.tolist() == [0, 4, 9]
    np.testing.assert_array_equal(found.heads[0], second.heads[0])
    np.testing.assert_array_equal(found.heads[1], first.heads[1] + second.heads[1] + third.heads[0])
    np.testing.assert_array_equal(found.about[2], first.about[2] + third.about[1])


def test_of_one_table_its_rows_and_of_empty_ones_nothing() -> None:
    empty, only = TokenTable.empty(*SHAPES), table([1, 4], 0)
    assert (empty + only) is only
    assert add_up([only, empty], np.array([4])).keys.tolist() == [4]
    assert not len(add_up([empty, empty], np.array([4])).keys)


def test_adding_up_takes_little_memory_besides_the_sums() -> None:
    tables = [table([*range(seed, 9000, 2)], seed) for seed in (0, 1, 2)]
    tracemalloc.start()
    sums = add_up(tables, np.arange(9000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.2 * (sums.about.nbytes + sums.heads.nbytes)
