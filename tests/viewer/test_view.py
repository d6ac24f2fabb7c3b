import csv
import io
import json
import math

import numpy as np
import pytest
from safetensors import safe_open

from bertviz_core.heads import Head
from bertviz_core.inputs.labels import Layout, Units
from bertviz_core.models.single_input import Prediction
from bertviz_core.text_display import visible
from bertviz_core.viewer.input_attention import (
    MIN_SIZE,
    SIDES,
    THUMBNAIL,
    InputAttention,
    InputView,
    apply_view,
    attention_shift,
    named_groups,
    predictions_frame,
    thumbnails,
)
from tests.oracles import attention as reference
from tests.oracles.reference import word_level

LABELS = ("[CLS]", "un", "##real", "cats", "[SEP]", "they", "sl", "##ee", "##p", "[SEP]")
OWNER = [0, 1, 1, 2, 3, 4, 5, 5, 5, 6]
SPECIAL = [True, False, False, False, True, False, False, False, False, True]
SIDE = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
STARTS = [0, 1, 3, 4, 5, 6, 9]


@pytest.fixture(scope="module")
def layout() -> Layout:
    words = Units(
        ("[CLS]", "unreal", "cats", "[SEP]", "they", "sleep", "[SEP]"),
        np.array([SPECIAL[i] for i in STARTS]),
        np.array([SIDE[i] for i in STARTS]),
        np.array(STARTS),
    )
    return Layout(Units(LABELS, np.array(SPECIAL), np.array(SIDE), np.arange(10)), words, np.array(OWNER))


@pytest.fixture(scope="module")
def maps() -> np.ndarray:
    drawn = np.random.default_rng(5).exponential(size=(2, 3, 10, 10)) ** 3
    return (drawn / drawn.sum(-1, keepdims=True)).astype(np.float32)


def expected(rows, view: InputView):
    special, sides = SPECIAL, SIDE
    if view.words:
        rows = word_level(rows, OWNER, view.first_piece)
        special, sides = [SPECIAL[i] for i in STARTS], [SIDE[i] for i in STARTS]
    if not view.special:
        rows = reference.without_special(rows, special)
        sides = [side for side, hidden in zip(sides, special, strict=True) if not hidden]
    if view.sides != "all":
        here, there = ("AB".index(end) for end in view.sides.split(" to "))
        rows = reference.between(rows, sides, here, there)
    return np.array(rows)


@pytest.mark.parametrize("first_piece", [False, True])
@pytest.mark.parametrize("sides", list(SIDES))
@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("words", [True, False])
def test_every_view_equals_the_loops(layout, maps, words, special, sides, first_piece):
    view = InputView(words, special, sides, first_piece)
    seen = apply_view(layout, maps, view)
    for head in np.ndindex(2, 3):
        assert seen.weights[head] == pytest.approx(expected(maps[head], view), abs=1e-6)
    assert seen.weights.shape == (2, 3, len(seen.queries), len(seen.keys))


def test_the_table_has_a_row_for_each_line_and_the_heaviest_come_first(layout, maps):
    seen = apply_view(layout, maps, InputView(sides="A to B"))
    frame = seen.to_frame(Head(1, 2))
    assert len(frame) == 25
    row = frame[(frame.from_position == 3) & (frame.to_position == 8)].iloc[0]
    assert (row["from"], row["to"]) == ("##real", "##ee")
    assert row.weight == maps[1, 2, 2, 7]
    heaviest = frame.nlargest(4, "weight").weight.tolist()
    assert heaviest == sorted(maps[1, 2, :5, 5:].reshape(-1).tolist(), reverse=True)[:4]


def test_the_shift_equals_the_loops_and_is_bounded(maps):
    other = maps[:, :, ::-1].copy()
    shares = attention_shift(maps, other)
    for head in np.ndindex(2, 3):
        assert shares[head] == pytest.approx(reference.moved(maps[head], other[head]), abs=1e-6)
    assert (attention_shift(maps, maps) == 0).all()
    ends = np.zeros((1, 1, 1, 2))
    ends[..., 0] = 1
    assert attention_shift(ends, ends[..., ::-1]) == 1


def test_files_hold_the_weights_and_the_labels(layout, maps, tmp_path):
    seen = apply_view(layout, maps, InputView(words=True))
    rows = list(csv.DictReader(io.StringIO(seen.to_csv(Head(0, 1), {"model": "m"}).decode())))
    assert len(rows) == 49
    assert float(rows[8]["weight"]) == pytest.approx(float(seen.weights[0, 1, 1, 1]), rel=1e-6)
    assert rows[8]["from"] == "unreal"
    assert rows[8]["model"] == "m"
    (tmp_path / "a.safetensors").write_bytes(seen.to_safetensors({"model": "m"}))
    with safe_open(tmp_path / "a.safetensors", "np") as stored:
        assert (stored.get_tensor("attention") == seen.weights).all()
        assert json.loads(stored.metadata()["keys"]) == list(seen.keys.labels)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00\x1b\x7fb", "a␀␛␡b"),
        ("", "∅"),
        ("  ", "␣␣"),
        ("\t", "␉"),
        ("\x85\uffff", "\ufffd\ufffd"),
        ("שלום", "שלום"),
    ],
)
def test_every_character_of_a_label_can_be_seen(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize(("size", "layers", "most"), [(1, 2, 24), (5, 2, 24), (24, 2, 24), (50, 2, 24), (128, 48, 8)])
def test_thumbnails_are_the_largest_weight_of_each_patch(size: int, layers: int, most: int) -> None:
    weights = np.random.default_rng(size).uniform(size=(layers, 2, size, size)).astype(np.float32)
    small = thumbnails(weights)
    patches = min(size, most)
    assert most in (THUMBNAIL, MIN_SIZE)
    assert small.shape == (layers, 2, patches, patches)
    for head in range(2):
        want = np.array(reference.largest_of_patches(weights[1, head].tolist(), patches))
        assert small[1, head] == pytest.approx(255 * want, abs=0.51)


@pytest.mark.parametrize(
    "view", [InputView(), InputView(words=True), InputView(special=False), InputView(sides="A to B")]
)
def test_heads_of_a_pair_equal_the_loops(layout, maps, view) -> None:
    seen = apply_view(layout, maps, view)
    shown = [[expected(maps[i, j], view) for j in range(3)] for i in range(2)]
    for query, key in ((0, 0), (len(seen.queries) - 1, 1)):
        frame = seen.pair_frame(query, key)
        rows = frame[["layer", "head", "weight", "rank", "rank_of_target"]].to_numpy()
        assert rows == pytest.approx(np.array(reference.heads_from_to(shown, query, key)), abs=1e-6)
        assert list(frame["label"]) == [f"{layer:.0f}-{head:.0f}" for layer, head in rows[:, :2]]


def test_a_pair_is_written_with_its_labels(layout, maps) -> None:
    seen = apply_view(layout, maps, InputView(words=True))
    rows = list(csv.DictReader(io.StringIO(seen.pair_to_csv(1, 5, {"model": "m"}).decode())))
    assert {(row["from"], row["from_position"], row["to"], row["to_position"]) for row in rows} == {
        ("unreal", "2", "sleep", "7")
    }
    assert len(rows) == 6 and rows[0]["rank"] == "1" and rows[0]["model"] == "m"


def test_the_opening_pair_is_far_apart_and_has_the_given_end(layout, maps):
    seen = apply_view(layout, maps, InputView())
    query, key = seen.opening_pair()
    assert abs(query - key) > 1
    assert not seen.queries.special[query] and not seen.keys.special[key]
    assert seen.opening_pair(query) == (query, key) == seen.opening_pair(key=key)
    assert seen.opening_pair(3, 4) == (3, 4)
    # words of many pieces are neighbors however far their first pieces are
    units = Units(("a", "long", "word"), np.zeros(3, bool), np.zeros(3, int), np.array([1, 4, 7]))
    weights = np.array([[[[0.0, 0.9, 0.1], [0.5, 0.5, 0.0], [0.1, 0.9, 0.0]]]])
    assert InputAttention(units, units, weights).opening_pair() == (0, 2)


def test_the_strongest_pair_of_a_causal_head_is_one_that_it_could_choose() -> None:
    units = Units(("The", "old", "cat"), np.zeros(3, bool), np.zeros(3, int), np.arange(3))
    weights = np.array([[[[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.1, 0.8, 0.1]]]])
    assert InputAttention(units, units, weights).strongest_pair(Head(0, 0)) == (2, 1)
    alone = Units(("The",), np.zeros(1, bool), np.zeros(1, int), np.arange(1))
    assert InputAttention(alone, alone, np.ones((1, 1, 1, 1))).strongest_pair(Head(0, 0)) == (0, 0)


def test_the_share_of_sinks_is_over_tokens_that_have_a_choice() -> None:
    labels = ("<s>", "old", "cat")
    weights = np.array([[[[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.8, 0.1, 0.1]]]])
    special = np.array([True, False, False])
    with_special = InputAttention(*[Units(labels, special, np.zeros(3, int), np.arange(3))] * 2, weights)
    assert with_special.to_sinks(Head(0, 0), causal=True) == (pytest.approx(0.6), False, "special tokens")
    assert with_special.to_sinks(Head(0, 0), causal=False) == (pytest.approx(2.2 / 3), True, "special tokens")
    without = InputAttention(*[Units(labels, np.zeros(3, bool), np.zeros(3, int), np.arange(3))] * 2, weights)
    assert without.to_sinks(Head(0, 0), causal=True) == (pytest.approx(0.6), False, "the first token")
    assert without.to_sinks(Head(0, 0), causal=False) == (0.0, False, "")


def test_sinks_have_most_tokens_first_choice_even_with_less_than_half_of_the_attention() -> None:
    labels = ("<s>", "a", "b", "c")
    weights = np.array([[[[1.0, 0, 0, 0], [0.7, 0.3, 0, 0], [0.4, 0.3, 0.3, 0], [0.1, 0.1, 0.8, 0]]]])
    units = Units(labels, np.array([True, False, False, False]), np.zeros(4, int), np.arange(4))
    assert InputAttention(units, units, weights).to_sinks(Head(0, 0), causal=True) == (
        pytest.approx(0.4),
        True,  # two of the three tokens that have a choice
        "special tokens",
    )


BEHAVIORS = np.array([["next", "other", "to_sep"], ["to_sep", "other", "other"]])
HEADS = ["1-1", "1-2", "1-3", "2-1", "2-2", "2-3"]


def test_every_guess_of_every_run_has_a_row_with_the_loss_of_the_masked_word() -> None:
    whole = Prediction(3, "cat", 0.25, 2, (("dog", 0.5), ("cat", 0.25)))
    without = Prediction(3, "cat", 0.125, 1, (("cat", 0.125), ("dog", 0.1)))
    frame = predictions_frame({"": (whole,), "1-1 2-3": (without,)})
    assert frame["heads_off"].tolist() == ["", "", "1-1 2-3", "1-1 2-3"]
    assert set(frame["position"]) == {4} and set(frame["masked_word"]) == {"cat"}
    assert frame["guess"].tolist() == ["dog", "cat", "cat", "dog"] and frame["rank"].tolist() == [1, 2, 1, 2]
    assert frame["loss"].tolist() == [-math.log(0.25)] * 2 + [-math.log(0.125)] * 2
    assert without.loss - whole.loss == pytest.approx(math.log(2))
    assert math.isfinite(Prediction(0, "cat", 0.0, 9, ()).loss)


def test_behaviors_layers_and_heads_have_names() -> None:
    named = named_groups(2, 3, {name: name == BEHAVIORS for name in np.unique(BEHAVIORS)})
    assert list(named) == ["behavior next token", "behavior [SEP]", "layer 1", "layer 2", *HEADS]
    assert named["behavior [SEP]"].tolist() == [[False, False, True], [True, False, False]]
    assert named["layer 2"].tolist() == [[False] * 3, [True] * 3]
    assert np.argwhere(named["2-3"]).tolist() == [[1, 2]]
