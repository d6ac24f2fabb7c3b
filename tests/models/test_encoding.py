"""Batches: every example once, like lengths together, padding marked and belonging to no class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.models.encoding import Encoded, buckets, collate
from tests.maps import IDS, encode

lengths = st.lists(st.integers(1, 40), max_size=30)


def of_length(number: int, length: int) -> Encoded:
    return Encoded(number, "", np.full(length, 4), np.zeros(length, dtype=np.int64))


@given(lengths, st.integers(1, 100))
def test_every_example_comes_once_with_those_of_like_length_and_no_batch_is_over_its_budget(sizes, batch_tokens):
    groups = list(buckets([of_length(i, size) for i, size in enumerate(sizes)], batch_tokens))
    assert sorted(example.number for group in groups for example in group) == list(range(len(sizes)))
    assert [len(example) for group in groups for example in group] == sorted(sizes, reverse=True)
    for group in groups:
        assert len(group) == 1 or len(group) * max(map(len, group)) <= batch_tokens


def test_padding_is_of_no_class_even_where_its_id_is_one_of_a_class(causal_pad=IDS["sep"]):
    """GPT-2 has no padding token, some tokenizers use SEP: padding still must not count as SEP."""
    tokens = type("T", (), {"pad": causal_pad, "cls": 1, "sep": 2, "punctuation": np.array([3, causal_pad])})
    batch = collate([encode(0, ["other"]), encode(1, ["other", "sep", "other"])], tokens, "cpu")
    assert batch.ids[0].tolist() == [4, 2, 2]
    assert not batch.sep[0].any() and not batch.punctuation[0].any()
    assert batch.sep[1].tolist() == [False, True, False]
