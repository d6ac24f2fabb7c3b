"""Changes of the masked-word loss without heads, against hooks on the whole model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bertviz_core.analyses.ablation.changes import change_of
from bertviz_core.analyses.ablation.figure import estimate_figure, groups_figure
from bertviz_core.analyses.ablation.measure import groups
from bertviz_core.analyses.ablation.result import Ablation
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import Cancelled, InputError, ModelError
from bertviz_core.exports import to_json
from bertviz_core.heads import Head, all_heads
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import loading
from bertviz_core.models.loss import Predictions
from bertviz_core.settings import Execution
from tests.oracles import uncertainty
from tests.oracles.ablation import PROJECTIONS, Ablated
from tests.oracles.minimal_pairs import Margins
from tests.support.predicting import DECODERS, SETTINGS, TEXT, eager, labeled, load, save

SOURCE = from_bytes(TEXT.encode(), "text.txt")


def half_width(change: np.ndarray, model: loading.AttentionModel) -> float:
    """Of the interval by document of the changes (segment,)."""
    documents: dict[int, list[float]] = {}
    for segment, value in zip(Segments(SOURCE, model.tokens, SETTINGS), change.tolist(), strict=True):
        documents.setdefault(segment.document_number, []).append(value)
    _, error, effective = uncertainty.by_document(list(documents.values()))
    return uncertainty.t_quantile(effective - 1) * error


def computed(
    model: loading.AttentionModel, batch_tokens: int = 512, source: Source = SOURCE, **options: Any
) -> Ablation:
    request = Request("ablation", model.checkpoint, source, SETTINGS, options)
    return compute(request, None, Execution("cpu", batch_tokens), model=model)


@pytest.fixture(scope="module")
def model(masked: loading.AttentionModel) -> loading.AttentionModel:
    return masked


@pytest.fixture(scope="module")
def result(model: loading.AttentionModel) -> Ablation:
    return computed(model)


class Literal:
    """The oracle on the same masked segments."""

    def __init__(self, family: str, folder: Path, model: loading.AttentionModel, mean: bool) -> None:
        self.model, self.types = Ablated(eager(family, folder), family, model.layers, model.heads), model.has_types
        self.examples = labeled(model, Segments(SOURCE, model.tokens, SETTINGS))
        self.tokens = model.tokens
        self.mean = self.model.mean_outputs(self.examples, self.types) if mean else None
        self.whole = np.array([self.model.without(e, self.types, set()) for e in self.examples])

    def without(self, off: set[tuple[int, int]]) -> np.ndarray:
        """(segment, 2) changes of loss and share right."""
        found = [self.model.without(e, self.types, off, self.mean) for e in self.examples]
        return np.array(found) - self.whole

    def without_sink(self, sink: str, head: tuple[int, int]) -> np.ndarray:
        token = getattr(self.tokens, sink, None)
        originals = [e["original_ids"] for e in self.examples]
        sinks = [[i for i, t in enumerate(ids) if (i == 0 if sink == "first" else t == token)] for ids in originals]
        pairs = zip(self.examples, sinks, strict=True)
        return np.array([self.model.without_keys(e, self.types, keys, head) for e, keys in pairs]) - self.whole

    def estimates(self) -> np.ndarray:
        return np.mean([self.model.estimates(e, self.types) for e in self.examples], axis=0)


def test_worked_example() -> None:
    """Two segments, of two masked words and of one, with all heads and without one:

        with all heads   losses 0.4 and 0.8, mean 0.6, 1 of 2 right;   loss 1.0, 1 of 1 right
        without one      losses 1.0 and 0.8, mean 0.9, 0 of 2 right;   loss 1.6, 0 of 1 right

    Each segment counts once, however many words it has: the change of the loss is (0.3 + 0.6) / 2 = 0.45 nats a word,
    that of the share of right guesses (-1/2 - 1) / 2 = -0.75.
    """

    def predictions(word_losses: list[float], right: list[int]) -> Predictions:
        first, second, third = word_losses
        loss = torch.tensor([(first + second) / 2, third])
        counts = torch.tensor(right), torch.tensor([2, 1])
        return Predictions(loss, *counts, torch.tensor(word_losses), torch.zeros(3, dtype=torch.int64))

    whole, without = predictions([0.4, 0.8, 1.0], [1, 1]), predictions([1.0, 0.8, 1.6], [0, 0])
    changes = change_of(whole, [without])  # (set, segment, 2)
    assert changes[0].tolist() == [pytest.approx([0.3, -0.5]), pytest.approx([0.6, -1.0])]
    assert changes.mean(1)[0].tolist() == pytest.approx([0.45, -0.75])


@pytest.mark.parametrize("family", PROJECTIONS)
@pytest.mark.parametrize("mean", [False, True])
def test_equals_hooks_one_head_at_a_time(family: str, mean: bool, tmp_path: Path) -> None:
    model = load(save(family, tmp_path))
    result = computed(model, **({"replace": "mean"} if mean else {}))
    literal = Literal(family, tmp_path, model, mean)
    assert result.loss == pytest.approx(literal.whole[:, 0].mean(), abs=1e-5)
    for layer in range(model.layers):
        for head in range(model.heads):
            change = literal.without({(layer, head)})
            expected = np.hstack([change, literal.without_sink(result.sink, (layer, head))])
            found = [result[name][layer, head] for name in result.quantities[: expected.shape[1]]]
            np.testing.assert_allclose(found, expected.mean(0), atol=1e-5, rtol=0)
            interval = half_width(change[:, 0], model)
            assert result.interval("loss_change")[layer, head] == pytest.approx(interval, rel=1e-3, abs=1e-4)
    np.testing.assert_allclose(result["gradient_estimate"], literal.estimates(), atol=1e-5, rtol=0)
    assert (result.sink == "first") == (family in DECODERS)
    assert abs(result["to_sink_loss_change"]).max() > 1e-3
    assert abs(result["loss_change"]).max() > 1e-2


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_uniform_attention_equals_hooks_that_average_what_is_seen(family: str, tmp_path: Path) -> None:
    model = load(save(family, tmp_path))
    result = computed(model, replace="uniform")
    whole = Literal(family, tmp_path, model, mean=False)
    oracle = Margins(whole.model, model.tokens.tokenizer, has_types=whole.types, causal=family in DECODERS)
    for head in all_heads(model.layers, model.heads):
        after = [oracle.uniform(example, {tuple(head)}) for example in whole.examples]
        assert result["loss_change"][head] == pytest.approx(np.mean(after - whole.whole[:, 0]), abs=1e-5)


def test_groups_and_the_curve_equal_hooks_on_several_heads(
    model: loading.AttentionModel, masked_folder: Path, result: Ablation
) -> None:
    literal = Literal("bert", masked_folder, model, mean=False)
    assert {"layer 1", "layer 2"} <= {group["name"] for group in result.groups}
    for group in result.groups:
        heads = {(h.layer, h.head) for h in map(Head.parse, group["heads"])}
        change = literal.without(heads)[:, 0]
        assert group["loss_change"] == pytest.approx(change.mean(), abs=1e-5)
        assert group["interval"] == pytest.approx(half_width(change, model), rel=1e-3, abs=1e-4)
        if group["name"].startswith("layer"):
            assert group["random_loss_change"] is None, "as many heads of a whole layer are the layer itself"
    order = np.argsort(result["loss_change"].reshape(-1), kind="stable")
    for count, loss in zip(result.removed, result.removed_loss, strict=True):
        heads = {divmod(int(i), model.heads) for i in order[:count]}
        assert loss == pytest.approx(result.loss + literal.without(heads)[:, 0].mean(), abs=1e-5)
    assert result.removed.tolist() == [0, 1, 2, 3, 4]


def test_random_heads_equal_hooks_on_the_heads_that_were_drawn(
    model: loading.AttentionModel, masked_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = np.array([["previous", "next"], ["next", "previous"]])
    monkeypatch.setattr("bertviz_core.analyses.ablation.measure.AblationRun.behaviors", lambda *_: (labels, "sep"))
    result, literal = computed(model), Literal("bert", masked_folder, model, mean=False)
    seen = set()
    for group, drawn in zip(result.groups[:2], groups(labels, SETTINGS.seed).values(), strict=False):
        draws = [frozenset(map(tuple, np.argwhere(draw).tolist())) for draw in drawn[1:]]
        expected = [literal.without(set(heads))[:, 0].mean() for heads in draws]
        assert group["random_draws"] == pytest.approx(expected, abs=1e-5)
        assert group["random_loss_change"] == pytest.approx(sum(expected) / len(expected), abs=1e-5)
        assert all({layer for layer, _ in heads} == {0, 1} for heads in draws), "one head of each layer"
        seen |= set(draws)
    assert len(seen) > 1


def test_batches_change_nothing(model: loading.AttentionModel, result: Ablation) -> None:
    for batch_tokens in (1, 30, 70, 4000):
        other = computed(model, batch_tokens)
        np.testing.assert_allclose(other.mean, result.mean, atol=1e-5)
        np.testing.assert_array_equal(other.word_ids, result.word_ids)
        np.testing.assert_allclose(other.removed_loss, result.removed_loss, atol=1e-5)


def word_losses(literal: Literal, off: set[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """(segment, position) -> the loss of every masked word: of the segment with that label alone."""
    found = {}
    for number, example in enumerate(literal.examples):
        for position, label in enumerate(example["labels"]):
            if label != -100:
                alone = [label if at == position else -100 for at in range(len(example["labels"]))]
                found[number, position] = literal.model.without(example | {"labels": alone}, literal.types, off)[0]
    return found


def test_the_worst_words_are_those_of_an_exhaustive_search(
    model: loading.AttentionModel, masked_folder: Path, result: Ablation
) -> None:
    literal = Literal("bert", masked_folder, model, mean=False)
    before = word_losses(literal, set())
    for head in all_heads(2, 2):
        after = word_losses(literal, {(head.layer, head.head)})
        worst = sorted(after, key=lambda at: (before[at] - after[at], at))[:5]
        found = {(word["number"], word["position"]): word for word in result.words(head)}
        assert list(found) == [at for at in worst if after[at] > before[at]]
        for at, word in found.items():
            assert (word["loss_before"], word["loss_after"]) == pytest.approx((before[at], after[at]), abs=1e-5)
            example = literal.examples[at[0]]
            ids = example["input_ids"][at[1]], example["labels"][at[1]]
            assert [word["shown"], word["original"]] == model.tokens.names(ids)


def test_a_cancel_ends_it(model: loading.AttentionModel) -> None:
    class Ends(Progress):
        def advance(self, count: int) -> None:
            if self.stage == "Ablating each head" and count:
                self.cancelled.set()
            super().advance(count)

    with pytest.raises(Cancelled):
        compute(Request("ablation", model.checkpoint, SOURCE, SETTINGS), None, progress=Ends(), model=model)
    assert not any("forward" in vars(module) for module in model.language_model.modules())


def test_a_family_with_attention_of_its_own_and_a_corpus_without_words_have_messages(
    model: loading.AttentionModel, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match="cannot be ablated"):
        computed(load(save("deberta-v2", tmp_path)))
    nothing = from_bytes(b'[{"tokens": ["[CLS]", "[SEP]"]}]', "none.json")
    with pytest.raises(InputError, match="No passage has a token"):
        computed(model, source=nothing)


def test_a_single_segment_has_no_intervals(model: loading.AttentionModel) -> None:
    request = Request("ablation", model.checkpoint, SOURCE, replace(SETTINGS, limit=1))
    result = compute(request, None, Execution("cpu"), model=model)
    assert result["loss_change"].max() > 0 and "; 0 of " in ANALYSES["ablation"].findings(result)[0].text
    written = json.loads(to_json(result))
    assert {group["interval"] for group in written["groups"]} == {None}
    assert {row["loss_change_interval"] for row in written["table"]} == {None}
    assert {value for row in written["arrays"]["loss_change_interval"] for value in row} == {None}
    assert "(too few passages to say)" in ANALYSES["ablation"].columns[0].map(result).hover[0]
    for figure in (estimate_figure(result), groups_figure(result)):
        assert figure.data and figure.to_json()
