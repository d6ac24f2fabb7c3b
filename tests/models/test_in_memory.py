import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoModelForSequenceClassification, AutoTokenizer

from bertviz_core.errors import ModelError
from bertviz_core.models import verification
from bertviz_core.models.attention import REGISTERED
from bertviz_core.models.checkpoint import DEMO_FOLDER, checkpoint_of, describe
from bertviz_core.models.loading import model_in_memory


@pytest.fixture
def tokenizer(tiny_folder):
    return AutoTokenizer.from_pretrained(tiny_folder)


@pytest.fixture
def classifier(tiny_folder):
    """In training, half of it frozen and in float16, with gradients and a mode of its own for one part."""
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained(tiny_folder, attn_implementation="sdpa")
    model.train().to(torch.float16)
    model.base_model.embeddings.requires_grad_(False).eval()
    model.classifier.weight.grad = torch.ones_like(model.classifier.weight)
    return model


def state(model):
    """Everything that an analysis could change."""
    return {
        "modes": [part.training for part in model.modules()],
        "wanted": [one.requires_grad for one in model.parameters()],
        "places": [(one.data_ptr(), one.dtype, one.device) for one in (*model.parameters(), *model.buffers())],
        "objects": [id(one) for one in model.parameters()],
        "gradients": [None if one.grad is None else (id(one.grad), one.grad.dtype) for one in model.parameters()],
        "attention": model.config._attn_implementation,
        "hooks": [len(part._forward_hooks) for part in model.modules()],
    }


def test_a_model_stays_as_it_is_and_shares_its_weights(classifier, tokenizer):
    classifier(torch.tensor([[1, 2]]), output_attentions=True)  # transformers puts hooks into it
    before, values = state(classifier), [one.clone() for one in classifier.parameters()]
    checkpoint = describe(classifier, tokenizer)
    lent = model_in_memory((classifier, tokenizer), checkpoint)
    assert lent.observable and not lent.encoder.training and (lent.layers, lent.heads) == (2, 2)
    assert {one.dtype for one in lent.encoder.parameters()} == {torch.float32}
    assert state(classifier) == before
    assert all(torch.equal(one, value) for one, value in zip(classifier.parameters(), values, strict=True))
    same = model_in_memory((classifier, tokenizer), checkpoint, dtype="float16")
    theirs = {one.data_ptr() for one in classifier.parameters()}
    assert {one.data_ptr() for one in same.encoder.parameters()} <= theirs
    with pytest.raises(ModelError, match="names"):
        model_in_memory((classifier, AutoTokenizer.from_pretrained(DEMO_FOLDER)), checkpoint)
    assert state(classifier) == before


def test_the_fingerprint_is_of_weights_configuration_and_tokenizer(classifier, tokenizer, demo):
    first = describe(classifier, tokenizer).fingerprint()
    tokenizer("padding and truncation leave no mark", padding="max_length", truncation=True, max_length=9)
    assert describe(classifier, tokenizer).fingerprint() == first
    assert describe(classifier, demo.tokens.tokenizer).fingerprint() != first
    with torch.no_grad():
        classifier.base_model.encoder.layer[1].output.dense.bias[3] += 1
    assert describe(classifier, tokenizer).fingerprint() != first


def test_it_is_described_as_its_files_are(tiny, tiny_folder, tokenizer):
    model = AutoModelForMaskedLM.from_pretrained(tiny_folder)
    there, here = tiny.checkpoint, describe(model, tokenizer)
    assert (here.layers, here.heads, here.max_length) == (there.layers, there.heads, there.max_length)
    assert here.name == "BertForMaskedLM in memory"


def test_only_transformers_objects_are_a_model(classifier, tokenizer):
    for pair, message in (
        ((3, tokenizer), "int is not a transformers model"),
        ((classifier, 3), "int is not a tokenizer"),
    ):
        with pytest.raises(ModelError, match=message):
            checkpoint_of(pair)


def test_maps_are_verified_once_for_the_same_weights(classifier, tokenizer, monkeypatch):
    verified = []
    verify = verification.verify
    monkeypatch.setattr(verification, "verify", lambda model: verified.append(model) or verify(model))
    monkeypatch.setattr(verification, "_known", {})
    models = [model_in_memory((classifier, tokenizer), describe(classifier, tokenizer)) for _ in range(2)]
    assert len(verified) == 1 and len({(each.layers, each.heads, each.causal) for each in models}) == 1
    assert models[1].observable and models[1].encoder.config._attn_implementation == REGISTERED
    with torch.no_grad():
        classifier.base_model.encoder.layer[1].output.dense.bias[3] += 1
    model_in_memory((classifier, tokenizer), describe(classifier, tokenizer))
    assert len(verified) == 2
