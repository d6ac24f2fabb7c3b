import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.models.attention import LayerAttention
from tests.oracles.repeated_token import repeated_token as oracle
from tests.support import maps

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "repeated_token"
sys.path.insert(0, str(EXAMPLE))
from repeated_token import RepeatedToken  # noqa: E402

measure = RepeatedToken().measure

CLS, SEP = maps.IDS["cls"], maps.IDS["sep"]
tokens = st.lists(st.integers(1, 6), min_size=1, max_size=9)


def encode(number: int, ids: list[int]) -> Encoded:
    return Encoded(number, f"line {number + 1}", np.array(ids, dtype=np.int64), np.zeros(len(ids), dtype=np.int64))


def test_a_worked_example() -> None:
    """[CLS] x y x x [SEP]: the fourth token attends 0.2 to the first x, the fifth 0.1 + 0.3 to the two before it."""
    rows = np.full((6, 6), 1 / 6)
    rows[3], rows[4] = [0.3, 0.2, 0.1, 0.1, 0.1, 0.2], [0.1, 0.1, 0.2, 0.3, 0.2, 0.1]
    batch = collate([encode(0, [CLS, 5, 6, 5, 5, SEP])], maps.TOKENS, "cpu")
    values = measure(batch, LayerAttention(0, torch.tensor(rows)[None, None], None, False))[0, 0]
    assert values.tolist() == pytest.approx([(0.2 + 0.1 + 0.3) / 2, (1 / 6 + 2 / 6) / 2])


def test_special_tokens_and_inputs_without_a_repetition_count_for_nothing() -> None:
    batch = collate([encode(0, [CLS, 5, SEP, 6, SEP])], maps.TOKENS, "cpu")
    values = measure(batch, LayerAttention(0, torch.full((1, 1, 5, 5), 0.2), None, False))
    assert values.isnan().all()


@given(st.lists(tokens, min_size=1, max_size=6), st.booleans(), st.integers(0, 4))
def test_random_attention(ids_list: list[list[int]], causal: bool, pad: int) -> None:
    examples = [encode(number, ids) for number, ids in enumerate(ids_list)]
    logits = [maps.scores(number, len(ids)) for number, ids in enumerate(ids_list)]
    values = measure(*maps.show(examples, logits, causal=causal, pad=pad))
    for ids, scores, row in zip(ids_list, logits, values.tolist(), strict=True):
        special = [token in (CLS, SEP) for token in ids]
        for head, weights in enumerate(maps.literal(scores, causal)[0].tolist()):
            expected = oracle(weights, ids, special, causal)
            numbers = [np.nan if expected[name] is None else expected[name] for name in RepeatedToken.quantities]
            np.testing.assert_allclose(row[head], numbers, atol=1e-5)
