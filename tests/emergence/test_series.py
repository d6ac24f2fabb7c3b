"""A training computed: equal to its checkpoints' own results and to literal loops, resumed, and honest about gaps."""

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from bertviz_core.analyses import model_pass, requests
from bertviz_core.analyses.behaviors import Thresholds, linguistic
from bertviz_core.analyses.dependency_heads.relations import UAS
from bertviz_core.analyses.requests import compute_all
from bertviz_core.analyses.sep_gradients.measure import labeled_examples
from bertviz_core.comparison.result import compare
from bertviz_core.corpora.files import sample
from bertviz_core.emergence.figure import head_figure, relations_figure
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import LOSS, REQUIRED, Series, checkpoint_names, checkpoint_result, shipped
from bertviz_core.emergence.training_folder import find_training
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import Cancelled, InputError, ModelError, SettingsError
from bertviz_core.heads import Head
from bertviz_core.models import loading
from bertviz_core.models.masking import Masking
from bertviz_core.models.segments import Segments
from bertviz_core.overview.head_summary import behavior_labels
from bertviz_core.settings import Settings
from tests import predicting, trainings
from tests.analyses import measures
from tests.oracles import comparison as reference_comparison
from tests.oracles import emergence as reference_emergence
from tests.oracles import reference, uncertainty
from tests.test_promises import imported_by

TEXT = "the cat sat on the mat .\nthe dog slept , and slept\n\na river runs\nlamps are lit\n\nthe cat slept\n"
SETTINGS = Settings(max_length=64, limit=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trainings.save(tmp_path_factory.mktemp("training") / "steps")


@pytest.fixture
def series(source):
    def make(folder: Path, text: str = TEXT, settings: Settings = SETTINGS) -> Series:
        return Series(find_training(folder), source(text), sample("treebank"), settings)

    return make


def assembled(series, store):
    return series.assemble(partial(requests.find, store))


def computed(series, store):
    compute_all(series.requests(), store)
    return assembled(series, store)


def counting(count: int) -> Progress:
    """Cancels itself when so many passes are done."""

    class Few(Progress):
        def start_pass(self, number: int, passes: int, subject: str) -> None:
            if number > count:
                self.cancelled.set()
            super().start_pass(number, passes, subject)

    return Few()


def test_every_number_is_that_of_the_checkpoints_own_results(folder, series, store):
    training = series(folder)
    found = computed(training, store)
    assert found.steps.tolist() == list(trainings.STEPS) and found.shape == (2, 2)
    for place, one in enumerate(training.training.checkpoints):
        alone = {name: requests.find(store, request) for name, request in training.requests_of(one).items()}
        surface, entropy, gradients = (alone[name] for name in ("surface_patterns", "entropy", LOSS))
        for name in (*surface.quantities, "entropy", "from_cls", "max_weight"):
            own = (surface if name in surface.quantities else entropy)[name]
            np.testing.assert_allclose(found[name][place], own, rtol=1e-6)
        assert found.loss[place] == gradients.loss and found.masked_accuracy[place] == gradients.accuracy
        assert found.uniform == entropy.uniform
        relations = alone["dependency_heads"].default_view()
        assert found.relations == relations.relations and len(found.relations) > 5
        np.testing.assert_array_equal(found.accuracy[place], relations.accuracy)
        np.testing.assert_array_equal(found.heldout()[place], relations.heldout())
        np.testing.assert_array_equal(found.baseline, relations.offset_accuracy().max(0))
        np.testing.assert_array_equal(found.n, relations.n)
        overview = behavior_labels(alone, Thresholds(), linguistic(alone))  # one model, one number on both pages
        np.testing.assert_array_equal(found.behaviors()[place], overview)
    assert len({float(loss) for loss in found.loss}) == len(found.steps)  # else nothing above tells steps apart


def test_the_loss_is_that_of_a_literal_loop_over_the_masked_tokens(folder, series, store):
    from transformers import AutoModelForMaskedLM

    from bertviz_core.models.loading import load_tokens
    from bertviz_core.models.segments import Segments

    training = series(folder)
    found = computed(training, store)
    segments = Segments(training.text, load_tokens(training.training.first), SETTINGS)
    inputs = list(labeled_examples(segments, Masking.of(segments.tokens, SETTINGS.seed), types=True))
    for place, one in enumerate(training.training.checkpoints):
        model = AutoModelForMaskedLM.from_pretrained(one.folder, attn_implementation="eager", dtype="float32").eval()
        loss, right = reference_emergence.masked_word_loss(model, inputs)
        assert found.loss[place] == pytest.approx(loss, abs=1e-5)
        assert found.masked_accuracy[place] == right


def test_a_folder_of_llama_checkpoints(series, store, tmp_path):
    """The library's own next-word loss, the checkpoints' own arcs, and figures that say on how many words they rest."""
    from transformers import AutoModelForCausalLM

    folder = trainings.save(tmp_path, (0, 100), "AutoModelForCausalLM", predicting.DECODERS["llama"])
    training = series(folder)
    emergence = computed(training, store)
    assert emergence.loss_name == "next-word loss" and "to_first" in emergence.present
    assert not {"next", "to_sep"} & {*emergence.present}
    segments = list(Segments(training.text, loading.load_tokens(training.training.first), SETTINGS))
    for index, step in enumerate(training.training.checkpoints):
        model = AutoModelForCausalLM.from_pretrained(step.folder, dtype="float32").eval()
        inputs = [torch.from_numpy(segment.ids)[None] for segment in segments]
        with torch.no_grad():
            losses = [float(model(ids, labels=ids).loss) for ids in inputs]
        assert emergence.loss[index] == pytest.approx(np.mean(losses), abs=1e-5)
        arcs = requests.find(store, training.requests_of(step)["dependency_heads"]).default_view()
        np.testing.assert_array_equal(emergence.accuracy[index], arcs.accuracy)
        np.testing.assert_array_equal(emergence.dependency(index).random, arcs.random)
    figure = relations_figure(Emergence.from_bytes(emergence.to_bytes()), [UAS])
    row, final = emergence.relations.index(UAS), arcs.best_n
    assert figure.layout.annotations[0].text == f"UAS (n = {final[row]:,})" and final[row] < emergence.n[:, row].sum()
    level = next(trace for trace in figure.data if trace.name == "random word")
    assert set(level.y) == {100 * arcs.random[row]} and 0 < level.y[0] < 100
    drawn = {trace.name for trace in head_figure(emergence, Head(0, 1)).data}
    assert {"the first token", "the previous token"} <= drawn


def test_differences_between_checkpoints_are_marked_as_the_oracle_does(folder, series, store):
    text = "\n".join([TEXT, TEXT.replace("cat", "river"), *4 * [TEXT.replace("slept", "ran")]])
    training = series(folder, text=text)
    found = computed(training, store)
    ends = [loading.load(training.training.checkpoints[place], "cpu") for place in (0, -1)]
    first, last = (measures.model_segments(model, training.text, SETTINGS) for model in ends)
    documents = [segment.document_number for segment in Segments(training.text, ends[0].tokens, SETTINGS)]
    assert len(set(documents)) >= 5
    marked = 0
    for analysis in ("surface_patterns", "entropy"):
        addresses = list(checkpoint_names(found, analysis))
        comparison = compare(*(checkpoint_result(found, analysis, addresses[place]) for place in (0, -1)))
        assert not any("no difference is marked" in note for note in comparison.notes)
        for name, change in comparison.changes.items():
            p = []
            for layer, head in np.ndindex(2, 2):
                (mean_a, error_a, units_a), (mean_b, error_b, units_b) = (
                    uncertainty.by_document(
                        [
                            [
                                getattr(reference, analysis)(maps[layer][head], kinds)[name]
                                for (maps, kinds), number in zip(segments, documents, strict=True)
                                if number == document
                            ]
                            for document in set(documents)
                        ]
                    )
                    for segments in (first, last)
                )
                assert found.error(name)[0, layer, head] == pytest.approx(error_a, abs=1e-5)
                assert change.difference[layer, head] == pytest.approx(mean_b - mean_a, abs=1e-5)
                freedom = uncertainty.welch(error_a**2, units_a - 1, error_b**2, units_b - 1)
                p.append(uncertainty.t_tails(abs(mean_b - mean_a) / (error_a**2 + error_b**2) ** 0.5, freedom))
            rejected = reference_comparison.holm_rejects(p, 0.05)
            assert set(np.flatnonzero(change.marked.reshape(-1)).tolist()) == rejected
            marked += len(rejected)
    assert marked
    assert found.arrays()["standard_errors"].keys() == set(found.present)
    assert {f"{name}_interval" for name in found.present} < set(found.tables()["heads"])


def test_a_cancelled_training_resumes_where_it_stopped(folder, series, store, monkeypatch):
    training = series(folder)
    with pytest.raises(Cancelled):
        compute_all(training.requests(), store, progress=counting(3))
    first, second, _ = (
        [requests.find(store, request) is not None for request in training.requests_of(one).values()]
        for one in training.training.checkpoints
    )
    assert all(first) and not any(second)
    partly = assembled(training, store)
    assert partly.steps.tolist() == [0]
    entry = partly.provenance["skipped"][0]
    assert entry["reason"] == "a checkpoint without stored results"
    assert entry["where"] == ["step-0000010", "step-0000200"]
    loaded, real = [], model_pass.load_model
    monkeypatch.setattr(
        model_pass, "load_model", lambda *both: (loaded.append(both[0][0].checkpoint.name), real(*both))[1]
    )
    progress = Progress()
    compute_all(training.requests(), store, progress=progress)
    assert loaded == [one.name for one in training.training.checkpoints[1:]]  # each once, for all its passes
    assert (progress.pass_number, progress.passes) == (6, 6)
    whole = assembled(training, store)
    assert whole.steps.tolist() == list(trainings.STEPS)
    np.testing.assert_array_equal(whole.averages[0], partly.averages[0])


def test_a_broken_checkpoint_is_skipped_and_named(folder, series, store, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "steps")
    weights = copied / "step-0000010" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    found = computed(series(copied), store)
    assert found.steps.tolist() == [0, 200]
    entry = next(e for e in found.provenance["skipped"] if "checkpoint" in e["reason"])
    assert entry["where"] == ["step-0000010"] and entry["count"] == 1
    assert [one["step"] for one in found.provenance["checkpoints"]] == [0, 200]
    for name in ("step-0000000", "step-0000200"):
        shutil.rmtree(copied / name)
    with pytest.raises(InputError, match="No checkpoint is in this folder that can be read"):
        series(copied)


def test_a_checkpoint_that_cannot_be_loaded_does_not_stop_the_others(folder, series, store, monkeypatch):
    training, real = series(folder), model_pass.load_model

    def load(together, execution):
        if together[0].checkpoint.folder.name == "step-0000010":
            raise ModelError("It cannot be loaded.")
        return real(together, execution)

    monkeypatch.setattr(model_pass, "load_model", load)
    with pytest.raises(ModelError, match="cannot be loaded"):
        compute_all(training.requests(), store)
    found = assembled(training, store)
    assert found.steps.tolist() == [0, 200]
    assert {"reason": "a checkpoint without stored results", "count": 1, "where": ["step-0000010"]} in found.provenance[
        "skipped"
    ]


def test_without_a_masked_word_head_there_is_no_loss_and_all_the_rest(series, store, tmp_path):
    found = computed(series(trainings.save(tmp_path / "steps", steps=(5, 50), auto="AutoModel")), store)
    assert np.isnan(found.loss).all() and np.isnan(found.masked_accuracy).all()
    assert found.arrays()["loss"] == [None, None]
    assert not np.isnan(found["previous"]).any()
    assert any("no masked-word loss" in e["reason"] and e["count"] == 2 for e in found.provenance["skipped"])


def test_a_bad_text_and_bad_settings_are_tried_once_for_all_checkpoints(folder, series, store, monkeypatch):
    starts, real = [], Progress.start_pass
    monkeypatch.setattr(Progress, "start_pass", lambda self, *rest: (starts.append(rest[-1]), real(self, *rest)))
    with pytest.raises(InputError, match="is empty"):
        compute_all(series(folder, text="").requests(), store)
    assert starts.count("step-0000000") == 3 and starts.count("step-0000010") == 1  # the treebank's
    with pytest.raises(SettingsError, match="longer than this model allows"):
        compute_all(series(folder, settings=Settings(max_length=65)).requests(), store)
    with pytest.raises(ModelError, match="None of the 3 checkpoints has stored results"):
        assembled(series(folder, text=""), store)


def test_tokens_and_provenance_say_where_the_numbers_come_from(folder, series, store, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "steps")
    (tmp_path / "loss.csv").write_text("step,tokens\n10,320\n")
    training = series(copied)
    found = computed(training, store)
    assert found.tokens.tolist() == [0, 320, -1] and found.arrays()["tokens"] == [0, 320, None]
    origin = found.provenance
    assert [one["fingerprint"] for one in origin["checkpoints"]] == [
        one.fingerprint() for one in training.training.checkpoints
    ]
    assert origin["model"]["fingerprint"] == training.training.fingerprint()
    assert str(tmp_path) not in str(origin)
    assert origin["others"]["treebank"]["digest"] == sample("treebank").digest


def test_what_ships_opens_without_torch_and_is_small():
    found = shipped()
    assert len(found.steps) >= 10 and (np.diff(found.steps) > 0).all()
    assert set(found.provenance["model"]) >= {"name", "fingerprint", "layers", "heads"}
    assert len(found.to_bytes()) < 1_500_000
    code = "from bertviz_core.emergence.series import shipped; e = shipped(); e.to_frame(); e.behaviors()"
    assert not imported_by(code) & {"torch", "transformers", "streamlit"}
    assert {LOSS, *REQUIRED} <= set(requests.ANALYSES)
