"""The window of a long input: which tokens it has, what stays in sight, what is missed, and the search."""

import json
from pathlib import Path

import numpy as np
import pytest

from bertviz_core.heads import Head
from bertviz_core.inputs.labels import Units
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.models.loading import load
from bertviz_core.models.single_input import attention, from_text
from bertviz_core.settings import Settings
from bertviz_core.viewer.files import columns_of
from bertviz_core.viewer.input_attention import InputAttention, InputView, apply_view
from bertviz_core.viewer.preview import of_input
from bertviz_core.viewer.window import LONG, SIZE, TokenRange, matches
from tests.support import families

TOTAL = 512
HEAD = Head(1, 0)


def units(special: tuple[int, ...] = (0, TOTAL - 1)) -> Units:
    labels = tuple(f"token {position + 1}" for position in range(TOTAL))
    return Units(labels, np.isin(np.arange(TOTAL), special), np.zeros(TOTAL, int), np.arange(TOTAL))


@pytest.fixture(scope="module")
def long_input() -> InputAttention:
    drawn = np.random.default_rng(3).exponential(size=(2, 2, TOTAL, TOTAL)) ** 2
    weights = (drawn / drawn.sum(-1, keepdims=True)).astype(np.float32)
    return InputAttention(units(), units(), weights)


@pytest.mark.parametrize(
    ("total", "asked", "expected"),
    [
        (12, (1, None), (1, 12)),
        (LONG, (1, None), (1, LONG)),
        (LONG + 1, (1, None), (1, SIZE)),
        (TOTAL, (41, None), (41, 80)),
        (TOTAL, (500, None), (500, TOTAL)),
        (TOTAL, (100, 20), (100, 100)),
        (TOTAL, (900, 1000), (TOTAL, TOTAL)),
        (TOTAL, (1, TOTAL), (1, TOTAL)),
    ],
)
def test_a_window_is_of_the_input_whatever_is_asked(total: int, asked: tuple, expected: tuple) -> None:
    window = TokenRange.of(total, *asked)
    assert (window.first, window.last) == expected
    assert window.is_whole == (expected == (1, total))


def test_it_moves_by_its_size_to_both_ends_and_around_a_token() -> None:
    window = TokenRange.of(TOTAL)
    seen = {(window.first, window.last)}
    for _ in range(20):
        window = window.moved(1)
        assert window.last - window.first + 1 == SIZE
        seen.add((window.first, window.last))
    assert (window.first, window.last) == (TOTAL - SIZE + 1, TOTAL)
    assert {token for first, last in seen for token in range(first, last + 1)} == {*range(1, TOTAL + 1)}
    assert window.moved(-20).first == 1
    for position in (0, 7, 300, TOTAL - 1):
        around = window.around(position)
        assert around.first <= position + 1 <= around.last <= TOTAL and around.last - around.first + 1 == SIZE


def test_special_tokens_the_first_and_the_pinned_stay_in_sight_and_weights_are_as_they_were(long_input) -> None:
    window = TokenRange.of(TOTAL, 101, 120)
    seen = window.cut(long_input, frozenset({299}))
    expected = [0, *range(100, 120), 299, TOTAL - 1]
    assert seen.queries.start.tolist() == seen.keys.start.tolist() == expected
    for row, query in enumerate(expected):
        for column, key in enumerate(expected):
            assert seen.weights[1, 0, row, column] == long_input.weights[1, 0, query, key]
    missed = sum(
        float(long_input.weights[1, 0, query, key])
        for query in range(100, 120)
        for key in range(TOTAL)
        if key not in expected
    )
    assert window.beyond(long_input, seen, HEAD) == pytest.approx(missed / 20, abs=1e-5)
    columns = columns_of(seen, (), {104}, window)
    assert [row["start"] for row in columns["to"] if row["beyond"]] == [0, 299, TOTAL - 1]
    assert [row["start"] for row in columns["from"] if row["found"]] == [104]
    preview = json.loads(of_input(seen, 0, "tokens drawn"))["preview"]
    assert len(preview["tokens"]) == 23 and preview["part"] == ""


def test_words_are_found_in_sequence_whatever_their_case() -> None:
    labels = ("[CLS]", "The", "New", "York", "times", "new", "yorkers", "new", ".")
    starts = np.array([0, 1, 2, 3, 4, 6, 7, 9, 10])
    words = Units(labels, np.zeros(9, bool), np.zeros(9, int), starts)
    assert matches(words, "new york") == [2, 6]
    assert matches(words, " NEW ") == [2, 6, 9]
    assert matches(words, "times new yorkers new") == [4]
    assert matches(words, "new york city") == matches(words, " ") == []


def test_without_the_first_token_the_rows_of_a_decoder_are_rescaled(tmp_path: Path) -> None:
    causal = load(find_checkpoint(str(families.save(families.FAMILIES["gpt2"], tmp_path))))
    assert causal.causal
    single = from_text("the cat sat on the mat", "", causal.tokens, Settings())
    maps = attention(causal, single.example)
    seen = apply_view(single.layout, maps, InputView(first=False))
    size = maps.shape[2] - 1
    assert len(seen.queries) == len(seen.keys) == size and 0 not in seen.keys.start
    for query in range(size):
        rest = [float(weight) for weight in maps[0, 0, query + 1, 1:]]
        total = sum(rest)
        assert seen.weights[0, 0, query] == pytest.approx([weight / total for weight in rest], abs=1e-5)
