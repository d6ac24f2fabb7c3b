"""Predictions for masked tokens: the masked-word head's softmax, with and without some heads."""

from __future__ import annotations

import numpy as np
import pytest

from bertviz_core.models import checkpoint
from bertviz_core.models.loading import load_to_view
from bertviz_core.models.predictions import predict
from bertviz_core.models.single_input import from_text, mask
from bertviz_core.settings import Settings


@pytest.fixture(scope="module")
def predicting(masked_folder):
    """The tiny BERT with a masked-word head."""
    return load_to_view(checkpoint.find(str(masked_folder)), "cpu")


def test_predictions_are_the_softmax_of_the_masked_word_head(predicting):
    import torch

    one = from_text("the cat sat on the mat", "", predicting.tokens, Settings())
    masked = mask(one, [2, 6], predicting.tokens)
    (first, second) = predict(predicting, one, masked)
    assert (first.position, first.original, second.original) == (2, "cat", "mat")
    ids = torch.tensor(masked.example.ids)[None]
    with torch.inference_mode():
        logits = predicting.masked_lm(input_ids=ids).logits[0, 2].double().tolist()
    total = sum(np.exp(value) for value in logits)
    shares = {predicting.tokens.names([i])[0]: float(np.exp(value) / total) for i, value in enumerate(logits)}
    ranked = sorted(shares, key=lambda name: -shares[name])
    assert [label for label, _ in first.best] == ranked[:5]
    assert [share for _, share in first.best] == pytest.approx([shares[name] for name in ranked[:5]], rel=1e-4)
    assert first.rank == ranked.index("cat") + 1
    assert first.probability == pytest.approx(shares["cat"], rel=1e-4)


def test_a_model_without_that_head_predicts_nothing(tiny, tiny_folder):
    one = from_text("the cat sat", "", tiny.tokens, Settings())
    masked = mask(one, [2], tiny.tokens)
    assert predict(tiny, one, masked) == ()
    assert load_to_view(checkpoint.find(str(tiny_folder)), "cpu").masked_lm is None


def test_the_demo_model_says_likely_words(demo):
    model = load_to_view(demo.checkpoint, "cpu")
    one = from_text("He sat on the chair.", "", model.tokens, Settings())
    (prediction,) = predict(model, one, mask(one, [4], model.tokens))
    assert prediction.original == "the"
    assert "the" in [label for label, _ in prediction.best]
    assert predict(model, one, one) == ()


def test_predictions_without_heads_equal_hooks_on_their_outputs(predicting):
    import torch

    model = predicting
    one = from_text("the cat sat on the mat", "", model.tokens, Settings())
    masked = mask(one, [2], model.tokens)
    off = np.array([[True, False], [False, True]])

    def zeros(layer):
        def hook(_module, given):
            parts = given[0].clone().unflatten(-1, (2, -1))
            parts[..., torch.from_numpy(off[layer]), :] = 0
            return (parts.flatten(-2),)

        return hook

    found = predict(model, one, masked, off)
    outputs = [model.encoder.encoder.layer[layer].attention.output.dense for layer in range(2)]
    handles = [output.register_forward_pre_hook(zeros(layer)) for layer, output in enumerate(outputs)]
    (expected,) = predict(model, one, masked)
    for handle in handles:
        handle.remove()
    assert found[0].probability == pytest.approx(expected.probability, rel=1e-5)
    assert found[0].best[0][0] == expected.best[0][0]
    assert predict(model, one, masked)[0].probability != pytest.approx(expected.probability, rel=1e-3)
