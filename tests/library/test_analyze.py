import doctest
import json
import re
from html import escape, unescape
from importlib import import_module
from unittest.mock import patch

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

import bertviz_core as bv
from bertviz_core.cli.commands import app
from tests.models.test_in_memory import state
from tests.support import predicting
from tests.support.families import TEXT
from tests.support.shipped import COUNT

pytestmark = pytest.mark.slow

DOCUMENTS = ["\n".join(TEXT[:2]), "\n".join(TEXT[2:])]
TREES = [(["the", "cat", "sat", "."], [2, 3, 0, 3], ["det", "nsubj", "root", "punct"])] * 3


@pytest.fixture
def tokenizer(tiny_folder):
    return AutoTokenizer.from_pretrained(tiny_folder)


def test_a_name_a_folder_and_the_command_give_the_same_from_one_store(tiny_folder, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n\n".join(DOCUMENTS) + "\n\n")
    store = tmp_path / "store"
    result = bv.analyze("surface_patterns", model=str(tiny_folder), corpus=DOCUMENTS, store=store, max_length=32)
    out = tmp_path / "x.json"
    arguments = [str(path), "--model", str(tiny_folder), "--max-length", "32", "--store", str(store), "--out", str(out)]
    app(["surface-patterns", *arguments], standalone_mode=False)
    written = json.loads(out.read_text())
    np.testing.assert_array_equal(result["previous"], written["arrays"]["previous"])
    assert result.provenance["corpus"]["name"] == "2 texts in memory"
    assert written["provenance"]["corpus"]["name"] == "text.txt"  # the name that was given, of equal content


def test_files_of_the_library_are_of_what_is_chosen_as_the_commands_are(tmp_path):
    chosen = {"relation": "det", "direction": "governor->dependent", "head": "3-1", "guesses": "wrong"}
    result = bv.analyze("dependency_heads", store=tmp_path / "store", **chosen)
    arguments = [part for name, value in chosen.items() for part in (f"--{name}", value)]
    for suffix in (".json", ".zip"):
        here, there = tmp_path / f"here{suffix}", tmp_path / f"there{suffix}"
        result.save(here)
        store = ("--store", str(tmp_path / "store"), "--out", str(there))
        app(["dependency-heads", "treebank", *arguments, *store], standalone_mode=False)
        assert here.read_bytes() == there.read_bytes()
    rows = json.loads((tmp_path / "here.json").read_text())["chosen"]["tables"]["sentences"]["rows"]
    assert {row["relation"] for row in rows} == {"det"} and any(not row["right"] for row in rows)


@pytest.mark.parametrize("kind", [AutoModel, AutoModelForMaskedLM, AutoModelForSequenceClassification])
def test_a_model_in_memory_gives_what_its_files_give(kind, tiny_folder, tokenizer, tmp_path):
    model = kind.from_pretrained(tiny_folder).train()
    asked = {"corpus": DOCUMENTS, "max_length": 32, "store": tmp_path / "store"}
    here = bv.analyze("entropy", model=(model, tokenizer), **asked)
    there = bv.analyze("entropy", model=tiny_folder, **asked)
    np.testing.assert_allclose(here["entropy"], there["entropy"], atol=1e-6)
    assert model.training and here.provenance["model"]["name"] == f"{type(model).__name__} in memory"
    assert here.provenance["model"]["fingerprint"] != there.provenance["model"]["fingerprint"]


def test_a_decoder_in_memory_has_a_loss_of_next_words_and_no_token_that_it_does_not_see(tmp_path):
    folder = predicting.save("llama", tmp_path / "llama")
    model = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    asked = {"model": model, "corpus": DOCUMENTS, "max_length": 32, "store": False}
    gradients = bv.analyze("sep_gradients", **asked)
    assert gradients.result.loss_name == "next-word loss" and "the first token" in gradients.findings()[0].text
    assert "next" not in bv.analyze("surface_patterns", **asked).to_frame()
    removed = bv.analyze("ablation", limit=2, **asked)
    assert removed["to_sink_loss_change"].shape == (2, 4) and removed.result.sink == "first"
    found = bv.analyze("induction", model=model, limit=4, max_length=32, store=False)
    assert ((found["prefix"] > 0) & (found["prefix"] < 1)).all()
    lines = bv.attention(model, "the cat sat")
    assert lines.tokens[0] == "<s>" and not np.triu(lines.weights, 1).any()


def test_changed_weights_are_another_model_and_unchanged_ones_are_read_from_the_store(tiny_folder, tokenizer, tmp_path):
    model = AutoModel.from_pretrained(tiny_folder)
    asked = {"model": (model, tokenizer), "corpus": DOCUMENTS, "max_length": 32, "store": tmp_path / "store"}
    first = bv.analyze("entropy", **asked)
    model.encoder = None  # what is stored needs no forward pass
    with pytest.raises(bv.BertvizError):
        bv.analyze("entropy", **asked)
    model = AutoModel.from_pretrained(tiny_folder)
    asked["model"] = (model, tokenizer)
    with patch("bertviz_core.api.model_in_memory", side_effect=AssertionError("it is computed again")):
        assert (bv.analyze("entropy", **asked)["entropy"] == first["entropy"]).all()
    with torch.no_grad():
        model.encoder.layer[0].attention.self.query.weight *= 4
    assert (bv.analyze("entropy", **asked)["entropy"] != first["entropy"]).any()


def test_trees_and_options_of_an_analysis(tiny_folder):
    asked = {"model": tiny_folder, "corpus": TREES, "store": False, "max_length": 64}
    assert "det" not in bv.analyze("dependency_heads", **asked).to_frame()["relation"].tolist()
    shown = bv.analyze("dependency_heads", min_count=1, **asked)
    assert shown.to_frame().set_index("relation").loc["det", "n"] == 3
    assert shown["UAS"].shape == (2, 2)
    words = [["the", letter, "sat", "."] for letter in "abcdefghijkl"]
    asked["corpus"] = [(sentence, *TREES[0][1:]) for sentence in words]
    probes = bv.analyze("probes", probes="best-offset, right-branching", dev=TREES, **asked)
    assert probes.to_frame()["probe"].tolist() == ["right-branching", "best-offset"]
    assert probes.result.score[0] == pytest.approx(2 / 3)  # of the, cat and sat


@pytest.mark.parametrize(
    ("analysis", "options", "message"),
    [
        ("surfaces", {}, "no analysis 'surfaces'. Choose one of surface_patterns"),
        ("entropy", {"maximum": 3}, "no option 'maximum'. Choose from max_length"),
        ("entropy", {"max_length": 10_000}, "longer than this model allows"),
        ("entropy", {"mode": "fast"}, "mode cannot be 'fast'"),
        ("entropy", {"corpus": "The cat sat."}, "in a list"),
        ("entropy", {"model": 3}, "An object of type int is not a model. Give demo"),
        ("dependency_heads", {"view": "sideways"}, "view cannot be 'sideways'. Choose one of"),
    ],
)
def test_mistakes_are_named(analysis, options, message):
    with pytest.raises(bv.BertvizError, match=message):
        bv.analyze(analysis, **options)


def test_a_result_gives_every_average_of_its_table():
    result = bv.analyze("surface_patterns", corpus=["The cat sat, on the mat."], weights="norms", store=False)
    for name in ("to_cls", "norm_cls", "norm_punct", "norm_correlation"):
        assert name in result and result[name].reshape(-1).tolist() == result.to_frame()[name].tolist()
    assert "norm_mars" not in result


def test_what_a_result_has(tmp_path):
    result = bv.analyze("surface_patterns")
    assert result["to_sep"].shape == (6, 12) and "to_sep" in result.quantities()
    with pytest.raises(KeyError, match=r"'to_mars' is not one of previous, next"):
        result["to_mars"]
    result["to_cls"][:] = 0  # a copy
    assert result["to_cls"].max() > 0.5
    assert len(result.to_frame()) == COUNT
    assert len(result.figure().data) > 10
    assert "this run: " in result.findings()[0].text.lower()
    for suffix in ("json", "csv", "html"):
        result.save(tmp_path / f"x.{suffix}")
        assert (tmp_path / f"x.{suffix}").stat().st_size > 1000
    with pytest.raises(bv.BertvizError, match="extension"):
        result.save(tmp_path / "x.doc")


def test_the_table_of_a_result_in_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    result = bv.analyze("dependency_heads")
    read = pyarrow.table(result)  # by the PyCapsule interface alone
    frame = result.to_frame()
    assert read.column_names == list(frame) and read["relation"].to_pylist() == frame["relation"].tolist()
    np.testing.assert_array_equal(read["accuracy"].to_numpy(), frame["accuracy"])
    assert json.loads(read.schema.metadata[b"provenance"]) == json.loads(json.dumps(result.provenance))
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(result)["n"].to_list() == frame["n"].tolist()


def test_a_result_is_a_page_in_a_frame_where_nothing_else_shows_it():
    result = bv.analyze("surface_patterns")
    frame = result._repr_html_()
    page = unescape(re.search('srcdoc="(.*?)"', frame, re.S)[1])
    assert escape(result.findings()[0].text) in page and "Plotly.newPlot" in page
    chosen = unescape(bv.analyze("dependency_heads", relation="det", head="3-1")._repr_html_())
    assert "Head 3-9, dependent → governor, finds" in chosen and "The chosen head 3-1" in chosen
    kind, again = result._mime_()
    assert frame.count("<") == 2 and kind == "text/html" and again.startswith("<iframe srcdoc=")


@pytest.mark.parametrize("module", ["api", "api_arrays", "heads"])
def test_the_examples_of_the_docstrings(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = doctest.testmod(import_module(f"bertviz_core.{module}"))
    assert tried.attempted and not tried.failed


def test_at_most_twelve_names_are_public():
    assert len(bv.__all__) <= 12 and set(bv.__all__) == set(bv._MODULES)
    assert all(getattr(bv, name).__doc__ for name in bv.__all__)
    with pytest.raises(AttributeError, match="no attribute 'analise'"):
        bv.analise  # noqa: B018


@pytest.mark.parametrize(
    ("analysis", "options"),
    [("surface_patterns", {"weights": "norms"}), ("ablation", {}), ("clustering", {}), ("sep_gradients", {})],
)
def test_whatever_a_pass_does_to_a_model_in_memory_is_undone(analysis, options, planted_folder):
    tokenizer = AutoTokenizer.from_pretrained(planted_folder)
    model = AutoModelForMaskedLM.from_pretrained(planted_folder).train()
    before = state(model)
    asked = {"corpus": DOCUMENTS, "max_length": 32, "store": False, **options}
    here = bv.analyze(analysis, model=(model, tokenizer), **asked)
    there = bv.analyze(analysis, model=planted_folder, **asked)
    assert state(model) == before
    for name, values in here.result.arrays().items():
        assert str(values) == str(there.result.arrays()[name]), name
