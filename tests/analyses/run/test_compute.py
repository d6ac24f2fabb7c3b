"""Requests: what a key depends on, that what is stored is what was computed, and that a corpus is read once."""

from __future__ import annotations

import gc
import json
import shutil
import weakref
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.dependency_heads import measure
from bertviz_core.analyses.run.compute import compute, compute_all, find, passes
from bertviz_core.corpora import REPEATED
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.source import from_path
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import Cancelled, InputError, SettingsError
from bertviz_core.inputs.annotated_words import Sentences, Windows
from bertviz_core.inputs.encoded_corpus import EncodedCorpus, Reading
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import checkpoint, loading
from bertviz_core.settings import MODES, Execution, Settings
from tests.support.bracketed import conll

TEXT = "the cat sat on the mat .\nthe dog slept , and slept\n\na river runs\nlamps are lit\n\nthe cat slept\n"
SETTINGS = Settings(max_length=32)


@pytest.fixture
def request_for(tiny, source):
    def make(analysis="entropy", text=TEXT, name="x.txt", settings=SETTINGS, options=None) -> Request:
        return Request(analysis, tiny.checkpoint, source(text, name), settings, options or {})

    return make


# -- keys ------------------------------------------------------------------------------------------------------------


def test_names_and_places_are_not_in_the_key(request_for, tiny_folder, tmp_path):
    copied = checkpoint.find_checkpoint(str(shutil.copytree(tiny_folder, tmp_path / "elsewhere")))
    (tmp_path / "other.txt").write_text(TEXT)
    other = Request("entropy", copied, from_path(tmp_path / "other.txt"), SETTINGS)
    assert other.key() == request_for().key()


def test_everything_a_result_depends_on_is_in_the_key(request_for, demo):
    base = request_for()
    others = [
        request_for("surface_patterns"),
        request_for(text=TEXT + "."),
        Request("entropy", demo.checkpoint, base.source, SETTINGS),
        request_for(options={"threshold": 1}),
        *(
            request_for(settings=Settings(**{"max_length": 32, **changed}))
            for changed in ({"max_length": 31}, {"limit": 2}, {"seed": 1}, {"mode": "paper"}, {"dtype": "bfloat16"})
        ),
    ]
    keys = {request.key() for request in (base, *others)}
    assert len(keys) == 1 + len(others)


# -- computing and storing -------------------------------------------------------------------------------------------


def equal(one, other):
    for name in ("mean", "error", "segments", "top", "top_values"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.quantities, one.texts, one.provenance) == (other.quantities, other.texts, other.provenance)


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_what_is_stored_is_what_was_computed(store, tiny, request_for, mode):
    request = request_for(settings=Settings(max_length=32, mode=mode))
    assert find(store, request) is None
    equal(compute(request, store, model=tiny), find(store, request))


def test_provenance_counts_and_is_json(tiny, request_for):
    provenance = compute(request_for(text=TEXT + "\u200b\n"), None, model=tiny).provenance
    assert json.loads(json.dumps(provenance)) == provenance
    assert (provenance["documents"], provenance["segments"]) == (3, 3)
    assert provenance["tokens"] == (1 + 7 + 1 + 6 + 1) + (1 + 3 + 1 + 3 + 1) + (1 + 3 + 1)
    assert [(entry["count"], entry["where"]) for entry in provenance["skipped"]] == [(1, ["line 8"])]
    assert provenance["model"]["fingerprint"] == tiny.checkpoint.fingerprint()
    assert provenance["settings"] == SETTINGS.to_json()
    assert {"torch", "transformers", "numpy", "python", "bertviz_core"} <= set(provenance["versions"])


def test_the_texts_of_the_top_segments_are_kept(tiny, request_for):
    result = compute(request_for(), None, model=tiny)
    wanted = {str(number) for number in result.top[result.top >= 0].tolist()}
    assert set(result.texts) == wanted == {"0", "1", "2"}
    assert result.texts["2"] == {"where": "line 7", "tokens": ["[CLS]", "the", "cat", "slept", "[SEP]"]}


def results_of(store):
    """What is stored besides the work of unfinished jobs, from which they go on."""
    return {entry for entry in store.entries() if entry.kind != "work"}


@pytest.mark.parametrize(
    "stage", ["Loading the model", "Reading the corpus", "Running the model", "Writing the results"]
)
def test_a_cancel_leaves_nothing_stored_and_what_was_there_stays(store, tiny, request_for, stage):
    kept = compute(request_for(text="the cat\nthe dog\n"), store, model=tiny)
    before = results_of(store)

    class Cancelling(Progress):
        def start(self, name, *args, **kwargs):
            if name == stage:
                self.cancelled.set()
            super().start(name, *args, **kwargs)

    with pytest.raises(Cancelled):
        compute(request_for(), store, progress=Cancelling(), model=tiny)
    assert results_of(store) == before
    equal(find(store, request_for(text="the cat\nthe dog\n")), kept)


@pytest.mark.parametrize("spoil", [lambda b: b"", lambda b: b[:-9]])
def test_a_damaged_entry_counts_as_none_and_is_computed_anew(store, tiny, request_for, spoil):
    request = request_for()
    computed = compute(request, store, model=tiny)
    store.put(request.key(), spoil(computed.to_bytes()))
    assert find(store, request) is None
    compute(request, store, model=tiny)
    equal(find(store, request), computed)


# -- refusals --------------------------------------------------------------------------------------------------------


def test_bad_input_stores_nothing(store, tiny, request_for):
    for text, name in (("\n\n", "x.txt"), ('[{"text": "fine"}, {"text"', "x.json"), ("fine\n\0\n", "x.txt")):
        with pytest.raises(InputError):
            compute(request_for(text=text, name=name), store, model=tiny)
    assert list(store.entries()) == []


def test_a_corpus_of_which_nothing_is_left_says_why(tiny, request_for):
    with pytest.raises(InputError, match="There is nothing to analyze") as caught:
        compute(request_for(text="\u200b\n\u200b\n"), None, model=tiny)
    assert "no token: 2" in caught.value.hint


def test_mode_paper_says_that_mode_corrected_reads_the_long_paragraphs_which_it_leaves_out(tiny, request_for):
    settings, text = Settings(max_length=16), "the cat sat on the mat and the dog slept near the door . " * 3 + "\n\n"
    with pytest.raises(InputError, match="There is nothing to analyze") as caught:
        compute(request_for(text=text * 2, settings=replace(settings, mode="paper")), None, model=tiny)
    assert "a chunk of one line" in caught.value.hint and "the mode “corrected” reads them" in caught.value.hint
    compute(request_for(text=text * 2, settings=settings), None, model=tiny)


def test_a_length_over_the_models_own_is_refused_before_anything_is_read(tiny, request_for):
    with pytest.raises(SettingsError, match="64"):
        compute(request_for(text="", settings=Settings(max_length=65)), None, model=tiny)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("analysis", [name for name, each in ANALYSES.items() if each.corpus == "text" and each.shared])
def test_the_results_that_ship_are_those_of_the_demo_and_the_sample_as_they_are(tmp_path, analysis, mode):
    for name in SAMPLES["text"]:
        request = Request(analysis, checkpoint.find_checkpoint("demo"), sample(name), Settings(mode=mode))
        found = find(Store(tmp_path), request)
        assert found is not None, "a changed model, sample or format needs new results: build them"
        assert found.provenance["corpus"]["digest"] == request.source.digest
        assert found.provenance["settings"] == {**Settings().to_json(), "mode": mode}


# -- everything at once ----------------------------------------------------------------------------------------------


def counting_passes(monkeypatch) -> list[int]:
    """How many accumulators each forward pass over a corpus fed, from now on."""
    from bertviz_core.engine import forward_pass

    fed, run = [], forward_pass.run

    def counted(model, examples, accumulators, *rest):
        fed.append(len(accumulators))
        run(model, examples, accumulators, *rest)

    monkeypatch.setattr(forward_pass, "run", counted)
    return fed


def test_one_pass_serves_every_analysis_of_a_corpus_and_gives_the_same_numbers(
    store, tmp_path, request_for, monkeypatch
):
    names = ["surface_patterns", "entropy", "clustering"]
    fed = counting_passes(monkeypatch)
    compute_all([request_for(name) for name in names], store)
    assert fed == [3]
    alone = Store(tmp_path / "alone", shipped=tmp_path / "none")
    for name in names:
        compute(request_for(name), alone)
        one, other = (find(where, request_for(name)) for where in (store, alone))
        assert one.provenance == other.provenance
        for field in fields(one):
            np.testing.assert_equal(getattr(one, field.name), getattr(other, field.name))


def test_passes_part_corpora_settings_and_analyses_with_a_pass_of_their_own(request_for):
    same = [request_for("entropy"), request_for("clustering")]
    other = [request_for(text=TEXT + "."), request_for(settings=Settings(max_length=31)), request_for("sep_gradients")]
    assert passes([same[0], *other, same[1]]) == [same, *([one] for one in other)]


def test_what_is_stored_is_not_computed_again(store, tiny, request_for, monkeypatch):
    compute(request_for("entropy"), store, model=tiny)
    fed = counting_passes(monkeypatch)
    compute_all([request_for("entropy"), request_for("surface_patterns")], store)
    assert fed == []


def test_a_pass_that_fails_leaves_the_others_and_is_told_at_the_end(store, request_for):
    empty = request_for("clustering", text="")
    with pytest.raises(InputError, match=r"empty|There is nothing to analyze"):
        compute_all([empty, request_for("entropy")], store)
    assert find(store, request_for("entropy")) is not None
    assert find(store, empty) is None


@pytest.mark.parametrize("first", [TEXT, ""])
def test_two_models_are_never_in_memory_at_once(store, demo, request_for, first):
    encoders = []

    def load(together, execution):
        gc.collect()
        assert not any(encoder() for encoder in encoders)
        model = loading.load(together[0].checkpoint, "cpu")
        encoders.append(weakref.ref(model.encoder))
        return model

    requests = [request_for(text=first), replace(request_for(), checkpoint=demo.checkpoint)]
    failed = []
    compute_all(requests, store, Execution("cpu"), load=load, failed=failed)
    assert len(failed) == (not first)
    assert len(encoders) == 2


SENTENCE = "the 2-det\ncat 3-nsubj\nslept 0-root\n"
BROKEN = "the 2-det\ncat 9-nsubj\n"  # a governor beyond the sentence
TREEBANK = "\n".join([SENTENCE, SENTENCE, SENTENCE, BROKEN, BROKEN, SENTENCE])
PARAGRAPHS = "the cat sat .\nthe dog slept .\n\na river runs\nlamps are lit\n"
CHAINS = conll("[1 the cat ] sat / [1 the cat ] slept", "[1 a dog ] ran / [1 a dog ] sat")


def test_two_requests_of_one_pass_have_the_provenance_of_each_alone(
    tiny: Any, request_for: Any, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "MAX_SENTENCES", 1)
    first = request_for("dependency_heads", TREEBANK)
    second = request_for("dependency_heads", TREEBANK, options={"possessives": True})
    compute_all([first, second], store, load=lambda together, execution: tiny)
    for asked in (first, second):
        result = find(store, asked)
        assert result.provenance == compute(asked, None, model=tiny).provenance
        (skipped,) = [entry for entry in result.provenance["skipped"] if entry["reason"] != REPEATED]
        assert (skipped["reason"], skipped["count"]) == ("a governor beyond the sentence", 2)
        assert (result.provenance["sentences"], result.provenance["words"]) == (4, 12)
    assert len(find(store, first).sentences) == 1


@pytest.mark.parametrize(
    ("examples", "analysis", "text"),
    [
        (Segments, "surface_patterns", PARAGRAPHS),
        (Segments, "clustering", PARAGRAPHS),
        (Sentences, "dependency_heads", TREEBANK),
        (Windows, "coreference_heads", CHAINS),
    ],
)
def test_a_corpus_is_read_once(
    tiny: Any, request_for: Any, monkeypatch: Any, examples: type[EncodedCorpus[Any]], analysis: str, text: str
) -> None:
    readings: list[Reading] = []
    read = examples.read

    def noted(self: EncodedCorpus[Any], reading: Reading) -> Iterator[Any]:
        readings.append(reading)
        return read(self, reading)

    monkeypatch.setattr(examples, "read", noted)
    provenance = compute(request_for(analysis, text), None, model=tiny).provenance
    assert len(readings) == 1
    assert readings[0].counts.items() <= provenance.items()
