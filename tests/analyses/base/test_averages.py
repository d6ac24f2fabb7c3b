"""Document averages: sums that merge in any order, and their intervals, against numpy."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.base.averages import TOP, HeadAverages, averaged_column
from bertviz_core.analyses.base.findings import head_intervals
from bertviz_core.comparison.change import Change
from bertviz_core.heads import Head
from tests.oracles import uncertainty as oracle
from tests.support.maps import numbered

LAYERS, HEADS, QUANTITIES = 2, 3, ("one", "two")

# (segment, layer, head, quantity); few distinct values, so that ties happen, and NaN for what a segment lacks
values_of_segments = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 14), st.just(LAYERS), st.just(HEADS), st.just(len(QUANTITIES))),
    elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0, 3.5, float("nan")]),
)


def fed(values: np.ndarray, numbers, documents=None) -> SegmentSums:
    """An accumulator that has seen these segments, layer by layer, as one batch; each its own document by default."""
    accumulator = SegmentSums(QUANTITIES, None, LAYERS, HEADS, "cpu")
    numbers = list(numbers)
    documents = np.arange(len(values)) if documents is None else documents
    if numbers:
        batch = numbered(numbers, documents[numbers])
        for layer in range(LAYERS):
            accumulator.add(batch, layer, torch.from_numpy(values[numbers, layer])[None])
    return accumulator


def same(one: dict, other: dict) -> None:
    for name in ("mean", "error"):
        np.testing.assert_allclose(one[name], other[name], rtol=1e-12, atol=1e-7)
    for name in ("top", "top_values", "segments", "units"):
        np.testing.assert_array_equal(one[name], other[name])


@given(values_of_segments)
def test_the_top_segments_are_the_highest_and_of_equals_the_first(values):
    result = fed(values, range(len(values))).result()
    for q, layer, head in np.ndindex(result["mean"].shape):
        pairs = [(-float(v), number) for number, v in enumerate(values[:, layer, head, q]) if not np.isnan(v)]
        expected = sorted(pairs)[:TOP]
        found = result["top"][q, layer, head].tolist()
        assert found == [number for _, number in expected] + [-1] * (TOP - len(expected))
        assert result["top_values"][q, layer, head, : len(expected)].tolist() == [-value for value, _ in expected]


@given(values_of_segments, st.data())
def test_any_split_merged_in_any_order_is_the_whole(values, data):
    whole = fed(values, range(len(values))).result()
    order = data.draw(st.permutations(range(len(values))))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=4)))
    parts = [fed(values, order[a:b]) for a, b in itertools.pairwise([0, *cuts, len(values)])]
    merged = parts[0].new_empty()
    for part in data.draw(st.permutations(parts)):
        merged.merge(part)
    same(merged.result(), whole)


def test_sums_keep_their_digits_over_many_segments():
    """In float32 the sum of 200,000 times 0.1 is off in the third digit."""
    accumulator = SegmentSums(("q",), None, 1, 1, "cpu")
    for start in range(0, 200_000, 10_000):
        numbers = range(start, start + 10_000)
        accumulator.add(numbered(numbers, numbers), 0, torch.full((1, 10_000, 1, 1), 0.1))
    result = accumulator.result()
    assert result["mean"].item() == pytest.approx(float(np.float32(0.1)), abs=1e-12)
    assert result["error"].item() < 1e-9


@given(values_of_segments, st.data())
def test_errors_are_by_document_wherever_chunks_end_and_in_whatever_batches(values, data):
    values = np.where(np.isnan(values[:, :1, :1]), np.nan, np.nan_to_num(values))
    numbers = range(len(values))
    documents = np.cumsum([0, *data.draw(st.lists(st.integers(0, 1), min_size=len(values), max_size=len(values)))])[:-1]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=4)))
    total = fed(values, [])
    for first, end in itertools.pairwise([0, *cuts, len(values)]):
        chunk, order = total.new_empty(), data.draw(st.permutations(numbers[first:end]))
        middle = data.draw(st.integers(0, len(order)))
        for batch in (order[:middle], order[middle:]):
            chunk.merge(fed(values, batch, documents))
        if data.draw(st.booleans()):  # from another process
            stored, chunk.documents = chunk.documents.to_bytes(), total.new_empty().documents
            chunk.documents.restore(stored)
        total.merge(chunk)
    result = total.result()
    for q, layer, head in np.ndindex(result["mean"].shape):
        series = values[:, layer, head, q].astype(float)
        known = ~np.isnan(series)
        lists = [series[known & (documents == d)].tolist() for d in range(documents[-1] + 1)]
        if all(len(np.unique(documents[~np.isnan(values[:, 0, 0, i])])) < 2 for i in range(2)):
            lists = [[value] for value in series[known].tolist()]  # one document: its segments
        assert result["units"][q] == sum(map(bool, lists))
        if any(lists):
            mean, error, effective = oracle.by_document(lists)
            np.testing.assert_allclose(result["mean"][q, layer, head], mean, atol=1e-9)
            np.testing.assert_allclose(result["error"][q, layer, head], error, rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(result["effective_units"][q], effective, rtol=1e-12)


def test_memory_does_not_grow_with_the_corpus():
    random, total = np.random.default_rng(0), fed(np.zeros((0, LAYERS, HEADS, 2)), [])
    sizes = []
    for first in range(0, 800, 40):
        chunk = total.new_empty()
        for start in range(first, first + 40, 10):
            values = random.random((start + 10, LAYERS, HEADS, 2)).astype(np.float32)
            chunk.merge(fed(values, range(start, start + 10), np.arange(start + 10) // 3))
        total.merge(chunk)
        sizes.append(len(total.documents.to_bytes()))
        assert not any(total.documents.rows)
    assert sizes[-1] == sizes[1]


def test_a_text_of_one_document_has_intervals_over_its_segments():
    values = np.random.default_rng(1).random((6, LAYERS, HEADS, 2)).astype(np.float32)
    fields = fed(values, range(6), np.zeros(6, dtype=int)).result() | {"provenance": {}, "texts": {}}
    result = HeadAverages(**fields)
    assert result.units_text == "6 passages of one document" and result.units.tolist() == [6, 6]
    error = oracle.by_document([[value] for value in values[:, 1, 2, 0].tolist()])[1]
    assert result.interval("one")[1, 2] == pytest.approx(2.570582 * error, rel=1e-5)


@pytest.fixture
def averages() -> HeadAverages:
    """Two quantities, the second of which no segment has."""
    mean = np.array([[[0.5, 0.1, 0.5], [0.9, 0.2, 0.4]], np.full((2, 3), np.nan)])
    error = np.full((2, 2, 3), 0.01)
    top = np.zeros((2, 2, 3, TOP), dtype=int)
    units, effective = np.array([4, 0]), np.array([3.5, np.nan])
    return HeadAverages(
        {}, ["one", "two"], mean, error, np.array([9, 0]), units, effective, "documents", top, top.astype(float), {}
    )


def test_quantities_by_name(averages):
    assert averages["one"][1, 0] == 0.9
    assert averages.present == ["one"]
    for absent in ("two", "three"):
        with pytest.raises(KeyError):
            averages[absent]
    assert averages.interval("one")[0, 0] == pytest.approx(0.01 * oracle.t_quantile(2.5))
    assert averages.interval("one", 6)[0, 0] == pytest.approx(0.01 * oracle.t_quantile(2.5, 0.05 / 6))
    assert averages.units_text == "4 documents (too few documents to decide anything)"


def test_the_table_and_the_arrays_hold_what_is_present(averages):
    frame = averages.to_frame()
    assert frame.columns.tolist() == ["label", "layer", "head", "one", "one_interval"]
    assert frame.iloc[3].tolist()[:4] == ["2-1", 2, 1, 0.9]
    assert averages.arrays() == {"one": [[0.5, 0.1, 0.5], [0.9, 0.2, 0.4]]}


def test_a_single_segment_has_no_interval():
    values = np.full((3, LAYERS, HEADS, 2), 0.5, dtype=np.float32)
    values[1:, ..., 0] = np.nan  # "one" is in a single segment
    result = HeadAverages(**fed(values, range(3)).result() | {"provenance": {}, "texts": {}})
    assert np.isnan(result.interval("one")).all() and (result.interval("two") == 0).all()
    assert result.to_frame()["one_interval"].isna().all() and result.to_frame()["two_interval"].eq(0).all()


class Rates(HeadAverages):
    """Of a quantity that is 0 or 1 in every segment."""

    analysis = "rates"
    shares = ("one",)


def rates_of(values: np.ndarray, documents: np.ndarray) -> Rates:
    """The result of (segment, head) zeros and ones, each head of which is a sample of its own."""
    accumulator = SegmentSums(("one",), None, 1, values.shape[1], "cpu", Rates.shares)
    batch = numbered(range(len(values)), documents)
    accumulator.add(batch, 0, torch.from_numpy(values.astype(np.float32))[None, ..., None])
    return Rates(**accumulator.result() | {"provenance": {}, "texts": {}})


def test_the_interval_of_a_share_of_segments_equals_the_oracle():
    """Three documents of 2, 3 and 1 segments, of which 1, 3 and 0 have it; none of them; and all."""
    documents = np.array([0, 0, 1, 1, 1, 2])
    values = np.array([[1, 0, 1, 1, 1, 0], [0] * 6, [1] * 6]).T
    low, high = rates_of(values, documents).limits("one")
    for head in range(3):
        lists = [values[documents == each, head].tolist() for each in range(3)]
        expected = oracle.share_interval([(sum(each), len(each)) for each in lists])
        assert (low[0, head], high[0, head]) == pytest.approx(expected, rel=1e-6)
    assert high[0, 1] > 0.3 and low[0, 2] < 0.7, "three documents do not know that it is none, or every one"


@pytest.mark.parametrize("units", [5, 10, 30, 80])
def test_intervals_of_shares_cover_the_rate_wherever_it_is(units):
    """Documents of 1 to 5 segments, of which some are all alike: their rates are drawn from a beta distribution."""
    random = np.random.default_rng(units)
    covered = []
    for rate in (0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99):
        for alike in (1.0, 8.0):
            documents = np.repeat(np.arange(units), random.integers(1, 6, units))
            of_document = random.beta(alike * rate, alike * (1 - rate), (units, 400))
            values = random.random((len(documents), 400)) < of_document[documents]
            low, high = rates_of(values, documents).limits("one")
            covered.append(float(((low <= rate) & (rate <= high)).mean()))
    assert 0.95 <= np.mean(covered) <= 0.991, covered  # 99.0, 97.2, 95.8 and 95.2%
    assert min(covered) > 0.92


def test_exports_and_texts_have_both_ends_of_the_interval_of_a_share():
    result = rates_of(np.ones((5, 1)), np.arange(5))
    assert result.to_frame().columns.tolist() == ["label", "layer", "head", "one", "one_low", "one_high"]
    assert averaged_column("one", "rate").with_interval(result, Head(0, 0)) == "1.000 (0.393 to 1.000)"
    assert head_intervals(result, "one").low.item() == pytest.approx(0.3935, abs=5e-4)
    estimate = result.estimates()["one"]
    assert estimate.n == 5 and estimate.size.item() == pytest.approx(5.0) and estimate.standard_error.item() > 0.05


def test_shares_of_all_and_of_no_inputs_do_not_differ_without_an_interval():
    """Five documents a side: a difference of 1 is marked, but not as exact."""
    none, every = (rates_of(np.full((5, 1), value), np.arange(5)).estimates()["one"] for value in (0.0, 1.0))
    change = Change.of(none, every)
    assert change.difference.item() == 1 and change.low.item() < 0.5
    alike = Change.of(every, every)
    assert alike.low.item() < -0.2 < 0.2 < alike.high.item()
