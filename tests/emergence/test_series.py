"""A training computed: equal to its checkpoints' own results, resumed, and honest about gaps."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from bertviz_core.analyses.base.reading_warnings import reading_warnings
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.run import compute
from bertviz_core.analyses.run.compute import compute_all
from bertviz_core.analyses.run.run_pass import can_compute
from bertviz_core.corpora.files import sample
from bertviz_core.corpora.source import from_bytes
from bertviz_core.corpora.treebank import UAS
from bertviz_core.emergence.figure import curves_figure, head_figure, relations_figure
from bertviz_core.emergence.result import REQUIRED, Emergence
from bertviz_core.emergence.series import LOSS, CheckpointRequests, shipped
from bertviz_core.emergence.training import find_training
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import Cancelled, InputError, ModelError, SettingsError
from bertviz_core.heads import Head
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import loading
from bertviz_core.models.checkpoint import DEMO_DECODER, find_checkpoint
from bertviz_core.overview.head_columns import behavior_labels
from bertviz_core.settings import Settings
from tests.support import families
from tests.support.families import FAMILIES
from tests.test_imports import loaded_by

TEXT = "the cat sat on the mat .\nthe dog slept , and slept\n\na river runs\nlamps are lit\n\nthe cat slept\n"
SETTINGS = Settings(max_length=64, limit=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return families.save_training(tmp_path_factory.mktemp("training") / "steps")


def series(folder: Path, text: str = TEXT, settings: Settings = SETTINGS) -> CheckpointRequests:
    return CheckpointRequests(
        find_training(folder), from_bytes(text.encode(), "given.txt"), sample("treebank"), settings
    )


@pytest.fixture(scope="module")
def filled(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with the results of all checkpoints."""
    store = Store(tmp_path_factory.mktemp("store"), shipped=tmp_path_factory.mktemp("none"))
    compute_all(series(folder).requests(), store)
    return store


def assembled(training: CheckpointRequests, store: Store) -> Emergence:
    return training.assemble(partial(compute.find, store))


def computed(training: CheckpointRequests, store: Store) -> Emergence:
    compute_all(training.requests(), store)
    return assembled(training, store)


def counting(count: int) -> Progress:
    """Cancels itself when so many passes are done."""

    class Few(Progress):
        def start_pass(self, number: int, passes: int, subject: str) -> None:
            if number > count:
                self.cancelled.set()
            super().start_pass(number, passes, subject)

    return Few()


def test_every_number_is_that_of_the_checkpoints_own_results(folder, filled):
    training = series(folder)
    emergence = assembled(training, filled)
    assert emergence.steps.tolist() == list(families.STEPS) and emergence.shape == (2, 2)
    for index, checkpoint in enumerate(training.training.checkpoints):
        alone = {name: compute.find(filled, request) for name, request in training.requests_of(checkpoint).items()}
        surface, entropy, gradients = (alone[name] for name in ("surface_patterns", "entropy", LOSS))
        for name in (*surface.quantities, "entropy", "from_cls", "max_weight"):
            own = surface if name in surface.quantities else entropy
            np.testing.assert_allclose(emergence[name][index], own[name], rtol=1e-6)
            np.testing.assert_allclose(emergence.error(name)[index], own.error[own.quantities.index(name)], rtol=1e-5)
        assert emergence.loss[index] == gradients.loss and emergence.masked_accuracy[index] == gradients.accuracy
        assert emergence.uniform == entropy.uniform
        relations = alone["dependency_heads"].default_view()
        assert emergence.relations == relations.relations and len(emergence.relations) > 5
        np.testing.assert_array_equal(emergence.dependencies[index].accuracy, relations.accuracy)
        np.testing.assert_array_equal(emergence.heldout[index], relations.held_out()[0])
        np.testing.assert_array_equal(emergence.baseline, relations.offset_accuracy().max(0))
        np.testing.assert_array_equal(emergence.n, relations.n)
        overview = behavior_labels(alone)  # one model, one number on both pages
        np.testing.assert_array_equal(emergence.behaviors()[index], overview)
    assert len({float(loss) for loss in emergence.loss}) == len(emergence.steps)  # else nothing above tells steps apart


def test_what_other_analyses_follow_is_each_checkpoints_own_and_absent_at_a_step_without_it(folder, filled):
    training = series(folder)
    emergence = assembled(training, filled)
    assert {"reach_distance_ordinary", "reach_sink_cls", "reach_sink_sep", "induction_prefix"} <= {*emergence.curves}
    for index, checkpoint in enumerate(training.training.checkpoints):
        requests = training.requests_of(checkpoint)
        for name, quantity in (("reach", "sink_cls"), ("reach", "distance_ordinary"), ("induction", "prefix")):
            own = compute.find(filled, requests[name])
            np.testing.assert_allclose(emergence.curve(f"{name}_{quantity}")[index], own[quantity], rtol=1e-6)
            for end, of_own in zip(emergence.curve_limits(f"{name}_{quantity}"), own.limits(quantity), strict=True):
                np.testing.assert_allclose(end[index], of_own, rtol=1e-5, atol=1e-7)
    assert curves_figure(emergence).layout.annotations[0].text == "mean distance, ordinary tokens"
    assert Emergence.from_bytes(emergence.to_bytes()).curves == emergence.curves
    heads = emergence.tables()["heads"]
    np.testing.assert_allclose(heads["induction_prefix"], emergence.curve("induction_prefix").ravel())
    middle = training.requests_of(training.training.checkpoints[1])["induction"]
    partly = training.assemble(lambda request: None if request == middle else compute.find(filled, request))
    assert np.isnan(partly.curve("induction_prefix")[1]).all()
    assert not np.isnan(partly.curve("induction_prefix")[[0, 2]]).any()
    assert ["induction" in partly.results(index) for index in range(3)] == [True, False, True]
    none = training.assemble(
        lambda each: None if each.analysis in ("reach", "induction") else compute.find(filled, each)
    )
    assert none.curves == [] and none.steps.tolist() == emergence.steps.tolist()
    np.testing.assert_array_equal(none.averages, emergence.averages)


def test_a_folder_of_llama_checkpoints(store, tmp_path):
    """The library's own next-word loss, the checkpoints' own arcs, and figures that say on how many words they rest."""
    from transformers import AutoModelForCausalLM

    folder = families.save_training(tmp_path, (0, 100), "AutoModelForCausalLM", FAMILIES["llama"])
    training = series(folder)
    emergence = computed(training, store)
    assert emergence.loss_name == "next-word loss" and "to_first" in emergence.present
    assert not {"next", "to_sep"} & {*emergence.present}
    segments = list(Segments(training.text, loading.load_tokens(training.training.checkpoints[0]), SETTINGS))
    for index, step in enumerate(training.training.checkpoints):
        model = AutoModelForCausalLM.from_pretrained(step.folder, dtype="float32").eval()
        inputs = [torch.from_numpy(segment.ids)[None] for segment in segments]
        with torch.no_grad():
            losses = [float(model(ids, labels=ids).loss) for ids in inputs]
        assert emergence.loss[index] == pytest.approx(np.mean(losses), abs=1e-5)
        arcs = compute.find(store, training.requests_of(step)["dependency_heads"]).default_view()
        np.testing.assert_array_equal(emergence.dependencies[index].accuracy, arcs.accuracy)
        np.testing.assert_array_equal(emergence.dependencies[index].random, arcs.random)
        induction = compute.find(store, training.requests_of(step)["induction"])
        assert emergence.copy_losses[index].tolist() == pytest.approx(induction.losses)
        again = emergence.results(index)["induction"]
        for quantity in induction.quantities:
            np.testing.assert_allclose(again[quantity], induction[quantity], rtol=1e-6)
            np.testing.assert_allclose(again.interval(quantity), induction.interval(quantity), rtol=1e-5)
    figure = relations_figure(Emergence.from_bytes(emergence.to_bytes()), [UAS])
    row, final = emergence.relations.index(UAS), arcs.best_n
    assert figure.layout.annotations[0].text == f"UAS (n = {final[row]:,})" and final[row] < emergence.n[:, row].sum()
    level = next(trace for trace in figure.data if trace.name == "random word")
    assert set(level.y) == {100 * arcs.random[row]} and 0 < level.y[0] < 100
    drawn = {trace.name for trace in head_figure(emergence, Head(0, 1)).data}
    assert {"the first token", "the previous token"} <= drawn


def test_a_cancelled_training_resumes_where_it_stopped(folder, store, monkeypatch):
    training = series(folder)
    with pytest.raises(Cancelled):
        compute_all(training.requests(), store, progress=counting(4))
    first, second, _ = (
        [
            compute.find(store, request) is not None
            for request in training.requests_of(checkpoint).values()
            if can_compute(request)
        ]
        for checkpoint in training.training.checkpoints
    )
    assert all(first) and not any(second)
    partly = assembled(training, store)
    assert partly.steps.tolist() == [0]
    entry = partly.provenance["skipped"][0]
    assert entry["reason"] == "a checkpoint without stored results"
    assert entry["where"] == ["step-0000010", "step-0000200"]
    loaded, real = [], loading.load
    monkeypatch.setattr(
        loading, "load", lambda one, *how, **more: (loaded.append(one.name), real(one, *how, **more))[1]
    )
    progress = Progress()
    compute_all(training.requests(), store, progress=progress)
    assert loaded == [one.name for one in training.training.checkpoints[1:]]  # each once, for all its passes
    assert (progress.pass_number, progress.passes) == (8, 8)
    whole = assembled(training, store)
    assert whole.steps.tolist() == list(families.STEPS)
    np.testing.assert_array_equal(whole.averages[0], partly.averages[0])


def test_a_broken_checkpoint_is_skipped_and_named(folder, filled, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "steps")
    weights = copied / "step-0000010" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    emergence = assembled(series(copied), filled)
    assert emergence.steps.tolist() == [0, 200]
    entry = next(e for e in emergence.provenance["skipped"] if "checkpoint" in e["reason"])
    assert entry["where"] == ["step-0000010"] and entry["count"] == 1
    assert entry["reason"] == "a checkpoint that cannot be used: model.safetensors is damaged or cut off"
    assert [each["step"] for each in emergence.provenance["checkpoints"]] == [0, 200]
    for name in ("step-0000000", "step-0000200"):
        shutil.rmtree(copied / name)
    with pytest.raises(InputError, match="No checkpoint is in this training that can be read"):
        series(copied)


def test_a_notice_of_any_checkpoint_is_kept_once(folder, filled):
    training = series(folder)
    first = training.training.checkpoints[0]

    def find(request: Request) -> Result | None:
        result = compute.find(filled, request)
        notices = ["A head is not used."] if request.checkpoint == first else []
        return result and replace(result, provenance=result.provenance | {"notices": notices})

    assert training.assemble(find).provenance["notices"] == ["A head is not used."]


def test_without_a_masked_word_head_there_is_no_loss_and_all_the_rest(store, tmp_path):
    emergence = computed(series(families.save_training(tmp_path / "steps", steps=(5, 50), auto="AutoModel")), store)
    assert np.isnan(emergence.loss).all() and np.isnan(emergence.masked_accuracy).all()
    assert emergence.arrays()["loss"] == [None, None]
    assert not np.isnan(emergence["previous"]).any()
    assert any("no masked-word loss" in e["reason"] and e["count"] == 2 for e in emergence.provenance["skipped"])


def test_a_bad_text_and_bad_settings_are_tried_once_for_all_checkpoints(folder, store, monkeypatch):
    starts, real = [], Progress.start_pass
    monkeypatch.setattr(Progress, "start_pass", lambda self, *rest: (starts.append(rest[-1]), real(self, *rest)))
    with pytest.raises(InputError, match="is empty"):
        compute_all(series(folder, text="").requests(), store)
    # The treebank's pass, and that of random sequences, need no text.
    assert starts.count("step-0000000") == 4 and starts.count("step-0000010") == 2
    with pytest.raises(SettingsError, match="longer than this model allows"):
        compute_all(series(folder, settings=Settings(max_length=65)).requests(), store)
    with pytest.raises(ModelError, match="None of the 3 checkpoints has stored results"):
        assembled(series(folder, text=""), store)


def test_the_provenance_says_where_the_numbers_come_from(folder, filled, tmp_path):
    training = series(shutil.copytree(folder, tmp_path / "steps"))
    emergence = assembled(training, filled)
    assert emergence.arrays()["tokens"] == [None, None, None]
    origin = emergence.provenance
    assert [each["fingerprint"] for each in origin["checkpoints"]] == [
        each.fingerprint() for each in training.training.checkpoints
    ]
    assert origin["model"]["fingerprint"] == training.training.fingerprint()
    assert str(tmp_path) not in str(origin)
    assert origin["others"]["treebank"]["digest"] == sample("treebank").digest


def test_a_large_share_that_was_skipped_is_said_of_the_corpus_it_is_of(folder, store):
    tree = "1\tthe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tcat\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    bank = from_bytes((tree * 2 + tree.replace("\t2\tdet", "\t9\tdet") * 2).encode(), "bank.conllu")
    training = CheckpointRequests(find_training(folder), from_bytes(TEXT.encode(), "given.txt"), bank, SETTINGS)
    (warning,) = [line for line in reading_warnings(computed(training, store)) if "skipped" in line]
    assert "2 of 4 sentences of bank.conllu (50%)" in warning


def test_what_ships_opens_without_torch_and_is_small():
    emergence = shipped()
    assert len(emergence.steps) >= 12 and (np.diff(emergence.steps) > 0).all()
    assert emergence.provenance["checkpoints"][-1]["fingerprint"] == find_checkpoint(DEMO_DECODER).fingerprint()
    assert emergence.copy_losses is not None and {"induction_prefix", "reach_sink_first"} <= {*emergence.curves}
    assert set(emergence.provenance["model"]) >= {"name", "fingerprint", "layers", "heads"}
    assert len(emergence.to_bytes()) < 1_500_000
    code = "from bertviz_core.emergence.series import shipped; e = shipped(); e.to_frame(); e.behaviors()"
    assert not loaded_by(code) & {"torch", "transformers", "streamlit"}
    assert {LOSS, *REQUIRED} <= set(compute.ANALYSES)
