"""What a store holds of a model is told by the results' headers."""

from dataclasses import replace

import pytest

from bertviz_core.analyses.base.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute
from bertviz_core.engine.store import SHIPPED, Store
from bertviz_core.errors import InputError
from bertviz_core.models.checkpoint import DEMO, SHIPPED_MODELS, find_checkpoint
from bertviz_core.overview.stored_results import largest, results_of, stored_results, to_text
from bertviz_core.settings import Settings
from bertviz_core.viewer.preview import preview_key
from tests.support.shipped import OF_DECODERS
from training.sample_results import reports

SMALL = Settings(max_length=32)
SHORT = "the cat sat .\nthe dog slept .\n"
TOGETHER = [name for name, analysis in BUILT_IN.items() if analysis.shared]  # computed in one pass
LONG = SHORT + "\na river runs\nlamps are lit\n"


@pytest.fixture
def filled(store, source, tiny) -> Store:
    for text in (LONG, SHORT):
        compute(Request("entropy", tiny.checkpoint, source(text), SMALL), store, model=tiny)
    return store


def test_every_result_of_a_model_is_told_with_its_provenance(filled, tiny, demo):
    stored = list(stored_results(filled))
    assert sorted(one.analysis for one in stored) == sorted(2 * TOGETHER)
    assert {one.provenance["model"]["name"] for one in stored} == {tiny.checkpoint.name}
    assert {one.provenance["model"]["fingerprint"] for one in stored} == {tiny.checkpoint.fingerprint()}
    assert largest(filled, demo.checkpoint.fingerprint(), Settings()) == {}


def test_the_largest_corpus_counts_whatever_came_last(filled, tiny, source):
    found = largest(filled, tiny.checkpoint.fingerprint(), Settings())
    assert list(found) == TOGETHER
    assert {result.provenance["corpus"]["digest"] for result in found.values()} == {source(LONG).digest}
    assert largest(filled, tiny.checkpoint.fingerprint(), Settings(mode="paper")) == {}


def test_without_a_value_for_each_head_there_is_no_overview(store, source, tiny):
    compute(Request("clustering", tiny.checkpoint, source(SHORT), SMALL), store, model=tiny)
    with pytest.raises(InputError, match="No values of heads by attention are stored"):
        results_of(store, tiny.checkpoint, Settings())


def test_an_expression_that_finds_no_head_is_answered_without_a_table(results):
    assert to_text(results, "entropy > 99").startswith("0 of 72 heads: entropy > 99\n\nsurface_patterns: ")


def test_damaged_and_foreign_entries_are_skipped(filled):
    for key, data in (("a", b""), ("b", b"\xff" * 64), ("c", b"\x02" + b"\0" * 7 + b"{}")):
        filled.put(key * 64, data)
    assert len(list(stored_results(filled))) == 2 * len(TOGETHER)


def test_what_ships_is_listed_too(tmp_path):
    store = Store(tmp_path / "store")
    stored = {one.key for one in stored_results(store)} | {str(report.lines_key(store)) for report in reports()}
    stored |= {preview_key(find_checkpoint(name).fingerprint(), "attention", "float32") for name in SHIPPED_MODELS}
    assert stored == {path.stem for path in SHIPPED.glob("*.safetensors")}


@pytest.mark.parametrize("model", SHIPPED_MODELS)
def test_every_analysis_of_a_model_that_ships_is_there(model, tmp_path):
    found = largest(Store(tmp_path), find_checkpoint(model).fingerprint(), Settings())
    assert {*found} == {*BUILT_IN} - {*(OF_DECODERS if model == DEMO else ())}
    assert {result.provenance["model"]["name"] for result in found.values()} == {model}


def test_results_of_another_version_are_not_listed(filled, tiny, monkeypatch):
    """Their numbers are computed otherwise: neither one that says its version, nor one that says none."""
    result = next(iter(largest(filled, tiny.checkpoint.fingerprint(), Settings()).values()))
    unversioned = {name: value for name, value in result.provenance.items() if name != "key_version"}
    for provenance in (unversioned, result.provenance | {"key_version": [0, 1]}):
        filled.put("d" * 64, replace(result, provenance=provenance).to_bytes())
        assert len(list(stored_results(filled))) == 2 * len(TOGETHER)
    monkeypatch.setattr(type(ANALYSES["entropy"]), "key_version", ANALYSES["entropy"].key_version + 1)
    assert {one.analysis for one in stored_results(filled)} == {*TOGETHER} - {"entropy"}
