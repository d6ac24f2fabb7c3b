import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from transformers import AutoModel

from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.entropy import measure as entropy
from bertviz_core.analyses.entropy.result import QUANTITIES as ENTROPY
from bertviz_core.analyses.surface_patterns import measure as surface_patterns
from bertviz_core.analyses.surface_patterns.result import QUANTITIES as SURFACE_PATTERNS
from bertviz_core.engine import forward_pass
from bertviz_core.engine.forward_pass import extract
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import Cancelled, ModelError, SettingsError
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.settings import Settings
from tests.oracles import reference

LINES = ["the cat sat on the mat .", "the dog slept", "a river runs , and runs", "lamps are lit", "people walk home ."]
TEXT = "\n\n".join("\n".join(LINES[i % 5 :] + LINES[: i % 3]) for i in range(9))


@pytest.fixture
def examples(tiny, source):
    return list(Segments(source(TEXT), tiny.tokens, Settings(max_length=24)))


def fresh(model) -> list[SegmentSums]:
    both = ((SURFACE_PATTERNS, surface_patterns.measure), (ENTROPY, entropy.measure))
    return [SegmentSums(names, measure, model.layers, model.heads, "cpu") for names, measure in both]


def run(model, examples, batch_tokens=None, progress=None):
    accumulators = fresh(model)
    forward_pass.run(model, examples, accumulators, progress or Progress(), batch_tokens)
    return [accumulator.result() for accumulator in accumulators]


def same(one, other):
    for a, b in zip(one, other, strict=True):
        for name in ("mean", "error", "top_values"):
            np.testing.assert_allclose(a[name], b[name], atol=1e-6)
        np.testing.assert_array_equal(a["segments"], b["segments"])


def fail_over(monkeypatch, model, most, error, layer=0):
    """The device has room for `most` examples; a larger batch fails in this layer, after the ones before were seen."""
    sizes = []
    original = forward_pass.forward

    def forward(model, batch, *observers):
        def watched(attention):
            if attention.layer == layer and len(batch.examples) > most:
                raise error

        original(model, batch, watched, *observers)
        sizes.append(len(batch.examples))

    monkeypatch.setattr(forward_pass, "forward", forward)
    return sizes


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
        RuntimeError("MPS backend out of memory (MPS allocated: 9.00 GB). Tried to allocate 2.00 GB on private pool."),
    ],
    ids=["cuda", "cpu", "mps"],
)
def test_without_room_batches_are_halved_and_nothing_counts_twice(tiny, examples, monkeypatch, error):
    expected = run(tiny, examples, 100_000)
    sizes = fail_over(monkeypatch, tiny, 2, error, layer=1)
    progress = Progress()
    same(run(tiny, examples, 100_000, progress), expected)
    assert sum(sizes) == len(examples) and progress.done == sum(map(len, examples))
    assert max(sizes) == 2


def test_another_failure_is_not_taken_for_want_of_room_and_a_real_one_is(tiny, examples, monkeypatch):
    with monkeypatch.context() as patched:
        sizes = fail_over(patched, tiny, 2, RuntimeError("shapes do not match"))
        with pytest.raises(RuntimeError, match="shapes do not match"):
            run(tiny, examples, 100_000)
        assert sizes == []
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60, dtype=torch.uint8)
    fail_over(monkeypatch, tiny, 0, caught.value)
    with pytest.raises(ModelError, match="does not fit") as refused:
        run(tiny, examples)
    assert "maximum length" in refused.value.hint


def test_the_pass_reads_as_it_goes(tiny, examples, monkeypatch):
    """A corpus is a stream: what has been read ahead is one window, however long the corpus."""
    monkeypatch.setattr("bertviz_core.inputs.encoding.WINDOW", 4)
    read = 0

    def reading():
        nonlocal read
        for example in examples:
            read += 1
            yield example

    class Watching(Progress):
        def advance(self, count):
            super().advance(count)
            assert sum(map(len, examples[:read])) <= self.done + 4 * max(map(len, examples))

    forward_pass.run(tiny, reading(), fresh(tiny), Watching(), 24)
    assert read == len(examples) > 8


WORDS = '[{"words": ["The", "cab", "", "greenhouses", "."]}, {"text": "the dog slept"}, {"words": ["🙂"]}]'


@pytest.fixture
def word_examples(tiny, source):
    return list(Segments(source(WORDS, "x.json"), tiny.tokens, Settings(max_length=32)))


@pytest.fixture(scope="module")
def eager(tiny_folder):
    return AutoModel.from_pretrained(tiny_folder, attn_implementation="eager", dtype="float32").eval()


def maps_of(tiny, eager, example) -> np.ndarray:
    """(layer, head, query, key) from the library alone."""
    with torch.inference_mode():
        inputs = tiny.inputs(collate([example], tiny.tokens, "cpu"))
        return torch.cat(eager(**inputs, output_attentions=True).attentions).numpy()


@pytest.mark.parametrize("batch_tokens", [1, 1000])
def test_token_maps_are_the_librarys_own(tiny, eager, word_examples, tmp_path, batch_tokens):
    progress = Progress()
    extract(tiny, word_examples, tmp_path / "maps.safetensors", progress, batch_tokens)
    extracted = load_file(tmp_path / "maps.safetensors")
    assert set(extracted) == {"0", "1", "2"} and progress.done == 3
    for example in word_examples:
        np.testing.assert_allclose(extracted[str(example.number)], maps_of(tiny, eager, example), atol=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["maps.safetensors"]


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_word_maps_equal_the_oracle(tiny, eager, word_examples, tmp_path, mode):
    of_words = [example for example in word_examples if example.words is not None]
    extract(tiny, of_words, tmp_path / "maps.safetensors", Progress(), 1000, word_level=mode)
    extracted = load_file(tmp_path / "maps.safetensors")
    for example in of_words:
        owners = example.words.tolist()
        maps = maps_of(tiny, eager, example)
        for layer, head in np.ndindex(maps.shape[:2]):
            expected = reference.word_level(maps[layer, head].tolist(), owners, first_piece=mode == "paper")
            np.testing.assert_allclose(extracted[str(example.number)][layer, head], expected, atol=1e-5)
    assert extracted["0"].shape[-2:] == (7, 7)  # five words, [CLS] and [SEP]
    np.testing.assert_allclose(extracted["0"].sum(-1), 1, atol=1e-5)


def test_a_file_that_cannot_be_written_is_reported_and_a_cancel_leaves_none(tiny, word_examples, tmp_path):
    class Impatient(Progress):
        def advance(self, count):
            super().advance(count)
            self.cancelled.set()

    with pytest.raises(Cancelled):
        extract(tiny, word_examples, tmp_path / "maps.safetensors", Impatient(), 1)
    assert not list(tmp_path.iterdir())
    with pytest.raises(SettingsError, match="cannot be written"):
        extract(tiny, word_examples, tmp_path / "nowhere" / "maps.safetensors", Progress())
