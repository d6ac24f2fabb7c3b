"""What a decoder expects after a token, the parts of a logit, and a probability without heads."""

from threading import Thread

import numpy as np
import pytest
import torch

from bertviz_core.inputs.encoding import collate
from bertviz_core.models.next_words import expected_tokens, expects_next_words, probability_without, split_logit
from bertviz_core.models.residual_modules import with_residual
from bertviz_core.models.single_input import from_text
from bertviz_core.settings import Settings
from tests.support import predicting

TEXT = "the cat sat on the mat ."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return predicting.save("gpt2", tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def model(folder):
    return predicting.load(folder)


@pytest.fixture(scope="module")
def single(model):
    return from_text(TEXT, "", model.tokens, Settings())


def test_the_likeliest_tokens_and_the_one_that_comes_next(model, folder, single):
    with torch.inference_mode():
        ids = torch.from_numpy(single.example.ids)[None]
        shares = predicting.eager("gpt2", folder)(ids).logits[0].softmax(-1).numpy()
    found = expected_tokens(model, single, 2)
    following = int(single.example.ids[3])
    assert [each.token for each in found[:5]] == np.argsort(-shares[2])[:5].tolist()
    assert [each.token for each in found if each.is_next] == [following]
    assert [each.probability for each in found] == pytest.approx([shares[2][each.token] for each in found], rel=1e-4)
    assert not any(each.is_next for each in expected_tokens(model, single, len(single.example) - 1))


def test_the_parts_sum_to_the_logit(model, folder, single):
    with torch.inference_mode():
        logits = predicting.eager("gpt2", folder)(torch.from_numpy(single.example.ids)[None]).logits[0, 4]
    split = split_logit(model, single, 4, 7)
    expected = float(logits[7] - logits.mean())
    total = split.heads.sum() + split.mlps.sum() + split.embeddings + split.biases
    assert (split.logit, total) == pytest.approx((expected, expected), rel=1e-4)
    assert split.heads.shape == (2, 2) and split.mlps.shape == (2,) and split.cap is None


def test_the_probability_without_a_head_is_that_of_a_model_whose_head_writes_nothing(model, folder, single):
    eager = predicting.eager("gpt2", folder)
    with torch.inference_mode():
        eager.transformer.h[0].attn.c_proj.weight[8:] = 0  # the rows of the second head
        shares = eager(torch.from_numpy(single.example.ids)[None]).logits[0, 4].softmax(-1)
    off = np.array([[False, True], [False, False]])
    assert probability_without(model, single, 4, 7, off) == pytest.approx(float(shares[7]), rel=1e-4)


def test_only_a_decoder_expects_next_words(model, masked):
    assert expects_next_words(model) and not expects_next_words(masked)


def test_what_another_thread_runs_meanwhile_is_not_recorded(model, single):
    stream = with_residual(model).residual
    inputs = model.inputs(collate([single.example], model.tokens, "cpu"))
    with stream.recorded() as written:
        other = Thread(target=lambda: model.encoder(**inputs))
        other.start()
        other.join()
        assert not written.heads and written.final is None
        model.encoder(**inputs)
    assert len(written.heads) == model.layers
