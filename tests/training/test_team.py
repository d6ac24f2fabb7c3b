"""Processes that share a step: the same numbers as one process, the parts of the optimizers, and what goes wrong."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import BertTokenizer

from bertviz_core.errors import ModelError, SettingsError
from tests.training.runs import LENGTH, RECIPE, SEED, SHAPE, SIZE, text_and_tokenizer
from training.batches import Batches
from training.loop import Run
from training.model import new_model
from training.optimizer import Optimizers, is_for_muon, is_query_or_key, split
from training.penalty import EntropyPenalty
from training.recipe import Plan, Recipe
from training.text import Text

SHARED = replace(RECIPE, micro_batches=2, query_key_rate=1e-3, penalty=EntropyPenalty((0.0, 0.1), 0.5, 1.0))
PLAN = Plan(steps=6, decay=3, validation_examples=SIZE, checkpoint_every=2)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Text, BertTokenizer]:
    torch.set_num_threads(1)
    return text_and_tokenizer(tmp_path_factory.mktemp("team"))


def start(folder: Path, parts: tuple[Text, BertTokenizer], processes: int, recipe: Recipe = SHARED) -> Run:
    text, tokenizer = parts
    model = new_model(SHAPE, len(tokenizer), SEED)
    micro = Batches(text, recipe.batch // recipe.micro_batches, LENGTH, len(tokenizer), SEED)
    validation = Batches(text, SIZE, LENGTH, len(tokenizer), seed=0)
    return Run(folder, model, tokenizer, micro, validation, recipe, PLAN, processes)


def numbers(path: Path) -> list[list[float]]:
    return [[float(value) for value in line.split(",")] for line in path.read_text().splitlines()[1:]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, parts: tuple[Text, BertTokenizer]) -> Path:
    """A run of two processes."""
    folder = tmp_path_factory.mktemp("whole")
    assert start(folder, parts, 2).train()
    return folder


def assert_same(folder: Path, other: Path, rel: float) -> None:
    ours, theirs = numbers(folder / "loss.csv"), numbers(other / "loss.csv")
    assert len(ours) == PLAN.steps
    for mine, yours in zip(ours, theirs, strict=True):
        assert mine == pytest.approx(yours, rel=rel)
    weights, others = (load_file(path / "checkpoint.safetensors") for path in (folder, other))
    assert weights.keys() == others.keys()
    for name, value in others.items():
        torch.testing.assert_close(weights[name], value, atol=rel, rtol=rel, msg=name)


def test_two_processes_come_to_what_one_comes_to(
    tmp_path: Path, whole: Path, parts: tuple[Text, BertTokenizer]
) -> None:
    assert start(tmp_path, parts, 1).train()
    assert all(row[-1] > 0 for row in numbers(whole / "loss.csv"))  # the penalty is at work
    assert_same(whole, tmp_path, rel=2e-3)


def test_a_stopped_run_goes_on_with_two_or_one(tmp_path: Path, whole: Path, parts: tuple[Text, BertTokenizer]) -> None:
    asked = iter([False] * 3 + [True])
    assert not start(tmp_path / "two", parts, 2).train(lambda: next(asked))
    shutil.copytree(tmp_path / "two", tmp_path / "one")
    assert start(tmp_path / "two", parts, 2).train()
    assert start(tmp_path / "one", parts, 1).train()
    assert_same(tmp_path / "two", whole, rel=0)
    assert_same(tmp_path / "one", whole, rel=2e-3)


def test_micro_batches_add_up_to_the_step(tmp_path: Path, parts: tuple[Text, BertTokenizer]) -> None:
    run = start(tmp_path, parts, 1)
    losses = run.team.first.backward(0)
    together = run.team.first.gradients.clone()
    single = torch.zeros_like(together)
    for number in (0, 1):
        alone = start(tmp_path, parts, 1, replace(SHARED, micro_batches=1, batch=SIZE // 2))
        losses -= alone.team.first.backward(number) / 2
        single += alone.team.first.gradients / 2
    torch.testing.assert_close(together, single)
    torch.testing.assert_close(losses, torch.zeros(3), atol=1e-6, rtol=0)


def test_every_parameter_belongs_to_one_process(parts: tuple[Text, BertTokenizer]) -> None:
    parameters = dict(new_model(SHAPE, len(parts[1]), SEED).named_parameters())
    for count in (1, 2, 3):
        names = split(parameters, count)
        assert len(names) == count
        assert sorted(name for part in names for name in part) == sorted(parameters)


def test_adamw_takes_queries_and_keys_at_their_own_rate(parts: tuple[Text, BertTokenizer]) -> None:
    parameters = dict(new_model(SHAPE, len(parts[1]), SEED).named_parameters())
    before = {name: p.detach().clone() for name, p in parameters.items()}
    for p in parameters.values():
        p.grad = torch.randn_like(p)
    optimizers = Optimizers(parameters, query_key_scale=0.5)
    optimizers.step(1e-3)
    names = [name for name in parameters if is_query_or_key(name)]
    assert len(names) == 2 * SHAPE.layers
    for name in names:
        p, g = before[name], parameters[name].grad
        assert g is not None
        rate = 0.5e-3
        expected = p - rate * 0.01 * p - rate * g / (g.abs() + 1e-6)  # Adam's first step is the sign of the gradient
        torch.testing.assert_close(parameters[name].detach(), expected, atol=1e-7, rtol=1e-4)
        assert not is_for_muon(name, parameters[name], muon_on_query_key=False)
        assert f"optimizer/exp_avg/{name}" in optimizers.tensors()


def test_a_process_that_ends_ends_the_run(tmp_path: Path, parts: tuple[Text, BertTokenizer]) -> None:
    run = start(tmp_path, parts, 2)
    run.team.start()
    run.team.everyone("gather")
    run.team.processes[0].kill()
    with pytest.raises(ModelError, match="has ended"):
        run.team.step(0, 1e-3)
    run.team.stop()


def test_what_cannot_be_shared_is_refused(tmp_path: Path, parts: tuple[Text, BertTokenizer]) -> None:
    with pytest.raises(SettingsError, match="2 processes cannot share 1"):
        start(tmp_path, parts, 2, replace(SHARED, micro_batches=1))
    with pytest.raises(SettingsError, match="cannot be divided"):
        start(tmp_path, parts, 1, replace(SHARED, micro_batches=3))
    with pytest.raises(SettingsError, match="1 weights"):
        start(tmp_path, parts, 1, replace(SHARED, penalty=EntropyPenalty((0.1,), 0.5, 1.0)))
