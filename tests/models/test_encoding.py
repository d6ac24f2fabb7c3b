"""Batches: every example once, like lengths together, padding marked and belonging to no class."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.models.encoding import WINDOW, Encoded, buckets, collate
from tests.maps import IDS, KINDS, TOKENS, corpora, encode

lengths = st.lists(st.integers(1, 40), max_size=30)


def of_length(number: int, length: int) -> Encoded:
    return Encoded(number, "", np.full(length, 4), np.zeros(length, dtype=np.int64))


@given(lengths, st.integers(1, 100))
def test_every_example_comes_once_and_no_batch_is_over_its_budget(sizes, batch_tokens):
    groups = list(buckets([of_length(i, size) for i, size in enumerate(sizes)], batch_tokens))
    assert sorted(example.number for group in groups for example in group) == list(range(len(sizes)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(map(len, group)) <= batch_tokens


@given(lengths, st.integers(1, 100))
def test_like_lengths_share_batches_and_the_longest_come_first(sizes, batch_tokens):
    ordered = [len(e) for group in buckets([of_length(i, s) for i, s in enumerate(sizes)], batch_tokens) for e in group]
    assert ordered == sorted(sizes, reverse=True)


def test_only_a_window_is_held_whatever_the_corpus():
    taken = 0

    def endless():
        nonlocal taken
        for taken in itertools.count(1):
            yield of_length(taken, taken % 7 + 1)

    batches = buckets(endless(), 50)
    for _ in range(5):
        next(batches)
    assert taken == WINDOW


@given(corpora)
def test_classes_are_of_real_tokens_alone(kinds_list):
    batch = collate([encode(i, kinds) for i, kinds in enumerate(kinds_list)], TOKENS, "cpu")
    width = max(map(len, kinds_list))
    assert batch.tokens() == sum(map(len, kinds_list))
    for row, kinds in enumerate(kinds_list):
        padded = kinds + ["padding"] * (width - len(kinds))
        assert [KINDS.get(int(i), "padding") for i in batch.ids[row]] == padded
        assert batch.mask[row].tolist() == [kind != "padding" for kind in padded]
        for name, kind in (("cls", "cls"), ("sep", "sep"), ("punctuation", "punct")):
            assert getattr(batch, name)[row].tolist() == [each == kind for each in padded]
        weights = [1 / len(kinds) if kind != "padding" else 0 for kind in padded]
        assert batch.row_weights[row].tolist() == pytest.approx(weights)
        assert batch.key_classes[row].tolist() == [[kind == c for c in ("cls", "sep", "punct")] for kind in padded]


def test_padding_is_of_no_class_even_where_its_id_is_one_of_a_class(causal_pad=IDS["sep"]):
    """GPT-2 has no padding token, some tokenizers use SEP: padding still must not count as SEP."""
    tokens = type("T", (), {"pad": causal_pad, "cls": 1, "sep": 2, "punctuation": np.array([3, causal_pad])})
    batch = collate([encode(0, ["other"]), encode(1, ["other", "sep", "other"])], tokens, "cpu")
    assert batch.ids[0].tolist() == [4, 2, 2]
    assert not batch.sep[0].any() and not batch.punctuation[0].any()
    assert batch.sep[1].tolist() == [False, True, False]


def test_token_types_go_only_to_models_that_have_them(tiny):
    batch = collate([encode(0, ["cls", "other", "sep"])], TOKENS, "cpu")
    assert set(batch.inputs(tiny)) == {"input_ids", "attention_mask", "token_type_ids"}
    without = type("M", (), {"has_types": False})
    assert set(batch.inputs(without)) == {"input_ids", "attention_mask"}
    assert batch.inputs(tiny)["attention_mask"].dtype == torch.int64
