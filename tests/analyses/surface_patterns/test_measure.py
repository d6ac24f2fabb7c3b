"""Surface patterns equal the oracle, on numbers worked by hand and on models; what is said of norms beside weights."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.surface_patterns.figure import paper_figure
from bertviz_core.analyses.surface_patterns.measure import measure
from bertviz_core.analyses.surface_patterns.result import NORM_QUANTITIES, QUANTITIES, BothWeights, SurfacePatterns
from bertviz_core.analyses.surface_patterns.statements import lengths_sentence
from bertviz_core.inputs.encoding import collate
from bertviz_core.models.attention import LayerAttention
from bertviz_core.settings import Settings
from tests.oracles import reference
from tests.support import maps, measures

oracle = reference.surface_patterns


def test_worked_example():
    """[CLS] x . [SEP], with a row of weights for each token that attends.

    An average over rows has the denominator 4, also where the first row has no previous token: to the previous token go
    0.5 of row 2, 0.6 of row 3 and 0.1 of row 4, so `previous` is 1.2 / 4 = 0.3. From [SEP] alone there is one row, from
    other tokens to [SEP] there are three, and three rows come after the first token.
    """
    rows = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.0, 0.4], [0.0, 0.6, 0.2, 0.2], [0.0, 0.0, 0.1, 0.9]]
    batch = collate([maps.encode(0, ["cls", "other", "punct", "sep"])], maps.TOKENS, "cpu")
    values = measure(batch, LayerAttention(0, torch.tensor(rows)[None, None], None, False))[0, 0]
    expected = {
        "current": (0.1 + 0.1 + 0.2 + 0.9) / 4,
        "previous": (0.5 + 0.6 + 0.1) / 4,
        "next": (0.2 + 0.0 + 0.2) / 4,
        "to_cls": (0.1 + 0.5 + 0.0 + 0.0) / 4,
        "to_sep": (0.4 + 0.4 + 0.2 + 0.9) / 4,
        "to_punct": (0.3 + 0.0 + 0.2 + 0.1) / 4,
        "sep_to_sep": 0.9,
        "other_to_sep": (0.4 + 0.4 + 0.2) / 3,
        "to_first": (0.5 + 0.0 + 0.0) / 3,
    }
    assert dict(zip(QUANTITIES, values.tolist(), strict=True)) == pytest.approx(expected)
    assert oracle(rows, ["cls", "other", "punct", "sep"]) == pytest.approx(expected)


@given(maps.corpora, st.integers(0, 5), st.booleans(), st.sampled_from([0.1, 3.0, 30.0]))
def test_random_attention_with_any_padding(kinds_list, pad, causal, scale):
    literal = partial(oracle, causal=causal)
    measures.check_one_batch(measure, literal, QUANTITIES, kinds_list, causal=causal, pad=pad, scale=scale)


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_the_demo_model_in_batches_of_any_size(demo, source, mode):
    long = " ".join(["A river runs, quietly, through the town."] * 3)
    text = source(f"It is old.\n{long}\n\n{long}\n\n")
    settings = Settings(max_length=24, limit=5, mode=mode)
    result, segments = measures.check_on_model("surface_patterns", demo, text, settings, oracle, QUANTITIES)
    assert result.segments.tolist() == [len(segments)] * len(QUANTITIES)


@pytest.mark.parametrize("path", measures.published(), ids=lambda path: path.name.partition(".")[0])
def test_published_maps(path):
    measures.check_published(path, measure, oracle, QUANTITIES)


LENGTHS = {
    "norm_cls": [[1.0, 3.0]],
    "norm_sep": [[0.5, 0.5]],
    "norm_other": [[2.0, 2.0]],
    "norm_correlation": [[-0.25, -0.75]],
}


def averages(to_sep: list[list[float]], **more: list[list[float]]) -> HeadAverages:
    """Patterns in which everything but attention to [SEP] is 0.25; punctuation has no length."""
    names = [*QUANTITIES, *NORM_QUANTITIES]
    shape = np.shape(to_sep)
    given = {"to_sep": to_sep, "norm_punct": np.full(shape, np.nan)} | more
    mean = np.stack([np.broadcast_to(given.get(name, 0.25), shape) for name in names])
    counts = np.array([0 if np.isnan(values).all() else 4 for values in mean])
    top = np.zeros((*mean.shape, 1))
    return SurfacePatterns(
        {}, names, mean, mean * 0, counts, counts, counts.astype(float), "documents", top.astype(int), top, {}
    )


def test_lengths_beside_other_tokens_and_the_head_with_the_lowest_correlation():
    sentence = lengths_sentence(averages([[0.5, 0.5]], **LENGTHS))
    assert "those of [CLS] 1.00 times, [SEP] 0.25 times as long" in sentence
    assert "is -0.50 on average over heads, and lowest in head 1-2 (-0.75)" in sentence


def test_both_curves_stand_in_the_figure_when_asked():
    weights, moved = averages([[0.2, 0.4], [0.9, 0.7]]), averages([[0.1, 0.1], [0.2, 0.0]])
    dashed = [
        t for t in paper_figure(BothWeights.of(weights, moved)).data if t.mode == "lines" and t.line.dash == "dash"
    ]
    assert len(dashed) == len(QUANTITIES) and dashed[-1].name == "means of attention"
    line = next(t for t in dashed if "mean attention to [SEP] %{y" in t.hovertemplate)
    assert list(line.y) == pytest.approx([0.1, 0.1])
    assert not [t for t in paper_figure(weights).data if t.mode == "lines" and t.line.dash == "dash"]
