"""A training computed: equal to its checkpoints' own results and to literal loops, resumed, and honest about gaps."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from bertviz_core.analyses import requests
from bertviz_core.analyses.dependency_heads.result import shown_relations
from bertviz_core.analyses.sep_gradients.measure import masked_examples
from bertviz_core.corpora.samples import sample
from bertviz_core.emergence.checkpoint_results import ANALYSES, LOSS, checkpoint_results
from bertviz_core.emergence.requests import EmergenceRequest, compute, find, read, shipped, stored
from bertviz_core.emergence.training_folder import find_training
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import Cancelled, InputError, SettingsError
from bertviz_core.settings import Settings
from tests import families, trainings
from tests.oracles import emergence as reference_emergence
from tests.test_promises import imported_by

TEXT = "the cat sat on the mat .\nthe dog slept , and slept\n\na river runs\nlamps are lit\n\nthe cat slept\n"
SETTINGS = Settings(max_length=64, limit=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trainings.save(tmp_path_factory.mktemp("training") / "steps")


@pytest.fixture
def request_for(source):
    def make(folder: Path, text: str = TEXT, settings: Settings = SETTINGS) -> EmergenceRequest:
        return EmergenceRequest(find_training(folder), source(text), sample("treebank"), settings)

    return make


def counting(count: int) -> Progress:
    """Cancels itself when so many checkpoints are done."""

    class Few(Progress):
        def advance(self, more: int) -> None:
            super().advance(more)
            if self.done >= count:
                self.cancelled.set()

    return Few()


def test_every_number_is_that_of_the_checkpoints_own_results(folder, request_for, store):
    asked = request_for(folder)
    found = compute(asked, store)
    assert found.steps.tolist() == list(trainings.STEPS) and found.shape == (2, 2)
    for place, one in enumerate(asked.training.checkpoints):
        alone = {name: requests.find(store, request) for name, request in asked.of(one).items()}
        surface, entropy, gradients = (alone[name] for name in ("surface_patterns", "entropy", LOSS))
        for name in (*surface.quantities, "entropy", "from_cls", "max_weight"):
            own = (surface if name in surface.quantities else entropy)[name]
            np.testing.assert_allclose(found[name][place], own, rtol=1e-6)
        assert found.loss[place] == gradients.loss and found.right[place] == gradients.accuracy
        assert found.uniform == entropy.uniform
        relations = shown_relations(alone["dependency_heads"])
        assert found.relations == relations.relations and len(found.relations) > 5
        np.testing.assert_array_equal(found.accuracy[place], relations.accuracy)
        np.testing.assert_array_equal(found.heldout[place], relations.heldout)
        np.testing.assert_array_equal(found.baseline, relations.offset_accuracy.max(0))
        np.testing.assert_array_equal(found.n, relations.n)
    assert len({float(loss) for loss in found.loss}) == len(found.steps)  # else nothing above tells steps apart


def test_the_loss_is_that_of_a_literal_loop_over_the_masked_tokens(folder, request_for, store):
    from transformers import AutoModelForMaskedLM

    from bertviz_core.models.loading import load_tokens
    from bertviz_core.models.segments import Segments

    asked = request_for(folder)
    found = compute(asked, store)
    segments = Segments(asked.text, load_tokens(asked.training.first), SETTINGS)
    inputs = list(masked_examples(segments, types=True))
    for place, one in enumerate(asked.training.checkpoints):
        model = AutoModelForMaskedLM.from_pretrained(one.folder, attn_implementation="eager", dtype="float32").eval()
        loss, right = reference_emergence.masked_word_loss(model, inputs)
        assert found.loss[place] == pytest.approx(loss, abs=1e-5)
        assert found.right[place] == right


def test_a_cancelled_emergence_goes_on_where_it_stopped(folder, request_for, store, monkeypatch):
    asked = request_for(folder)
    with pytest.raises(Cancelled):
        compute(asked, store, progress=counting(1))
    assert find(store, asked) is None
    first, second, _ = (
        [requests.find(store, request) is not None for request in asked.of(one).values()]
        for one in asked.training.checkpoints
    )
    assert all(first) and not any(second)
    passes = []
    real = requests.compute_all
    monkeypatch.setattr(requests, "compute_all", lambda wanted, *rest: (passes.append(1), real(wanted, *rest)))
    progress = Progress()
    found = compute(asked, store, progress=progress)
    assert len(passes) == progress.done == progress.total == 2
    again = find(store, asked)
    assert again is not None and again.arrays() == found.arrays() and again.provenance == found.provenance


def test_a_broken_checkpoint_is_left_out_and_named(folder, request_for, store, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "steps")
    weights = copied / "step-0000010" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    found = compute(request_for(copied), store)
    assert found.steps.tolist() == [0, 200]
    entry = next(e for e in found.provenance["left_out"] if "checkpoint" in e["reason"])
    assert entry["where"] == ["step-0000010"] and entry["count"] == 1
    assert [one["step"] for one in found.provenance["checkpoints"]] == [0, 200]
    for name in ("step-0000000", "step-0000200"):
        shutil.rmtree(copied / name)
    with pytest.raises(InputError, match="No checkpoint is in this folder that can be read"):
        request_for(copied)


def test_without_a_masked_word_head_there_is_no_loss_and_all_the_rest(request_for, store, tmp_path):
    found = compute(request_for(trainings.save(tmp_path / "steps", steps=(5, 50), auto="AutoModel")), store)
    assert np.isnan(found.loss).all() and np.isnan(found.right).all()
    assert found.arrays()["loss"] == [None, None]
    assert not np.isnan(found["previous"]).any()
    assert any("masked-word loss" in e["reason"] and e["count"] == 2 for e in found.provenance["left_out"])


def test_a_causal_model_has_what_it_can_have_in_mode_paper_too(request_for, store, tmp_path):
    folder = trainings.save(tmp_path / "steps", steps=(5, 50), auto="AutoModel", family=families.FAMILIES["gpt2"])
    found = compute(request_for(folder, settings=Settings(max_length=64, limit=60, mode="paper")), store)
    assert "to_sep" not in found.present and "to_sep" not in found.to_frame()
    assert np.isnan(found.loss).all() and not np.isnan(found["next"]).any()
    assert found.offsets.tolist() == [-3, -2, -1, 0, 1, 2]


def test_a_bad_text_and_bad_settings_are_said_once_and_nothing_is_left_out(folder, request_for, store):
    with pytest.raises(InputError, match="is empty"):
        compute(request_for(folder, text=""), store)
    with pytest.raises(SettingsError, match="longer than this model allows"):
        compute(request_for(folder, settings=Settings(max_length=65)), store)


def test_a_bad_text_is_said_of_models_without_a_head_too(request_for, store, tmp_path):
    folder = trainings.save(tmp_path / "steps", steps=(5, 50), auto="AutoModel")
    with pytest.raises(InputError, match="is empty"):
        compute(request_for(folder, text=""), store)


def test_no_sentences_are_kept_of_any_checkpoint(folder, request_for, store):
    asked = request_for(folder)
    compute(asked, store)
    results = {name: requests.find(store, one) for name, one in asked.of(asked.training.first).items()}
    kept = checkpoint_results(0, -1, results).dependency
    assert results["dependency_heads"].guesses.size and not kept.guesses.size + kept.weights.size + len(kept.sentences)
    assert kept.relations == shown_relations(results["dependency_heads"]).relations


def test_what_an_emergence_depends_on_is_in_its_key(folder, request_for, source, tmp_path):
    asked = request_for(folder)
    copied = shutil.copytree(folder, tmp_path / "elsewhere")
    assert request_for(copied).key() == asked.key()
    training = asked.training
    others = [
        request_for(folder, text=TEXT + "."),
        request_for(folder, settings=Settings(max_length=64)),
        EmergenceRequest(training, asked.text, source("He 2-nsubj\nsat 0-root"), SETTINGS),
    ]
    shutil.rmtree(copied / "step-0000200")
    others.append(request_for(copied))
    (copied / "loss.csv").write_text("step,tokens\n10,320\n")
    others.append(request_for(copied))
    assert len({asked.key(), *(other.key() for other in others)}) == 1 + len(others)


def test_tokens_and_provenance_say_where_the_numbers_come_from(folder, request_for, store, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "steps")
    (tmp_path / "loss.csv").write_text("step,tokens\n10,320\n")
    asked = request_for(copied)
    found = compute(asked, store)
    assert found.tokens.tolist() == [0, 320, -1] and found.arrays()["tokens"] == [0, 320, None]
    origin = found.provenance
    assert [one["fingerprint"] for one in origin["checkpoints"]] == [
        one.fingerprint() for one in asked.training.checkpoints
    ]
    assert origin["model"]["fingerprint"] == asked.training.fingerprint()
    assert str(tmp_path) not in str(origin)
    assert origin["others"]["treebank"]["digest"] == sample("treebank").digest
    assert [(key, told["model"]["name"]) for key, told in stored(store)] == [(asked.key(), asked.training.name)]
    assert read(store, asked.key()) is not None and read(store, "0" * 64) is None


def test_what_ships_opens_without_torch_and_is_small():
    found = shipped()
    assert len(found.steps) >= 10 and (np.diff(found.steps) > 0).all()
    assert set(found.provenance["model"]) >= {"name", "fingerprint", "layers", "heads"}
    assert len(found.to_bytes()) < 1_500_000
    code = "from bertviz_core.emergence.requests import shipped; e = shipped(); e.to_frame(); e.behaviors()"
    assert not imported_by(code) & {"torch", "transformers", "streamlit"}
    assert set(ANALYSES) | {LOSS} <= set(requests.ANALYSES)
