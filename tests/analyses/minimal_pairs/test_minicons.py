"""Whole models score sentences as minicons does; skipped where it is not installed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analyses.minimal_pairs.test_measure import PAIRS, computed
from tests.support.predicting import eager, load, save


def margins(scorer: Any, tokenizer: Any, **options: str) -> list[float]:
    """The summed log-probability of each grammatical sentence minus that of the other, nats."""
    good, bad = (
        scorer.sequence_score(
            tokenizer([pair[side] for pair in PAIRS], padding=True, return_tensors="pt"),
            reduction=lambda scores: float(scores.double().sum()),
            **options,
        )
        for side in (0, 1)
    )
    return [ours - theirs for ours, theirs in zip(good, bad, strict=True)]


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_margins_are_those_of_minicons(family: str, tmp_path: Path) -> None:
    """Masked models by the pseudo-log-likelihood of Kauf and Ivanova, decoders after the first token, which is the BOS
    where the tokenizer begins with one."""
    minicons = pytest.importorskip("minicons.scorer")
    model = load(save(family, tmp_path))
    tokenizer = model.tokens.tokenizer
    named = [(good, bad, str(number)) for number, (good, bad, _) in enumerate(PAIRS)]
    arguments: dict[str, Any] = {"device": "cpu", "tokenizer": tokenizer}
    if family == "bert":
        scorer = minicons.MaskedLMScorer(eager(family, tmp_path), **arguments)
        expected = margins(scorer, tokenizer, PLL_metric="within_word_l2r")
        result = computed(model, named, score="pll")
    else:
        expected = margins(minicons.IncrementalLMScorer(eager(family, tmp_path), **arguments), tokenizer)
        result = computed(model, named)
    np.testing.assert_allclose(result.margin, expected, atol=1e-4)
    assert np.abs(result.margin).max() > 1e-3
