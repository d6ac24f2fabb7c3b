"""The callback of Trainer: the training is the same with it, its numbers are those of the model at that step, and what
it leaves is opened as a training."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analyses.run import compute
from bertviz_core.corpora.files import sample, source_of
from bertviz_core.emergence.series import CheckpointRequests
from bertviz_core.emergence.training import find_training
from bertviz_core.engine.store import Store
from bertviz_core.settings import Settings
from tests.test_imports import loaded_by

pytest.importorskip("accelerate")  # which Trainer needs

TEXTS = ["The cat sat on the mat.\nThe dog slept, and slept."]
SMALL = {"text": TEXTS, "limit": 20, "max_length": 64}


def listener(heard: list[tuple[int, dict[str, Any]]]) -> Any:
    """A callback of Trainer, in place of one that draws curves, which puts what it is sent into the list."""
    from transformers import TrainerCallback

    class Listening(TrainerCallback):
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            heard.append((state.global_step, dict(logs)))

    return Listening()


def trainer(folder: Path, output: Path, callbacks: Sequence[Any] = (), **arguments: Any) -> Any:
    """Of a small model with dropout, for 5 steps."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer, Trainer, TrainingArguments, set_seed

    set_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder, hidden_dropout_prob=0.1)
    ids = tokenizer("the cat sat on the mat .", padding="max_length", max_length=16)
    data = [{**ids, "labels": ids["input_ids"]}] * 12
    quiet = {"report_to": "none", "disable_tqdm": True, "save_strategy": "no", "use_cpu": True}
    options = quiet | {"max_steps": 5, "logging_steps": 1, "learning_rate": 1e-2} | arguments
    settings = TrainingArguments(str(output), per_device_train_batch_size=4, **options)
    about = {"train_dataset": data, "eval_dataset": data, "processing_class": tokenizer}
    return Trainer(model, settings, callbacks=[*callbacks], **about)


def trained(of: Any) -> tuple[Any, Any]:
    """The trainer after its training; its losses by step, and the next random numbers."""
    of.train()
    losses = [(entry["step"], entry["loss"]) for entry in of.state.log_history if "loss" in entry]
    return of, (losses, torch.rand(3).tolist(), np.random.random(), random.random())  # noqa: NPY002


def test_a_training_is_the_same_with_it_and_every_logger_gets_its_numbers(masked_folder, tmp_path):
    heard: list[tuple[int, dict[str, Any]]] = []
    plain, after = trained(trainer(masked_folder, tmp_path / "a"))
    watched = trainer(masked_folder, tmp_path / "b", [listener(heard)])
    callback = bv.HeadStatistics(watched, every=2, analyses=["entropy"], **SMALL)
    watched.add_callback(callback)
    assert trained(watched)[1] == after
    assert [step for step, _ in after[0]] == [1, 2, 3, 4, 5]
    for ours, theirs in zip(plain.model.state_dict().values(), watched.model.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs)
    assert watched.model.training and all(each.requires_grad for each in watched.model.parameters())
    assert list(callback.history) == [0, 2, 4, 5]
    sent = {step: logs for step, logs in heard if "heads/entropy/entropy" in logs}
    assert list(sent) == [0, 2, 4, 5]
    assert all(sent[step].items() >= logged.items() for step, logged in callback.history.items())


def test_its_numbers_are_those_of_the_model_at_that_step(masked_folder, tmp_path):
    watched = trainer(masked_folder, tmp_path)
    callback = bv.HeadStatistics(watched, every=100, analyses=["entropy", "dependency-heads"], **SMALL)
    watched.add_callback(callback)
    watched.train()
    assert list(callback.history) == [0, 5]
    pair = (watched.model, watched.processing_class)
    for name, corpus in (("entropy", TEXTS), ("dependency_heads", None)):
        result = bv.analyze(name, model=pair, corpus=corpus, limit=20, max_length=64, store=False)
        for quantity in result.quantities():
            highest = max((value, index) for index, value in np.ndenumerate(result[quantity]))
            logged = callback.history[5]
            assert logged[f"heads/{name}/{quantity}"] == pytest.approx(highest[0], abs=1e-6)
            label = logged[f"heads/{name}/{quantity}/head"]
            assert result[quantity][bv.Head.parse(label).layer, bv.Head.parse(label).head] == pytest.approx(highest[0])


def test_its_folder_is_a_training_whose_results_are_stored(masked_folder, tmp_path):
    watched = trainer(masked_folder, tmp_path / "out", max_steps=2)
    callback = bv.HeadStatistics(watched, every=1, folder=tmp_path / "heads", store=tmp_path / "store", **SMALL)
    watched.add_callback(callback)
    watched.train()
    training, store = find_training(tmp_path / "heads"), Store(tmp_path / "store")
    assert training.steps == (0, 1, 2)
    series = CheckpointRequests(
        training, source_of(TEXTS, "text"), sample("treebank"), Settings(max_length=64, limit=20)
    )
    assert all(compute.find(store, request) for request in series.requests())
    emergence = series.assemble(lambda request: compute.find(store, request))
    assert not np.isnan(emergence.loss).any()
    for step, entropy in zip((0, 1, 2), emergence["entropy"], strict=True):
        assert callback.history[step]["heads/entropy/entropy"] == pytest.approx(entropy.max(), abs=1e-6)


def test_steps_of_two_trainings_are_never_in_one_folder(masked_folder, tmp_path):
    watched = trainer(masked_folder, tmp_path / "out", max_steps=2, save_strategy="steps", save_steps=1)
    options = {"every": 1, "analyses": ["entropy"], "folder": tmp_path / "heads", "store": tmp_path / "store"}
    watched.add_callback(bv.HeadStatistics(watched, **options, **SMALL))
    watched.train()
    saved = {path: path.read_bytes() for path in (tmp_path / "heads").rglob("*.safetensors")}
    with pytest.raises(bv.BertvizError, match="steps of an earlier training"):
        watched.train()
    assert saved == {path: path.read_bytes() for path in (tmp_path / "heads").rglob("*.safetensors")}
    watched.train(resume_from_checkpoint=str(tmp_path / "out" / "checkpoint-1"))
    assert find_training(tmp_path / "heads").steps == (0, 1, 2)


def test_mistakes_end_the_training_before_it_begins(masked_folder, tmp_path):
    watched = trainer(masked_folder, tmp_path)
    for wrong, message in (
        ({"every": 0}, "every 0 steps"),
        ({"analyses": ["entrpy"]}, "There is no analysis 'entrpy'"),
    ):
        with pytest.raises(bv.BertvizError, match=message):
            bv.HeadStatistics(watched, **{"every": 1} | wrong)
    watched.add_callback(bv.HeadStatistics(watched, every=1, analyses=["entropy"], text=TEXTS, max_length=10**6))
    with pytest.raises(bv.BertvizError, match="longer than this model allows"):
        watched.train()
    assert watched.state.global_step == 0


FULL = (bv.BertvizError("The disk is full.", hint="Empty it."), OSError("The disk is full. Empty it."))


@pytest.mark.parametrize("error", FULL)
def test_a_later_error_is_a_warning_and_the_training_goes_on(masked_folder, tmp_path, monkeypatch, error):
    watched = trainer(masked_folder, tmp_path, max_steps=2)
    callback = bv.HeadStatistics(watched, every=1, analyses=["entropy"], **SMALL)
    watched.add_callback(callback)
    measure = callback._results

    def fail(step: int, store: Store) -> Any:
        if step == 1:
            raise error
        return measure(step, store)

    monkeypatch.setattr(callback, "_results", fail)
    with pytest.warns(UserWarning, match=r"not measured at step 1: The disk is full\. Empty it\."):
        watched.train()
    assert list(callback.history) == [0, 2]


def test_a_second_training_is_measured_anew(masked_folder, tmp_path):
    watched = trainer(masked_folder, tmp_path, max_steps=2)
    callback = bv.HeadStatistics(watched, every=1, analyses=["entropy"], **SMALL)
    watched.add_callback(callback)
    watched.train()
    first = callback.history
    watched.train()
    assert list(callback.history) == [0, 1, 2]
    assert callback.history[0] == first[2] != callback.history[2]
    assert [entry["step"] for entry in watched.state.log_history if "heads/entropy/entropy" in entry] == [0, 1, 2]


def test_the_best_model_loaded_at_the_end_is_not_taken_for_the_last(masked_folder, tmp_path):
    options = {"save_strategy": "steps", "save_steps": 1, "eval_strategy": "steps", "eval_steps": 1, "max_steps": 2}
    watched = trainer(masked_folder, tmp_path, load_best_model_at_end=True, learning_rate=1.0, **options)
    callback = bv.HeadStatistics(watched, every=100, analyses=["entropy"], **SMALL)
    watched.add_callback(callback)
    watched.train()
    assert list(callback.history) == [0, 2]  # at the last step itself, before the best is loaded


def test_trainer_is_imported_only_when_it_is_asked_for():
    assert not loaded_by("import bertviz_core as bv; bv.analyze; dir(bv)") & {"torch", "transformers"}


def test_mixed_precision_of_the_training_changes_no_number(masked_folder, tmp_path):
    logged = {}
    for folder in (None, tmp_path / "heads"):
        its = trainer(masked_folder, tmp_path / "out", bf16=True)
        callback = bv.HeadStatistics(its, every=3, folder=folder, store=tmp_path / "store", **SMALL)
        its.add_callback(callback)
        its.train()
        logged[folder] = callback.history
    without, within = logged.values()
    assert without.keys() == within.keys()
    for step, numbers in without.items():
        for name, value in numbers.items():
            assert within[step][name] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-5)), name
    saved = str(tmp_path / "heads" / "step-0000005")
    again = bv.analyze("sep_gradients", model=saved, corpus=TEXTS, limit=20, max_length=64, store=False)
    for quantity in again.quantities():
        expected = pytest.approx(float(np.nanmax(again[quantity])), rel=1e-4)
        assert without[5][f"heads/sep_gradients/{quantity}"] == expected


def with_adapters(of: Any) -> Any:
    """The same with LoRA in its layers."""
    peft = pytest.importorskip("peft")
    of.model = peft.get_peft_model(of.model, peft.LoraConfig(r=2, target_modules=["query", "value"], lora_alpha=32))
    return of


def test_adapters_are_saved_merged(masked_folder, tmp_path):
    its = with_adapters(trainer(masked_folder, tmp_path / "out"))
    folder = tmp_path / "heads"
    callback = bv.HeadStatistics(its, every=5, analyses=["entropy"], folder=folder, store=False, **SMALL)
    its.add_callback(callback)
    its.train()
    assert [path.name for path in sorted(folder.iterdir())] == ["step-0000000", "step-0000005"]
    again = bv.analyze(
        "entropy", model=str(folder / "step-0000005"), corpus=TEXTS, limit=20, max_length=64, store=False
    )
    assert callback.history[5]["heads/entropy/entropy"] == pytest.approx(float(again["entropy"].max()), abs=1e-5)
    assert callback.history[0] != callback.history[5]


def test_nothing_is_left_of_a_training_that_cannot_be_measured(masked_folder, tmp_path, monkeypatch):
    from bertviz_core import api_training

    def fails(*_: Any, **__: Any) -> None:
        raise bv.BertvizError("It fails.")

    monkeypatch.setattr(api_training.compute, "compute_all", fails)
    its = trainer(masked_folder, tmp_path / "out")
    its.add_callback(bv.HeadStatistics(its, every=5, folder=tmp_path / "heads", **SMALL))
    with pytest.raises(bv.BertvizError, match="It fails"):
        its.train()
    assert not (tmp_path / "heads").exists()


def test_a_training_that_is_resumed_drops_the_branch_that_was_given_up(masked_folder, tmp_path):
    folder = tmp_path / "heads"
    options = {"analyses": ["entropy"], "folder": folder, "store": tmp_path / "store", **SMALL}
    first = trainer(masked_folder, tmp_path / "out", save_strategy="steps", save_steps=2)
    first.add_callback(bv.HeadStatistics(first, every=1, **options))
    first.train()
    second = trainer(masked_folder, tmp_path / "out", save_strategy="steps", save_steps=2)
    callback = bv.HeadStatistics(second, every=3, **options)
    second.add_callback(callback)
    with pytest.warns(UserWarning, match="step-0000004 is deleted: the training is resumed from step 2"):
        second.train(resume_from_checkpoint=str(tmp_path / "out" / "checkpoint-2"))
    assert find_training(folder).steps == (0, 1, 2, 3, 5)
    assert list(callback.history) == [2, 3, 5]


def test_the_last_step_of_a_training_that_stops_early_is_measured(masked_folder, tmp_path):
    from transformers import EarlyStoppingCallback

    saving = {"save_strategy": "steps", "save_steps": 1, "eval_strategy": "steps", "eval_steps": 1}
    best = {"load_best_model_at_end": True, "metric_for_best_model": "eval_loss", "greater_is_better": True}
    for is_first in (True, False):
        its = trainer(masked_folder, tmp_path / f"out{is_first}", max_steps=30, **saving, **best)
        callback = bv.HeadStatistics(its, every=100, analyses=["entropy"], **SMALL)
        stopping = EarlyStoppingCallback(early_stopping_patience=2)
        for each in (callback, stopping) if is_first else (stopping, callback):
            its.add_callback(each)
        its.train()
        assert its.state.global_step < 30
        assert list(callback.history) == [0, its.state.global_step]


def test_what_the_trainer_lacks_is_said_before_the_first_step(masked_folder, tmp_path):
    its = trainer(masked_folder, tmp_path / "out")
    tokenizer = its.processing_class
    its.processing_class = None
    its.add_callback(bv.HeadStatistics(its, every=5, **SMALL))
    with pytest.raises(bv.BertvizError, match=r"no tokenizer\. Give HeadStatistics\(trainer, tokenizer=tokenizer"):
        its.train()

    class Own(torch.nn.Module):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, **inputs: Any) -> Any:
            return self.inner(**inputs)

    its = trainer(masked_folder, tmp_path / "out", remove_unused_columns=False)
    transformers_model = its.model
    its.model = its.model_wrapped = Own(its.model)
    its.add_callback(bv.HeadStatistics(its, every=5, tokenizer=tokenizer, **SMALL))
    with pytest.raises(bv.BertvizError, match="holds a BertForMaskedLM as `inner`"):
        its.train()
    measured = bv.HeadStatistics(its, every=5, tokenizer=tokenizer, model=transformers_model, **SMALL)
    its.callback_handler.callbacks.pop()
    its.add_callback(measured)
    its.train()
    assert list(measured.history) == [0, 5]
