"""Gradients of the loss of masked and of next words, by class of target token."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bertviz_core.analyses.base.prediction_sums import PredictionSums
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run import compute
from bertviz_core.analyses.sep_gradients import measure as sep_gradients
from bertviz_core.analyses.sep_gradients.analysis import SepGradientsAnalysis
from bertviz_core.analyses.sep_gradients.result import CLASSES, QUANTITIES, SepGradients
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import InputError
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.loss import LayerGradient, Predictions, Targets, backward
from bertviz_core.settings import Execution, Settings
from tests.oracles import gradients as reference
from tests.support import families, maps
from tests.support.predicting import DECODERS, SETTINGS, TEXT, eager, labeled, load, save

PREDICTING = ("bert", "distilbert", "roberta", "albert", "electra", "modernbert", "deberta-v2", "mpnet")


def segments(model: loading.AttentionModel, settings: Settings = SETTINGS) -> Segments:
    return Segments(from_bytes(TEXT.encode(), "text.txt"), model.tokens, settings)


def computed(model: loading.AttentionModel, examples: Any, batch_tokens: int = 512) -> SepGradients:
    accumulator = PredictionSums(QUANTITIES, sep_gradients.measure, model.layers, model.heads, model.device)
    sep_gradients.run(model, examples.settings, examples, [accumulator], Progress(), batch_tokens)
    return SepGradientsAnalysis().finish(accumulator, examples, {})


class Shuffled:
    """The same segments in another order."""

    def __init__(self, inputs: Segments) -> None:
        self.source, self.tokens, self.settings = inputs.source, inputs.tokens, inputs.settings
        self.examples = list(inputs)[::-1]

    def __iter__(self) -> Any:
        return iter(self.examples)


def test_worked_example() -> None:
    """[CLS] x [SEP], with these weights A and gradients dL/dA of one head, a row for each token that attends:

        A = 0.2 0.3 0.5      dL/dA = -0.2  0.4  0.1
            0.1 0.3 0.6               0.4 -0.8  0.2
            0.2 0.2 0.6               0.6  0.0 -0.3

    The sign of a gradient does not count. To [SEP] it is (0.1 + 0.2 + 0.3) / 3 = 0.2 nats for a unit of attention, to
    [CLS] (0.2 + 0.4 + 0.6) / 3 = 0.4, to x (0.4 + 0.8 + 0) / 3 = 0.4. Times the attention it is for [SEP]
    (0.5 * 0.1 + 0.6 * 0.2 + 0.6 * 0.3) / 3 = 0.35 / 3 nats; [SEP] gets (0.5 + 0.6 + 0.6) / 3 of the attention. There is
    no punctuation, and the first token is [CLS].
    """
    weights = torch.tensor([[0.2, 0.3, 0.5], [0.1, 0.3, 0.6], [0.2, 0.2, 0.6]])[None, None]
    gradient = torch.tensor([[-0.2, 0.4, 0.1], [0.4, -0.8, 0.2], [0.6, 0.0, -0.3]])[None, None]
    nothing = torch.zeros(0)
    predictions = Predictions(nothing, nothing, nothing, nothing, nothing)
    layer = LayerGradient(0, weights, gradient, predictions, weights > 0)
    batch = collate([maps.encode(0, ["cls", "other", "sep"])], maps.TOKENS, "cpu")
    values = sep_gradients.measure(batch, layer)[0, 0].tolist()
    found = dict(zip(QUANTITIES, values, strict=True))
    expected = {"to_sep": 0.2, "to_cls": 0.4, "to_other": 0.4}
    expected |= {"to_sep_times_attention": 0.35 / 3, "attention_to_sep": 1.7 / 3}
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert np.isnan([found["to_punct"], found["to_first"]]).all()


@pytest.mark.parametrize("family", (*PREDICTING, *DECODERS))
def test_equals_one_segment_at_a_time_with_plain_autograd(family: str, tmp_path: Path) -> None:
    model = load(save(family, tmp_path))
    assert model.observable == families.FAMILIES[family].observable
    result = computed(model, segments(model))
    plain = eager(family, tmp_path)
    found: dict[str, list[np.ndarray]] = {}
    losses, right, masked = [], 0, 0
    for example in labeled(model, segments(model)):
        types = example["token_type_ids"] if model.has_types else None
        maps, slopes, loss, hits = reference.gradient(plain, example["input_ids"], types, example["labels"])
        classes = reference.token_classes(model.tokens.tokenizer, example["original_ids"])
        for name in CLASSES:
            for quantity, values in reference.class_values(maps, slopes, classes, name, (maps == 0).all(1)).items():
                found.setdefault(quantity, []).append(values)
        losses, right = [*losses, loss], right + hits
        masked += sum(label != -100 for label in example["labels"])
    assert len(losses) == 4
    absent = {"sep", "cls"} if family in DECODERS else {"first"}
    classes = [name for name in CLASSES if name not in absent]
    assert set(result.present) == set(found) and {f"to_{name}" for name in classes} <= set(found)
    for quantity, per_segment in found.items():
        np.testing.assert_allclose(
            result[quantity], np.mean(per_segment, axis=0), rtol=2e-4, atol=1e-8, err_msg=quantity
        )
        assert result.segments[QUANTITIES.index(quantity)] == len(per_segment)
    assert result.loss == pytest.approx(np.mean(losses), rel=1e-5)
    assert (result.right, result.predicted) == (right, masked)
    assert result.accuracy == right / masked


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_a_weight_that_underflows_to_0_is_not_masked(family: str, tmp_path: Path) -> None:
    """Heads that are sharp to a fault give exactly 0 to tokens that they see: these count as any other."""
    model, plain = load(save(family, tmp_path)), eager(family, tmp_path)
    for each in (model.language_model, plain):
        for name, parameter in each.named_parameters():
            if any(part in name for part in ("query.weight", "c_attn.weight", "q_proj.weight")):
                parameter.data *= 40
    example = next(iter(segments(model)))
    labels = next(iter(labeled(model, segments(model))))
    types = labels["token_type_ids"] if model.has_types else None
    maps, slopes, _, _ = reference.gradient(plain, labels["input_ids"], types, labels["labels"])
    classes = reference.token_classes(model.tokens.tokenizer, labels["original_ids"])
    size = len(classes)
    hidden = np.triu(np.ones((size, size), dtype=bool), 1) if model.causal else np.zeros((size, size), dtype=bool)
    seen = maps.astype(np.float32)[:, :, ~hidden]
    assert (seen == 0).any()
    expected = reference.class_values(maps, slopes, classes, "other", np.stack([hidden] * model.layers))
    result = computed(model, Only(example, segments(model)))
    np.testing.assert_allclose(result["to_other"], expected["to_other"], rtol=1e-3, atol=1e-9)


class Only:
    """One segment alone."""

    def __init__(self, example: Any, inputs: Segments) -> None:
        self.source, self.tokens, self.settings = inputs.source, inputs.tokens, inputs.settings
        self.examples = [example]

    def __iter__(self) -> Any:
        return iter(self.examples)


@pytest.mark.parametrize("batch_tokens", [40, 512])
def test_neither_batch_nor_order_matters(masked: loading.AttentionModel, batch_tokens: int) -> None:
    alone = computed(masked, segments(masked), batch_tokens=1)
    for examples in (segments(masked), Shuffled(segments(masked))):
        other = computed(masked, examples, batch_tokens=batch_tokens)
        np.testing.assert_allclose(other.mean, alone.mean, rtol=1e-5)
        np.testing.assert_array_equal(other.segments, alone.segments)
        np.testing.assert_array_equal(other.top[: len(CLASSES)], alone.top[: len(CLASSES)])
        assert other.loss == pytest.approx(alone.loss, rel=1e-6)
        assert (other.right, other.predicted) == (alone.right, alone.predicted)


@pytest.mark.parametrize("seed", [0, 5, -1])
def test_masked_inputs_are_repeated_from_the_text_of_the_methods(masked: loading.AttentionModel, seed: int) -> None:
    source = from_bytes((TEXT * 6).encode(), "text")
    segments = list(Segments(source, masked.tokens, Settings(max_length=24, seed=seed)))
    assert [segment.number for segment in segments] == list(range(len(segments))) and len(segments) > 10
    tokenizer = masked.tokens.tokenizer
    vocabulary, special = list(tokenizer.get_vocab().values()), tokenizer.all_special_ids
    targets, replaced = Targets(masked.tokens, seed), 0
    for number, segment in enumerate(segments):
        ids = segment.ids.tolist()
        expected = reference.masked_input(ids, special, vocabulary, tokenizer.mask_token_id, seed, number)
        assert tuple(each.tolist() for each in targets.apply(segment)) == expected
        replaced += sum(a not in (b, tokenizer.mask_token_id) for a, b in zip(expected[0], ids, strict=True))
    assert replaced  # by a random token


def test_no_map_outlives_its_layer(masked: loading.AttentionModel) -> None:
    """When a layer's gradient comes by, the later layers' maps are gone; after the pass all are."""
    import gc

    from torch.multiprocessing.reductions import StorageWeakRef

    batch = collate(segments(masked), masked.tokens, "cpu")
    alive: list[StorageWeakRef] = []

    def check(layer: LayerGradient) -> None:
        assert all(ref.expired() for ref in alive)
        maps = (layer.weights, layer.gradient)
        alive.extend(StorageWeakRef(one.untyped_storage()) for one in maps)
        assert not any(ref.expired() for ref in alive[-2:])

    gc.disable()  # a cycle that waits for the collector would hold a map too long
    try:
        backward(masked, batch, check, targets=Targets(masked.tokens, 5))
        assert [ref.expired() for ref in alive] == [True] * 4
    finally:
        gc.enable()


def test_a_segment_with_nothing_to_predict_is_left_out_and_counted(masked_folder: Path, tmp_path: Path) -> None:
    records = [{"text": "the old cat sat ."}, {"tokens": ["[CLS]", "[SEP]"]}, {"text": "a dog ran"}]
    result = _requested(masked_folder, json.dumps(records), Store(tmp_path))
    assert result.segments[QUANTITIES.index("to_sep")] == 2
    why = "a passage of special tokens only, with nothing to predict"
    assert result.provenance["skipped"] == [{"reason": why, "count": 1, "where": ["line 1, object 2"]}]
    with pytest.raises(InputError, match="token to predict"):
        _requested(masked_folder, json.dumps([records[1]]), Store(tmp_path))


def _requested(folder: Path, text: str, store: Store) -> SepGradients:
    name = "given.json" if text.startswith("[") else "given.txt"
    request = Request(
        "sep_gradients", checkpoint.find_checkpoint(str(folder)), from_bytes(text.encode(), name), SETTINGS
    )
    return compute.compute(request, store, Execution("cpu"))
