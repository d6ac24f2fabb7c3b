"""The page of two runs: what ships is compared at once, the address holds both, other choices change them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute_all
from bertviz_core.corpora.files import sample
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head, counting_from
from bertviz_core.models.checkpoint import SHIPPED_MODELS, find_checkpoint
from bertviz_core.settings import Settings
from tests.support import families, predicting
from tests.support.driving import open_app, parameter, unescaped, words
from tests.support.shipped import COUNT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


def test_runs_that_ship_are_compared_and_their_address_restores_them() -> None:
    app = open_app("compare")
    assert not app.error
    assert re.search(rf"\d+ of {COUNT} heads differ in", words(app)), words(app)
    assert {"A against B", "Heads that changed most", "Best heads"} <= {each.value for each in app.header}
    assert "The runs differ in mode" in words(app)  # it opens on two runs of one quantity
    assert re.search(r"\d+-\d+(?= changed most)", words(app).replace("\\", ""))[0] == app.selectbox(key="head").value
    box = app.selectbox(key="b")
    box.set_value(next(option for option in box.options if "vector lengths" in option)).run()
    assert not app.exception
    assert app.selectbox(key="quantity").value == "to_cls"  # the demo's sink, to which almost every head passes little
    assert "One run read attention weights, the other norms" in words(app)
    assert "length of vectors from" in words(app) and "norm_" not in words(app).replace("\\", "")
    again = open_app("compare", **{name: parameter(app, name) for name in ("a", "b")})
    assert again.selectbox(key="b").value == app.selectbox(key="b").value
    assert "One run read attention weights, the other norms" in words(again)
    best = [open_app("compare", zero=zero).dataframe[1].value["head_b"] for zero in ("false", "true")]
    with counting_from(0):
        assert [Head.parse(label).label() for label in best[0]] == [*best[1]]


def test_a_headvis_export_is_a_map_with_its_source_or_an_error_that_says_why() -> None:
    app = open_app("compare")
    export = b'[{"layer": 9, "head": 0, "induction_score": 0.25}]'
    app.file_uploader(key="headvis-file").set_value(("scatter_data.json", export, "application/json")).run()
    assert "1 metric of 10 × 1 heads from the HeadVis export scatter_data.json" in words(app).replace("\\", "")
    app.file_uploader(key="headvis-file").set_value(("scatter_data.json", b"[{}]", "application/json")).run()
    assert "whole numbers from 0" in words(app) and not app.exception


def test_checkpoints_of_the_shipped_training() -> None:
    app = open_app("compare", analysis="dependency_heads", a="step-0", b="step-0")
    steps = [option for option in app.selectbox(key="a").options if "step" in option]
    assert len(steps) > 1
    app.selectbox(key="a").set_value(steps[0]).run()
    app.selectbox(key="b").set_value(steps[-1]).run()
    assert not app.exception
    assert "heads differ in" in words(app)


def test_an_encoder_and_decoders_of_other_shapes_are_compared_calmly(tmp_path: Path) -> None:
    requests = [Request("dependency_heads", find_checkpoint(name), sample("treebank")) for name in SHIPPED_MODELS]
    gpt2 = find_checkpoint(str(predicting.save("gpt2", tmp_path / "gpt2")))
    requests.append(Request("dependency_heads", gpt2, sample("treebank"), Settings(max_length=64)))
    compute_all(requests, Store(tmp_path / "store"))  # of the last one, as the others ship
    demo, decoder, another = (request.key()[:16] for request in requests)
    for a, b, expected in (
        (demo, decoder, "One of the models sees only what comes earlier"),
        (decoder, another, "Both models see only what comes earlier"),
    ):
        app = open_app("compare", analysis="dependency_heads", a=a, b=b)
        assert not app.error and not app.exception
        assert "different shapes" in words(app) and expected in words(app)
        assert {"By relative depth", "Best heads"} <= {each.value for each in app.header}
        table = app.dataframe[0].value
        assert (table["n_b"] > 0).all() and table["b"].between(0, 1).all()


def test_checkpoints_of_an_own_training_are_runs_whose_differences_are_marked(tmp_path: Path) -> None:
    folder = families.save_training(tmp_path / "steps", steps=(10, 200), auto="AutoModel")
    store = Store(tmp_path / "store")
    settings = Settings(max_length=64, limit=20)
    requests = [
        Request("surface_patterns", find_checkpoint(str(one)), sample("encyclopedia"), settings)
        for one in folder.iterdir()
    ]
    compute_all(requests, store)
    a, b = (request.key()[:16] for request in sorted(requests, key=lambda request: request.checkpoint.name))
    app = open_app("compare", analysis="surface_patterns", a=a, b=b)
    assert re.search(r"[1-4] of 4 heads differ in attention to [^(]+ \(Holm-adjusted p < 0.05\)", words(app)), words(
        app
    )
    assert [app.selectbox(key=name).value for name in "ab"] == [a, b]
    assert {"step-0000010", "step-0000200"} <= {option.split(",")[0] for option in app.selectbox(key="a").options}


def test_runs_with_further_files_are_offered_to_those_who_see_the_files(monkeypatch) -> None:
    from pages.shared import services

    stored, real = next(run for run in services.runs() if run.analysis == "probes"), services.lookup
    files = [{"digest": sample("treebank").digest, "name": "mine"}, {"digest": "another reader's", "name": "another"}]
    seen, unseen = (
        replace(stored, key=str(number) * 64, provenance=stored.provenance | {"others": {"dev": file}})
        for number, file in enumerate(files)
    )
    monkeypatch.setattr("pages.shared.services.runs", lambda: (stored, seen, unseen))
    monkeypatch.setattr("pages.shared.services.lookup", lambda key, *rest: real(stored.key, *rest))
    options = open_app("compare", analysis="probes").selectbox(key="a").options
    assert len(options) == 2 and sum("dev treebank on" in option for option in options) == 1


def way(app, title: str):
    return next(button for button in app.button if button.label == title)


def test_two_modes_and_two_models_are_one_click_each() -> None:
    app = open_app("compare", analysis="entropy")
    way(app, "Two modes").click().run()
    assert "The runs differ in mode" in words(app)
    assert way(app, "Two corpora").disabled  # one sample of each kind ships
    way(app, "Two models").click().run()
    assert "demo-decoder" in words(app) and not app.exception


def test_a_run_of_another_analysis_stays_chosen_and_is_computed_where_it_is_missing(tmp_path: Path) -> None:
    store, settings = Store(tmp_path / "store"), Settings(max_length=16, limit=2)
    model = find_checkpoint(str(families.save(families.FAMILIES["bert"], tmp_path / "mine")))
    entropy, patterns = (
        Request(name, model, sample("encyclopedia"), settings) for name in ("entropy", "surface_patterns")
    )
    compute_all([entropy], store)
    app = open_app("compare", analysis="entropy", b=entropy.key()[:16])
    app.selectbox(key="analysis").set_value("surface_patterns").run()
    assert "mine has no run of Surface patterns on encyclopedia yet" in words(app)
    assert parameter(app, "b") == entropy.key()[:16] and any(
        button.label.startswith("Analyze") for button in app.button
    )
    compute_all([patterns], store)
    app.run()
    assert parameter(app, "b") == patterns.key()[:16] and not app.exception
    assert "different shapes" in words(app)


@pytest.mark.parametrize("b", ["A:mode=nonsense", "A:model=/nowhere", "A:corpus=upload-0", "A:seed=1", "A:"])
def test_a_relative_run_that_cannot_be_is_said_and_another_is_shown(b: str) -> None:
    app = open_app("compare", b=b)
    assert not app.exception and f"B: “{b}”" in unescaped(app.warning[0].value)
    assert f"of {COUNT} heads" in words(app)


def test_clustering_of_two_modes() -> None:
    app = open_app("compare", analysis="clustering")
    assert not app.error
    assert app.selectbox(key="quantity").value == "to_own_layer"
    assert "so none can be compared here" in words(app) and "without standard errors" in words(app)


def test_an_address_of_a_run_that_is_not_there_shows_another() -> None:
    app = open_app("compare", a="0123456789abcdef", b="../../x")
    assert not app.exception
    assert f"of {COUNT} heads" in words(app)


def test_a_run_that_is_dropped_is_said_to_be_and_comes_back(tmp_path: Path) -> None:
    from pages.shared import services

    store = Store(tmp_path / "store")
    settings = Settings(max_length=16, limit=3)
    request = Request("entropy", find_checkpoint("demo"), sample("encyclopedia"), settings)
    compute_all([request], store)
    app = open_app("compare", analysis="entropy")
    name = next(option for option in app.selectbox(key="a").options if "3 inputs" in option)
    store.clear()
    services._read.cache_clear()  # as if no reader had seen it yet
    app.selectbox(key="a").set_value(name).run()
    assert not app.exception
    assert "no longer in the store" in app.info[0].value
    compute_all([request], store)
    again = open_app("compare", analysis="entropy", a=request.key()[:16])
    assert not again.exception and not again.info
    assert again.selectbox(key="a").value == request.key()[:16]
