from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import BertForPreTraining, BertModel, BertTokenizer

from training import finetune_demo_bert
from training.finetune_demo_bert import Recipe, Run, load_model, losses, make_batch, read_documents

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[2] / "bertviz_core/assets/corpora/encyclopedia.txt"
RECIPE = Recipe(steps=6, batch=8, length=32, rate=1e-2, encoder_rate=1e-2, warmup=2, seed=3)
IGNORED = -100


@pytest.fixture(scope="module")
def documents() -> list[list[str]]:
    return read_documents([SAMPLE])


@pytest.fixture(scope="module")
def tokenizer(tiny_folder: Path) -> BertTokenizer:
    return BertTokenizer.from_pretrained(tiny_folder)


def run(folder: Path, start: Path, recipe: Recipe = RECIPE) -> Run:
    return Run(folder, start, [SAMPLE], recipe)


def test_it_begins_as_the_encoder_with_an_identity_before_the_decoder(tiny_folder: Path) -> None:
    model, encoder = load_model(tiny_folder, seed=0), BertModel.from_pretrained(tiny_folder)
    for name, weight in encoder.state_dict().items():
        assert torch.equal(model.bert.state_dict()[name], weight), name
    transform = model.cls.predictions.transform.dense
    assert torch.equal(transform.weight, torch.eye(16)) and not transform.bias.any()
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    assert not [m for m in model.modules() if isinstance(m, torch.nn.Dropout) and m.p]


def test_training_lowers_the_loss_and_the_folder_loads_with_both_heads(tmp_path: Path, tiny_folder: Path) -> None:
    training = run(tmp_path / "run", tiny_folder, replace(RECIPE, steps=40))
    words = [training.advance()[0] for _ in range(40)]
    assert np.mean(words[-10:]) < np.mean(words[:10]) - 0.3
    training.train()
    model, report = BertForPreTraining.from_pretrained(tmp_path / "run/model", output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    assert model.config.architectures == ["BertForPreTraining"]
    again, bias = load_model(tmp_path / "run/model", 0), "cls.predictions.bias"
    assert torch.equal(again.state_dict()[bias], training.model.state_dict()[bias])


def test_a_run_that_was_killed_goes_on_to_the_bit(tmp_path, tiny_folder, monkeypatch):
    run(tmp_path / "whole", tiny_folder).train()
    killed, advance = run(tmp_path / "killed", tiny_folder), Run.advance

    def until_five(training: Run) -> tuple[float, float]:
        if training.step == 5:
            raise KeyboardInterrupt
        return advance(training)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Run, "advance", until_five)
        killed.train(checkpoint_every=2)
    again = run(tmp_path / "killed", tiny_folder)
    assert again.step == 4
    again.train()
    for name in ("checkpoint.safetensors", "model/model.safetensors"):
        ours, expected = load_file(tmp_path / "killed" / name), load_file(tmp_path / "whole" / name)
        assert ours.keys() == expected.keys() and all(torch.equal(ours[key], expected[key]) for key in expected)


def test_a_batch_masks_words_and_nothing_else(documents, tokenizer):
    inputs, _ = make_batch(documents, tokenizer, replace(RECIPE, batch=120), 5)
    again, _ = make_batch(documents, tokenizer, replace(RECIPE, batch=120), 5)
    assert all(torch.equal(inputs[name], again[name]) for name in inputs)
    ids, labels = inputs["input_ids"], inputs["labels"]
    masked = labels != IGNORED
    original = torch.where(masked, labels, ids)
    special = torch.isin(original, torch.tensor([tokenizer.pad_token_id, *range(2, 5)]))
    assert not (masked & special).any()
    assert masked.sum() / (~special).sum() == pytest.approx(0.15, abs=0.03)
    assert (ids[masked] == tokenizer.mask_token_id).float().mean() == pytest.approx(0.8, abs=0.03)
    for row, types, is_token in zip(original, inputs["token_type_ids"], inputs["attention_mask"], strict=True):
        first, second = (row == tokenizer.sep_token_id).nonzero().flatten().tolist()
        assert row[0] == tokenizer.cls_token_id and is_token.sum() == second + 1
        assert types.tolist() == [0] * (first + 1) + [1] * (second - first) + [0] * (len(row) - second - 1)


def test_the_losses_and_gradients_are_those_of_the_library(documents, tokenizer, tiny_folder, monkeypatch):
    monkeypatch.setattr(finetune_demo_bert, "BFLOAT16", False)
    inputs, is_random = make_batch(documents, tokenizer, RECIPE, 0)
    ours, library = load_model(tiny_folder, seed=0), load_model(tiny_folder, seed=0)
    words, following = losses(ours, (inputs, is_random))
    expected = library(**inputs, next_sentence_label=is_random).loss
    assert (words + following).item() == pytest.approx(expected.item(), rel=1e-5)
    (words + following).backward()
    expected.backward()
    for (name, weight), other in zip(ours.named_parameters(), library.parameters(), strict=True):
        torch.testing.assert_close(weight.grad, other.grad, rtol=1e-3, atol=1e-5, msg=name)
