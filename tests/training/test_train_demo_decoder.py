from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from bertviz_core.corpora.source import from_path
from bertviz_core.models.checkpoint import find_checkpoint
from training.train_demo_decoder import LENGTH, Recipe, Run, draw_input, loss_of, make_batch, new_model

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[2] / "bertviz_core/assets/corpora/encyclopedia.txt"
RECIPE = Recipe(steps=4, batch=2, warmup=2, seed=3)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    training = Run(tmp_path_factory.mktemp("whole"), [SAMPLE], RECIPE)
    training.train(checkpoint_every=2)
    return training


def test_a_run_that_was_killed_goes_on_to_the_bit(whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed, advance = Run(tmp_path, [SAMPLE], RECIPE), Run.advance

    def until_three(training: Run) -> float:
        if training.step == 3:
            raise KeyboardInterrupt
        return advance(training)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Run, "advance", until_three)
        killed.train(checkpoint_every=2)
    again = Run(tmp_path, [SAMPLE], RECIPE)
    assert again.step == 2
    again.train()
    ours, expected = load_file(again.checkpoint), load_file(whole.checkpoint)
    assert ours.keys() == expected.keys() and all(torch.equal(ours[key], expected[key]) for key in expected)


def test_the_pieces_are_the_text_and_the_folder_opens_as_a_model_with_one_bos(whole: Run) -> None:
    folder = whole.folder / "step-000004"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    lines = [line.strip() for _, line in from_path(SAMPLE).lines() if line.strip()]
    assert tokenizer.decode(whole.text[:500]) == "\n".join(lines)[: len(tokenizer.decode(whole.text[:500]))]
    parts = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("one", "two")]
    assert tokenizer("one", "two")["input_ids"] == [0, *parts[0], *parts[1]]
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert model.dtype == torch.float16 and find_checkpoint(str(folder)).heads == 8
    weights = dict(whole.model.named_parameters())
    for name, weight in model.named_parameters():
        assert torch.equal(weight, weights[name].half()), name


def test_an_input_is_a_passage_or_has_one_twice(whole: Run) -> None:
    text, rng = np.arange(2000, dtype=np.uint16), np.random.default_rng(0)
    plain = draw_input(text, replace(RECIPE, copies=0.0), rng)
    assert plain[0] == 0 and len(plain) == LENGTH and set(np.diff(plain[1:])) == {1}
    for _ in range(50):
        copied = draw_input(text, replace(RECIPE, copies=1.0), rng)
        jumps = np.flatnonzero(np.diff(copied[1:]) != 1)
        assert len(copied) == LENGTH and len(jumps) == 1  # back to where the passage began
        length = 1 - np.diff(copied[1:])[jumps[0]]
        assert 40 <= length <= 127 and jumps[0] + 1 >= length and len(copied) - 1 - (jumps[0] + 1) >= length
    assert torch.equal(make_batch(text, RECIPE, 5), make_batch(text, RECIPE, 5))
    assert not torch.equal(make_batch(text, RECIPE, 5), make_batch(text, RECIPE, 6))


def test_training_lowers_the_loss_which_is_the_librarys(whole: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.train_demo_decoder.BFLOAT16", False)
    inputs = make_batch(whole.text, RECIPE, 0)
    before = loss_of(new_model(RECIPE.seed), inputs)
    assert before.item() == pytest.approx(new_model(RECIPE.seed)(input_ids=inputs, labels=inputs).loss.item(), rel=1e-5)
    assert loss_of(whole.model, inputs) < before - 0.01
