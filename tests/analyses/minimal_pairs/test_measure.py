"""Margins of minimal pairs with and without each head, against hooks on the whole model."""

from dataclasses import replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.minimal_pairs.measure import PairsRun, without_sets
from bertviz_core.analyses.minimal_pairs.result import MinimalPairs
from bertviz_core.analyses.minimal_pairs.unit_averages import averages
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.files import source_of
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import Cancelled, InputError
from bertviz_core.exports import to_csv
from bertviz_core.heads import Head
from bertviz_core.inputs.encoded_pairs import Pairs, words_of
from bertviz_core.models import loading
from bertviz_core.models.ablation import predict_without
from bertviz_core.models.pair_scores import masked_words
from bertviz_core.settings import Execution, Settings
from tests.oracles import uncertainty
from tests.oracles.ablation import Ablated
from tests.oracles.minimal_pairs import Margins, changes
from tests.support.predicting import DECODERS, eager, load, save

PAIRS = [
    ("the old cat sat near the door", "the old dog sat near the door", "nouns"),
    ("the wind turns the wheels", "the wind turned the wheels", "verbs"),
    ("people walk in the evening", "people talks in the evening", "verbs"),
    ("a river turns the wheels", "a lamps turns the mills", "nouns"),
    ("the dog slept near the fields", "the dog near slept the fields", "order"),
    ("people walk, and talk", "people walk, and talk the", "order"),
]
SETTINGS = Settings(max_length=24, seed=5)


def computed(model: loading.AttentionModel, pairs: Any = PAIRS, **options: Any) -> MinimalPairs:
    request = Request("minimal_pairs", model.checkpoint, source_of(pairs, "pairs"), SETTINGS, options)
    return compute(request, None, Execution("cpu", 512), model=model)  # type: ignore[return-value]


def literal(family: str, folder: Path, model: loading.AttentionModel, *, pll: bool = False) -> Margins:
    whole = Ablated(eager(family, folder), family, model.layers, model.heads)
    causal = family in DECODERS
    return Margins(whole, model.tokens.tokenizer, has_types=model.has_types, causal=causal, pll=pll)


def test_worked_example() -> None:
    """Three pairs with margins 2, 0.5 and -1 nats, and without a head 1, -0.5 and -1: 2 of 3 are right, then 1 of 3.

    The accuracy changes by 1/3 - 2/3 = -1/3, the margin by ((1 - 2) + (-0.5 - 0.5) + 0) / 3 = -2/3 nats. The first two
    share a template, so that there are two units of sums -2 and 0.
    """
    assert changes([2, 0.5, -1], [1, -0.5, -1]).tolist() == pytest.approx([-1 / 3, -2 / 3])
    found = averages(np.array([-1.0, -1.0, 0.0]), np.array([7, 7, 3]))
    mean, _, effective = uncertainty.by_document([[-1.0, -1.0], [0.0]])
    assert (float(found.mean), found.units) == (pytest.approx(-2 / 3), 2)
    assert float(mean) == pytest.approx(-2 / 3) and found.effective_units == pytest.approx(effective)


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("bert", {}),
        ("bert", {"score": "pll", "replace": "mean"}),
        ("bert", {"replace": "uniform"}),
        ("gpt2", {}),
        ("gpt2", {"replace": "uniform"}),
    ],
)
def test_equals_hooks_one_head_at_a_time(family: str, options: dict[str, str], tmp_path: Path) -> None:
    """Also that a pass which starts at a head's layer is the whole one: the oracle knows no other."""
    model = load(save(family, tmp_path))
    result = computed(model, **options)
    oracle = literal(family, tmp_path, model, pll=options.get("score") == "pll")
    uniform = options.get("replace") == "uniform"
    mean = None
    if options.get("replace") == "mean":
        examples = [each for good, bad, _ in PAIRS for inputs in oracle.inputs(good, bad) for each in inputs]
        mean = oracle.model.mean_outputs(examples, model.has_types)
    whole = [oracle.margin(good, bad, set()) for good, bad, _ in PAIRS]
    assert result.phenomena == ["nouns", "verbs", "order"] and result.pairs.tolist() == [2, 2, 2]
    for place, name in enumerate(result.phenomena):
        own = [number for number, (*_, phenomenon) in enumerate(PAIRS) if phenomenon == name]
        before = [whole[number] for number in own]
        assert result.margin[place] == pytest.approx(np.mean(before), abs=1e-5)
        assert result.accuracy[place] == np.mean([margin > 0 for margin in before])
        for layer in range(model.layers):
            for head in range(model.heads):
                after = [oracle.margin(*PAIRS[number][:2], {(layer, head)}, mean, uniform) for number in own]
                np.testing.assert_allclose(result.changes[place, :, layer, head], changes(before, after), atol=2e-5)
    assert np.abs(result.changes[:, 1]).max() > 1e-3


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("bert", {}),
        ("bert", {"score": "pll", "replace": "mean"}),
        ("gpt2", {}),
        ("gpt2", {"replace": "uniform"}),
    ],
)
def test_sets_equal_hooks_one_set_at_a_time(family: str, options: dict[str, str], tmp_path: Path) -> None:
    model = load(save(family, tmp_path))
    result = computed(model, **options, heads=f"1-1,{model.layers}-2")
    oracle = literal(family, tmp_path, model, pll=options.get("score") == "pll")
    mean = None
    if options.get("replace") == "mean":
        examples = [each for good, bad, _ in PAIRS for inputs in oracle.inputs(good, bad) for each in inputs]
        mean = oracle.model.mean_outputs(examples, model.has_types)

    def margins(heads: Any) -> list[float]:
        off = {(head.layer, head.head) for head in map(Head.parse, heads)}
        return [oracle.margin(good, bad, off, mean, options.get("replace") == "uniform") for good, bad, _ in PAIRS]

    whole, without = margins([]), [margins(each["heads"]) for each in result.sets]
    controls = [margins(heads) for heads in result.controls]
    assert len(without) == 1 and result.sets[0]["heads"] == ["1-1", f"{model.layers}-2"] and controls
    for place, name in enumerate([*result.phenomena, None]):  # the last row is all pairs
        own = [number for number, pair in enumerate(PAIRS) if name in (pair[2], None)]
        before = [whole[number] for number in own]
        for after, measured in ((without, result.set_changes), (controls, result.control_changes)):
            expected = np.stack([changes(before, [each[number] for number in own]) for each in after], -1)
            np.testing.assert_allclose(measured[place], expected, atol=2e-5)
    assert np.abs(result.set_changes[:, 1]).max() > 1e-3


def test_a_set_of_one_head_is_that_head(masked: loading.AttentionModel) -> None:
    result = computed(masked, heads="2-1")
    np.testing.assert_allclose(result.set_changes[:-1, :, 0], result.changes[:, :, 1, 0], atol=1e-5)
    np.testing.assert_allclose(result.set_errors[:-1, :, 0], result.errors[:, :, 1, 0], atol=1e-5)
    controls = [Head.parse(heads[0]) for heads in result.controls]
    assert controls == [Head(1, head) for head in range(1, masked.heads)]
    expected = np.stack([result.changes[:, :, *head] for head in controls], -1)
    np.testing.assert_allclose(result.control_changes[:-1], expected, atol=1e-5)
    pairs = [pair.number for pair in result.flipped_pairs(None)]
    assert pairs == [pair.number for pair in result.flipped_pairs(Head(1, 0))]
    assert result.flip_count(None) == result.flip_count(Head(1, 0))


def test_single_heads_are_read_where_they_are_stored(masked: loading.AttentionModel, tmp_path: Path) -> None:
    single = computed(masked)
    request = Request("minimal_pairs", masked.checkpoint, source_of(PAIRS, "pairs"), SETTINGS, {"heads": "1-1,2-1"})
    store = Store(tmp_path)
    store.put(without_sets(request).key(), single.to_bytes())
    assert without_sets(request) == replace(request, options={})
    found: Any = compute(request, store, Execution("cpu", 512), model=masked)
    whole = computed(masked, heads="1-1,2-1")
    assert (found.changes == single.changes).all() and (found.flipped == single.flipped).all()
    assert found.provenance["options"] == {"heads": "1-1,2-1"}
    np.testing.assert_allclose(found.set_changes, whole.set_changes, atol=1e-5)
    assert PairsRun(masked, request, lambda _: single).stored is single


def test_relations_are_removed_without_random_sets(masked: loading.AttentionModel) -> None:
    sets = {"heads": "relations", "sets": ["nsubj: 1-1 2-1", "dobj: 2-1", "obj: 2-1"], "above_baseline": ["dobj"]}
    result = computed(masked, **sets)
    assert [each["is_found"] for each in result.sets] == [False, True, False]
    assert result.head_set is None and result.controls == [] and result.set_changes.shape == (4, 2, 3)
    assert (result.set_changes[..., 1] == result.set_changes[..., 2]).all()
    np.testing.assert_allclose(result.set_changes[:-1, :, 1], result.changes[:, :, 1, 0], atol=1e-5)
    arrays, tables = result.arrays(), result.tables()
    assert np.shape(arrays["accuracy_change"]) == (3, masked.layers, masked.heads)
    assert np.shape(arrays["set_margin_change"]) == np.shape(arrays["set_specificity"]) == (3, 3)
    assert "controls" not in tables and tables["sets"]["heads"].tolist() == ["1-1 2-1", "2-1", "2-1"] * 3
    rows = pd.read_csv(BytesIO(to_csv(result, tables["sets"])))
    assert rows["heads"].tolist() == tables["sets"]["heads"].tolist() and set(rows["heads_of_run"]) == {"relations"}


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_nothing_removed_changes_nothing(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(save(family, tmp_path))

    def keep_all(*args: Any, **options: Any) -> Any:
        restart, batch, labels, inputs, heads = args
        return predict_without(restart, batch, labels, inputs, heads, keys=batch.mask & False, batch_tokens=1)

    monkeypatch.setattr("bertviz_core.analyses.minimal_pairs.measure.predict_without", keep_all)
    result = computed(model, heads="1-1,2-1")
    assert (result.changes == 0).all()
    assert (result.set_changes == 0).all() and (result.control_changes == 0).all() and result.controls


def test_sentences_that_are_the_same_without_the_words_that_differ_are_read_once(
    masked: loading.AttentionModel,
) -> None:
    pairs = list(Pairs(source_of(PAIRS, "pairs"), masked.tokens, SETTINGS))
    questions = [masked_words(0, pair, masked.tokens, "differing") for pair in pairs]
    assert len(questions[0]) == 1 and questions[0][0].signs.tolist() == [1, -1]
    assert (questions[0][0].ids == masked.tokens.mask).sum() == 1


def test_pairs_whose_words_are_not_only_replaced_are_counted(masked: loading.AttentionModel) -> None:
    (entry,) = computed(masked).provenance["skipped"]
    assert entry["count"] == 2 and "every word is scored in turn" in entry["reason"] and "unit" not in entry
    assert computed(masked, score="pll").provenance["skipped"] == []


def test_templates_are_units_where_the_file_names_them(masked: loading.AttentionModel) -> None:
    rows = [{"good": good, "bad": bad, "template": str(number % 2)} for number, (good, bad, _) in enumerate(PAIRS)]
    result = computed(masked, rows)
    assert (result.unit, result.units.tolist(), result.units_text) == (
        "templates",
        [2, 2],
        "2 templates (too few templates to decide anything)",
    )
    assert computed(masked).unit == "pairs"


def test_a_sentence_that_does_not_fit_is_left_out_and_counted(masked: loading.AttentionModel) -> None:
    long = ("the cat " * 20, "the dog " * 20, "nouns")
    result = computed(masked, [*PAIRS, long])
    assert result.pairs.sum() == len(PAIRS)
    assert any("more than 24 tokens" in entry["reason"] for entry in result.provenance["skipped"])


def test_a_pair_of_the_same_tokens_is_left_out_and_counted(masked: loading.AttentionModel) -> None:
    """Its margin is 0 or a rounding error, which says nothing of the model."""
    result = computed(masked, [*PAIRS, ("the 猫 sat", "the 犬 sat", "nouns")])
    assert result.pairs.sum() == len(PAIRS)
    assert any("the same tokens" in entry["reason"] for entry in result.provenance["skipped"])


def test_a_decoder_needs_two_tokens(tmp_path: Path) -> None:
    model = load(save("gpt2", tmp_path))
    if len(model.tokens.single[0]):
        pytest.skip("its tokenizer begins texts with a token")
    with pytest.raises(InputError, match="No pair can be scored"):
        computed(model, [("a", "b")])


def test_words_own_their_tokens(masked: loading.AttentionModel) -> None:
    parts, part_of = words_of("the newest town, home", masked.tokens)
    assert part_of == [0, 1, 2, 3] and [*chain(*parts)] == masked.tokens.encode("the newest town, home")
    assert parts[2][-1] == masked.tokens.encode(",")[0]


def test_a_mark_is_a_word_where_the_tokenizer_says_so(masked: loading.AttentionModel) -> None:
    pairs = list(Pairs(source_of([("town, home", "town, homes")], "pairs"), masked.tokens, SETTINGS))
    tokens_of_inputs = [
        masked.tokens.names(each.ids)[1:-1] for each in masked_words(0, pairs[0], masked.tokens, "pll")[:3]
    ]
    assert [names.count("[MASK]") for names in tokens_of_inputs[-2:]] == [1, 1], tokens_of_inputs


def test_a_cancelled_run_stops(masked: loading.AttentionModel) -> None:
    request = Request("minimal_pairs", masked.checkpoint, source_of(PAIRS, "pairs"), SETTINGS)
    run = PairsRun(masked, request)
    pairs = list(Pairs(request.source, masked.tokens, SETTINGS))
    progress = Progress()
    progress.cancelled.set()
    with pytest.raises(Cancelled):
        run.run(pairs, lambda *_: None, progress, 64)
