"""Two runs of one analysis: differences, errors and marks by the oracle; what cannot be compared is said."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bertviz_core import exports
from bertviz_core.analyses.base.blocks import Columns
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.dependency_heads.result import RelationFilter
from bertviz_core.analyses.run.compute import compute, find
from bertviz_core.comparison.change import Change, differences, names
from bertviz_core.comparison.figure import blocks, by_depth, scatter
from bertviz_core.comparison.result import checkpoint_names, checkpoint_result, compare
from bertviz_core.corpora.files import sample
from bertviz_core.corpora.source import from_bytes
from bertviz_core.emergence.series import shipped
from bertviz_core.engine.store import Store
from bertviz_core.errors import SettingsError
from bertviz_core.heads import all_keys, highest
from bertviz_core.models import checkpoint, loading
from bertviz_core.settings import Settings
from tests.oracles import comparison as oracle
from tests.oracles import reference, uncertainty
from tests.support import measures
from tests.support.families import FAMILIES, save

TEXT = (
    "the cat sat on the mat .\nthe dog slept .\n\na river .\nit ran .\n\nwe talk , walk .\nand close .\n\n"
    "people walk .\nthe lamps are lit .\n\nthe old wind .\na dog , home .\n\nit sat .\nthe mills turn .\n\n"
)
SETTINGS = Settings(max_length=24)


@pytest.fixture(scope="module")
def run(tiny):
    def make(analysis, model=tiny, source=None, **changed):
        corpus = source or from_bytes(TEXT.encode(), "mine.txt")
        return compute(Request(analysis, model.checkpoint, corpus, replace(SETTINGS, **changed)), None, model=model)

    return make


def error_of(comparison, quantity):
    """(layer, head) standard errors of the differences."""
    return np.hypot(*(run[quantity].standard_error for run in (comparison.a, comparison.b)))


def freedom_of(comparison, quantity, head):
    """Welch's degrees of freedom of one head."""
    sides = (comparison.a[quantity], comparison.b[quantity])
    return uncertainty.welch(*(part for side in sides for part in (side.standard_error[head] ** 2, side.freedom)))


def test_differences_of_averages_with_errors_by_document(run, tiny, source):
    comparison = compare(run("surface_patterns"), run("surface_patterns", mode="paper"))
    change, errors = comparison.changes["to_sep"], error_of(comparison, "to_sep")
    sides = []
    for mode in ("corrected", "paper"):
        segments = measures.model_segments(tiny, source(TEXT), replace(SETTINGS, mode=mode))
        sides.append([[reference.surface_patterns(maps[1][0], kinds)["to_sep"] for maps, kinds in segments]])
    one_each = ([[value] for value in side[0]] for side in sides)  # segments of each document
    (mean_a, error_a, units), (mean_b, error_b, _) = map(uncertainty.by_document, one_each)
    error = (error_a**2 + error_b**2) ** 0.5
    assert change.difference[1, 0] == pytest.approx(mean_b - mean_a, abs=1e-5)
    assert errors[1, 0] == pytest.approx(error, abs=1e-5)
    freedom = uncertainty.welch(error_a**2, units - 1, error_b**2, units - 1)
    half = uncertainty.t_quantile(freedom) * error
    assert change.high[1, 0] == pytest.approx(mean_b - mean_a + half, abs=1e-4)
    assert f"{units:.0f} documents in A and {units:.0f} documents in B" in " ".join(comparison.notes)
    raw = [
        uncertainty.t_tails(abs(difference) / error, freedom_of(comparison, "to_sep", head))
        for (head, difference), error in zip(np.ndenumerate(change.difference), errors.flat, strict=True)
    ]
    rejected = oracle.holm_rejects(raw, 0.05)
    assert set(np.flatnonzero(change.marked.reshape(-1)).tolist()) == rejected


def test_only_quantities_of_heads_are_compared(run, source):
    """Documents of other lengths change what uniform attention would give, in all heads alike; of an encoder the first
    token is [CLS], which counts once."""
    longer = source("\n\n".join(TEXT.replace("\n\n", "\n").strip() for _ in range(8)))
    for analysis in ("entropy", "reach", "surface_patterns"):
        runs = [run(analysis), run(analysis, source=longer)]
        comparison = compare(*runs)
        quantities = {column.quantity for column in ANALYSES[analysis].columns if column.read(runs[0]) is not None}
        assert set(comparison.changes) == set(comparison.a) == quantities - {"to_first"}
        assert not comparison.missing
        assert set(comparison.to_frame()["quantity"]) == set(comparison.tables()["best"]["quantity"])
        assert "uniform" not in comparison.headline() + "".join(comparison.to_frame()["quantity"])
        if analysis != "surface_patterns":
            assert (runs[0]["uniform"] != runs[1]["uniform"]).all(), "the lengths differ"


def difference_map(comparison, key):
    """The map of B minus A."""
    (columns,) = (block for block in blocks(comparison.on(key)) if isinstance(block, Columns) and block.middle)
    return columns.right[0].build(*columns.right[0].arguments)


def test_the_map_of_differences_is_pale_where_none_is_shown_and_no_finer_than_a_tenth_of_both_maps(run):
    result = run("surface_patterns")
    same = difference_map(compare(result, result), "to_sep")
    highest_value = float(result["to_sep"].max())
    assert same.limits == (pytest.approx(-highest_value / 10), pytest.approx(highest_value / 10))
    assert len(same.faint) == same.layers * same.heads
    comparison = compare(result, run("surface_patterns", weights="norms"))
    change = comparison.changes["to_sep"]
    pale = {label for label, marked in zip(all_keys(*change.a.shape), change.marked.flat, strict=True) if not marked}
    assert {*difference_map(comparison, "to_sep").faint} == pale


def test_a_run_and_itself_differ_nowhere_and_one_of_another_analysis_is_refused(run):
    result = run("entropy")
    comparison = compare(result, result)
    assert all(not change.marked.any() and (change.difference == 0).all() for change in comparison.changes.values())
    assert comparison.names == ("A", "B") and comparison.headline() == "No head differs in entropy, nats."
    with pytest.raises(SettingsError, match="no number of each head in common"):
        compare(result, run("surface_patterns"))


def test_two_models_or_corpora_of_one_name_get_longer_names(run):
    one = run("entropy").provenance
    model, corpus = one["model"] | {"name": "/a/step-1"}, one["corpus"]
    a = one | {"model": model}
    b = a | {"model": model | {"name": "/b/step-1", "fingerprint": "0123456789"}}
    assert names(a, b) == ("step-1", "b/step-1")
    c = a | {"corpus": corpus | {"digest": "fedcba9876"}}
    assert names(c, a) == (f"{corpus['name']} (fedcba98)", f"{corpus['name']} ({corpus['digest'][:8]})")
    tests = [a | {"others": {"dev": {"name": "test.conllu", "digest": digit * 64}}} for digit in "12"]
    assert names(*tests) == ("dev test.conllu (11111111)", "dev test.conllu (22222222)")


def test_names_of_files_are_no_markup_in_figures(run):
    sources = (from_bytes(f"{TEXT}{name}".encode(), name) for name in ("<b>a.txt", "<i>b.txt"))
    comparison = compare(*(run("entropy", source=source) for source in sources))
    axis = scatter(comparison, "entropy").layout.xaxis
    assert axis.title.text == by_depth(comparison, "entropy").data[0].name == "A: &lt;b&gt;a.txt"


def test_accuracies_are_compared_as_proportions(run):
    a, b = (
        run("dependency_heads", source=sample("treebank"), max_length=64, weights=w) for w in ("attention", "norms")
    )
    comparison = compare(a, b)
    shown = [result.default_view() for result in (a, b)]
    estimates = [result.estimates()["UAS"] for result in shown]
    units = {each.unit for each in estimates}, {each.units for each in estimates}
    assert units == ({"sentences"}, {shown[0].provenance["sentences"]})

    def expected(*heads) -> tuple[float, float]:
        """By loops, from the effective numbers of words, which have a test of their own."""
        shares = [float(each.values[head]) for each, head in zip(estimates, heads, strict=True)]
        sizes = [float(each.effective_n[head]) for each, head in zip(estimates, heads, strict=True)]
        freedoms = [float(each.freedom[head]) for each, head in zip(estimates, heads, strict=True)]
        ends = [oracle.wilson(share * n, n, 1.0) for share, n in zip(shares, sizes, strict=True)]
        a, b = (((high - low) / 2) ** 2 for low, high in ends)
        t = uncertainty.t_quantile(uncertainty.welch(a, freedoms[0], b, freedoms[1]))
        return oracle.newcombe(shares[0] * sizes[0], sizes[0], shares[1] * sizes[1], sizes[1], t)

    change = comparison.changes["UAS"]
    assert (change.low[1, 0], change.high[1, 0]) == pytest.approx(expected((1, 0), (1, 0)), abs=1e-6)
    best = comparison.tables()["best"].set_index("quantity").loc["UAS"]
    assert (best["low"], best["high"]) == pytest.approx(
        expected(*(highest(each.values) for each in estimates)), abs=1e-6
    )


def test_other_inputs_views_and_weights_are_said(run):
    comparison = compare(run("entropy"), run("entropy", max_length=16, mode="paper", weights="norms"))
    assert exports.slug(*comparison.file_parts()).startswith("comparison-entropy-")
    notes = comparison.notes
    sentences = " ".join(notes)
    assert "maximum length (24 and 16)" in sentences
    assert "differ in mode" in sentences and "norms" in sentences and "conservative" in sentences
    bank = run("dependency_heads", source=sample("treebank"), max_length=64)
    viewed = [bank.show(RelationFilter(view, 1)) for view in ("as-is", "function-heads")]
    notes = compare(*viewed).notes
    assert any("differ in view (as-is and function-heads)" in note for note in notes)
    assert any(note.startswith("Only one of the runs has") for note in notes)


def test_models_of_different_shapes_are_compared_by_depth(run, tmp_path):
    folder = save(FAMILIES["modernbert"], tmp_path)
    other = loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")
    comparison = compare(run("entropy"), run("entropy", other))
    assert comparison.changes == {} and "2 × 2 and 3 × 2" in comparison.notes[0]
    depths = by_depth(comparison, "entropy").data[2].x
    assert depths == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3, 1, 1])
    whole = json.loads(exports.to_json(comparison))
    assert whole["difference"] == {} and np.shape(whole["b"]["entropy"]) == (3, 2)
    best = comparison.tables()["best"].set_index("quantity")
    assert best.loc["entropy", "b"] == pytest.approx(np.max(whole["b"]["entropy"]))


def test_exports_have_every_number(run):
    comparison = compare(run("surface_patterns"), run("surface_patterns", weights="norms"))
    whole = json.loads(exports.to_json(comparison))
    for name, change in comparison.changes.items():
        for part in ("a", "b", "difference", "p", "low", "high"):
            np.testing.assert_allclose(np.array(whole[part][name], dtype=float), getattr(change, part))
    assert "norm_sep" not in whole["a"] and any("length of vectors from [SEP]" in note for note in comparison.notes)
    for suffix, build in exports.builders(comparison).items():
        assert build(), suffix
    page = exports.to_html(comparison).decode()
    assert "weights: norms" in page.split("Where the numbers of B come from")[1] and "conservative" in page


def test_clustering_is_compared_by_divergence_within_and_between_layers(run):
    a, b = run("clustering"), run("clustering", mode="paper")
    comparison = compare(a, b)
    heads = [(layer, head) for layer in range(2) for head in range(2)]
    for name, run_, scale in (("a", a, 1), ("b", b, b.tokens)):
        for i, (layer, head) in enumerate(heads):
            own = [run_.divergence[i, j] / scale for j, other in enumerate(heads) if j != i and other[0] == layer]
            rest = [run_.divergence[i, j] / scale for j, other in enumerate(heads) if other[0] != layer]
            change = comparison.changes["to_own_layer"], comparison.changes["to_other_layers"]
            found = [getattr(each, name)[layer, head] for each in change]
            assert found == pytest.approx([sum(own) / len(own), sum(rest) / len(rest)])
    assert any("without standard errors" in note for note in comparison.notes) and not change[0].marked.any()


@pytest.mark.parametrize("limit", [1, 4])
def test_averages_over_too_few_documents_are_not_marked(run, limit):
    comparison = compare(run("entropy", limit=limit), run("entropy", mode="paper"))
    assert "No difference is marked" in comparison.notes[-1] and "too few" in comparison.notes[-1]
    assert "over so few inputs" in comparison.headline() and "standard errors" not in comparison.headline()
    assert not comparison.changes["entropy"].marked.any()
    assert np.isnan(comparison.changes["entropy"].low).all() == (limit == 1)


def test_checkpoints_of_a_training_without_errors_of_averages_are_runs(tmp_path):
    emergence = replace(shipped(), errors=np.full_like(shipped().errors, np.nan))
    for analysis in ("surface_patterns", "entropy", "dependency_heads"):
        first, *_, last = checkpoint_names(emergence, analysis)
        comparison = compare(*(checkpoint_result(emergence, analysis, address) for address in (first, last)))
        change = comparison.changes[comparison.opens_on]
        assert isinstance(change, Change) and np.abs(change.difference).max() > 0
        assert np.isnan(change.p).all() == (analysis != "dependency_heads")
        assert not any("shapes" in note or "One of the models" in note for note in comparison.notes)
        unmarked = any("without standard errors" in note for note in comparison.notes)
        assert unmarked == (analysis != "dependency_heads")
        assert unmarked != any("conservative" in note for note in comparison.notes)
        corpus = sample("treebank" if analysis == "dependency_heads" else "encyclopedia")
        own = find(Store(tmp_path), Request(analysis, checkpoint.find_checkpoint("demo"), corpus))
        mixed = compare(checkpoint_result(emergence, analysis, last), own)
        assert list(differences(mixed.provenance, mixed.other)) == ["model"]
    patterns = checkpoint_result(emergence, "surface_patterns", last)
    np.testing.assert_array_equal(patterns["to_first"], emergence["to_first"][-1])
    assert checkpoint_names(emergence, "probes") == {}
