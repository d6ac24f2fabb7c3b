"""The recipe on the project's own sample text: it learns, and a killed run goes on as if it had not been."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import BertForPreTraining, BertTokenizer

from bertviz_core.errors import InputError, SettingsError
from tests.training.runs import LENGTH, RECIPE, ROOT, SAMPLE, SEED, SHAPE, SIZE, VOCABULARY
from training.batches import MASK, SEP, Batches
from training.loop import Run
from training.model import new_model, scores
from training.optimizer import learning_rate
from training.recipe import Plan, Recipe
from training.text import SPECIAL, Text, load_text, train_vocabulary

FIELDS = ("ids", "types", "real", "masked", "answers", "random_next")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return tmp_path_factory.mktemp("pretrain")


@pytest.fixture(scope="module")
def tokenizer() -> BertTokenizer:
    return train_vocabulary([SAMPLE], VOCABULARY, LENGTH)


@pytest.fixture(scope="module")
def text(work: Path, tokenizer: BertTokenizer) -> Text:
    return load_text([SAMPLE], tokenizer, work / "cache")


@pytest.fixture(scope="module")
def batches(text: Text, tokenizer: BertTokenizer) -> Batches:
    return Batches(text, SIZE, LENGTH, len(tokenizer), SEED)


def start(folder: Path, batches: Batches, tokenizer: BertTokenizer, plan: Plan, recipe: Recipe = RECIPE) -> Run:
    model = new_model(SHAPE, len(tokenizer), SEED)
    validation = Batches(batches.text, SIZE, LENGTH, len(tokenizer), seed=0)
    return Run(folder, model, tokenizer, batches, validation, recipe, plan)


def column(path: Path, name: str) -> list[float]:
    with path.open() as f:
        return [float(row[name]) for row in csv.DictReader(f)]


def test_two_hundred_steps_lower_the_loss(work: Path, batches: Batches, tokenizer: BertTokenizer) -> None:
    plan = Plan(steps=200, decay=50, validate_every=200, validation_examples=128, save_at=3)
    assert start(work / "learns", batches, tokenizer, plan).train()
    before, after = column(work / "learns/validation.csv", "mlm_loss")
    assert before > np.log(len(tokenizer)) - 0.5
    assert after < before - 0.7
    losses = column(work / "learns/loss.csv", "mlm_loss")
    assert len(losses) == 200
    assert np.mean(losses[-20:]) < np.mean(losses[:20]) - 0.5
    assert sorted(p.name for p in (work / "learns/steps").iterdir()) == [f"step-{n:07d}" for n in (0, 1, 14, 200)]


def test_the_folder_loads_as_a_model_with_both_heads(work: Path, batches: Batches, tokenizer: BertTokenizer) -> None:
    run = start(work / "loads", batches, tokenizer, Plan(steps=2, decay=1, validation_examples=SIZE))
    assert run.train()
    model, report = BertForPreTraining.from_pretrained(work / "loads/final", output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    assert model.dtype == torch.float16
    read = BertTokenizer.from_pretrained(work / "loads/final")
    assert read("A lamp.", "It shines.").input_ids == tokenizer("A lamp.", "It shines.").input_ids


def command(work: Path, out: Path, steps: int) -> list[str]:
    options = {
        "--valid": SAMPLE, "--out": out, "--cache": work / "cache", "--layers": 2, "--heads": 2, "--width": 32,
        "--positions": LENGTH, "--vocabulary": VOCABULARY, "--batch": SIZE, "--length": LENGTH, "--rate": 3e-3,
        "--warmup": 10, "--steps": steps, "--decay": 50, "--seed": SEED, "--threads": 1, "--validate-every": 25,
        "--validation-examples": SIZE, "--checkpoint-every": 20, "--micro-batches": 1,
    }  # fmt: skip
    pairs = [str(word) for option in options.items() for word in option]
    return [sys.executable, "-m", "training.pretrain_demo_bert", *pairs, str(SAMPLE)]


def test_a_killed_run_goes_on_exactly(work: Path, batches: Batches, tokenizer: BertTokenizer) -> None:
    plan = Plan(100, decay=50, validate_every=25, validation_examples=SIZE, checkpoint_every=20)
    whole, killed = work / "whole", work / "killed"
    assert start(whole, batches, tokenizer, plan).train()
    tokenizer.save_pretrained(killed / "tokenizer")
    process = subprocess.Popen(
        command(work, killed, 100), cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not (killed / "checkpoint.safetensors").exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    again = start(killed, batches, tokenizer, plan)
    again.resume()
    assert 0 < again.step < 100
    assert again.train()
    for name in ("loss.csv", "validation.csv"):
        assert (killed / name).read_text() == (whole / name).read_text()
    for name in ("checkpoint.safetensors", "final/model.safetensors"):
        ours, theirs = load_file(killed / name), load_file(whole / name)
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[n], theirs[n]) for n in theirs)


def test_a_stopped_run_goes_on_and_may_end_early(work: Path, batches: Batches, tokenizer: BertTokenizer) -> None:
    for steps in (0, 3):
        asked = iter([False] * steps + [True])
        run = start(work / "stopped", batches, tokenizer, Plan(steps=50, decay=10, validation_examples=SIZE))
        assert not run.train(lambda asked=asked: next(asked))
    again = start(work / "stopped", batches, tokenizer, Plan(steps=5, decay=2, validation_examples=SIZE))
    assert again.train()
    rates = column(work / "stopped/loss.csv", "learning_rate")
    assert len(rates) == 5
    assert column(work / "stopped/validation.csv", "step") == [0, 5]
    assert rates[-1] == pytest.approx(RECIPE.rate / 2)


def test_a_checkpoint_of_another_recipe_is_refused(work: Path, batches: Batches, tokenizer: BertTokenizer) -> None:
    plan = Plan(steps=1, decay=1, validation_examples=SIZE)
    start(work / "other", batches, tokenizer, plan).train()
    with pytest.raises(SettingsError, match="other settings"):
        start(work / "other", batches, tokenizer, plan, Recipe(SIZE, LENGTH, 1e-3, 10, SEED)).train()


def test_the_learning_rate_rises_holds_and_falls() -> None:
    rates = [learning_rate(s, peak=1.0, warmup=2, steps=8, decay=4) for s in range(8)]
    assert rates == [0.5, 1, 1, 1, 1, 0.75, 0.5, 0.25]


def test_a_batch_is_what_it_says(batches: Batches, text: Text) -> None:
    batch, again = batches.batch(5), batches.batch(5)
    assert all(np.array_equal(getattr(batch, n), getattr(again, n)) for n in FIELDS)
    assert len(batch.masked) == len(batches.batch(6).masked) == round(0.15 * SIZE * (LENGTH - 3))
    ids = batch.ids.copy()
    ids.reshape(-1)[batch.masked] = batch.answers
    whole = " ".join(map(str, text.tokens.tolist()))
    for row, types, is_random in zip(ids, batch.types, batch.random_next, strict=True):
        first, second = np.flatnonzero(row == SEP)
        a, b = row[1:first].tolist(), row[first + 1 : second].tolist()
        assert row[0] == SPECIAL.index("[CLS]")
        assert not row[second + 1 :].any()
        assert types.tolist() == [0] * (first + 1) + [1] * (second - first) + [0] * (LENGTH - second - 1)
        assert f" {' '.join(map(str, a))} " in f" {whole} "
        assert f" {' '.join(map(str, b))} " in f" {whole} "
        assert is_random or f" {' '.join(map(str, a + b))} " in f" {whole} "


def test_masking_and_next_sentences_have_their_shares(batches: Batches) -> None:
    many = [batches.batch(step) for step in range(200)]
    shown = np.concatenate([b.ids.reshape(-1)[b.masked] for b in many])
    answers = np.concatenate([b.answers for b in many])
    assert (answers >= len(SPECIAL)).all()
    assert np.mean(shown == MASK) == pytest.approx(0.8, abs=0.02)
    assert np.mean(shown == answers) == pytest.approx(0.1, abs=0.02)
    assert np.mean([b.random_next for b in many]) == pytest.approx(0.5, abs=0.06)


def test_each_epoch_takes_every_chunk_once(batches: Batches) -> None:
    count = len(batches.chunks)
    first, second = ([batches.chunk(e * count + n) for n in range(count)] for e in (0, 1))
    assert sorted(first) == sorted(second) == list(range(count))
    assert first != second


def test_padding_changes_nothing(batches: Batches, tokenizer: BertTokenizer) -> None:
    model = new_model(SHAPE, len(tokenizer), SEED).eval()
    batch = next(b for b in map(batches.batch, range(100)) if not b.real.all())
    other = batches.batch(0).ids
    filled = np.where(batch.real, batch.ids, other)
    with torch.no_grad():
        ours = scores(model, batch)
        same = scores(
            model, type(batch)(filled, batch.types, batch.real, batch.masked, batch.answers, batch.random_next)
        )
    assert torch.equal(ours.mlm_loss, same.mlm_loss)
    assert torch.equal(ours.nsp_loss, same.nsp_loss)


def test_the_losses_are_those_of_the_whole_model(batches: Batches, tokenizer: BertTokenizer) -> None:
    """Values and gradients; the trainer computes the last layer only where a loss needs it."""
    batch = next(b for b in map(batches.batch, range(100)) if not b.real.all())
    answers = np.full(batch.ids.size, -100)
    answers[batch.masked] = batch.answers
    gradients = []
    for ours in (True, False):
        model = new_model(SHAPE, len(tokenizer), SEED)
        if ours:
            found = scores(model, batch)
            loss = found.mlm_loss + found.nsp_loss
        else:
            model.set_attn_implementation("eager")
            given = {"input_ids": batch.ids, "token_type_ids": batch.types, "attention_mask": batch.real.astype(int)}
            wanted = {"labels": answers.reshape(batch.ids.shape), "next_sentence_label": batch.random_next}
            loss = model(**{name: torch.from_numpy(value) for name, value in {**given, **wanted}.items()}).loss
        loss.backward()
        gradients.append({name: p.grad for name, p in model.named_parameters()} | {"loss": loss.detach()})
    for name, theirs in gradients[1].items():
        cosine = torch.nn.functional.cosine_similarity(gradients[0][name].flatten(), theirs.flatten(), dim=0)
        assert cosine > 0.99 or theirs.abs().max() < 1e-6, name
    assert gradients[0]["loss"] == pytest.approx(gradients[1]["loss"].item(), rel=2e-3)  # bfloat16


def test_written_out_attention_is_the_librarys(batches: Batches, tokenizer: BertTokenizer) -> None:
    model = new_model(SHAPE, len(tokenizer), SEED).eval()
    batch = next(b for b in map(batches.batch, range(100)) if not b.real.all())
    ids, types, real = (torch.from_numpy(a) for a in (batch.ids, batch.types, batch.real))
    hide = torch.where(real, 0.0, -1e4)[:, None, None]
    with torch.no_grad():
        ours = model(ids, attention_mask=hide, token_type_ids=types).prediction_logits[real]
        model.set_attn_implementation("eager")
        theirs = model(ids, attention_mask=real.long(), token_type_ids=types).prediction_logits[real]
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def test_one_document_alone_is_refused(work: Path, tokenizer: BertTokenizer) -> None:
    alone = work / "alone.txt"
    alone.write_text("A lamp shines. It is far away.\n")
    with pytest.raises(InputError, match="two documents"):
        load_text([alone], tokenizer, work / "cache")
