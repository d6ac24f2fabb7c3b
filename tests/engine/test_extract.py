"""Extracted maps are the model's own, by token and by word; the file is plain safetensors."""

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from transformers import AutoModel

from bertviz_core.engine.progress import Progress
from bertviz_core.engine.stream import extract
from bertviz_core.models.encoding import collate
from bertviz_core.models.segments import Segments
from bertviz_core.settings import Settings
from tests.oracles import reference

WORDS = '[{"words": ["The", "cab", "", "greenhouses", "."]}, {"text": "the dog slept"}, {"words": ["🙂"]}]'


@pytest.fixture
def examples(tiny, source):
    return list(Segments(source(WORDS, "x.json"), tiny.tokens, Settings(max_length=32)))


@pytest.fixture(scope="module")
def eager(tiny_folder):
    return AutoModel.from_pretrained(tiny_folder, attn_implementation="eager", dtype="float32").eval()


def maps_of(tiny, eager, example) -> np.ndarray:
    """(layer, head, query, key) from the library alone."""
    with torch.inference_mode():
        inputs = collate([example], tiny.tokens, "cpu").inputs(tiny)
        return torch.cat(eager(**inputs, output_attentions=True).attentions).numpy()


@pytest.mark.parametrize("batch_tokens", [1, 1000])
def test_token_maps_are_the_librarys_own(tiny, eager, examples, tmp_path, batch_tokens):
    progress = Progress()
    extract(tiny, examples, tmp_path / "maps.safetensors", progress, batch_tokens)
    found = load_file(tmp_path / "maps.safetensors")
    assert set(found) == {"0", "1", "2"} and progress.done == 3
    for example in examples:
        np.testing.assert_allclose(found[str(example.number)], maps_of(tiny, eager, example), atol=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["maps.safetensors"]


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_word_maps_equal_the_oracle(tiny, eager, examples, tmp_path, mode):
    of_words = [example for example in examples if example.words is not None]
    extract(tiny, of_words, tmp_path / "maps.safetensors", Progress(), 1000, word_level=mode)
    found = load_file(tmp_path / "maps.safetensors")
    for example in of_words:
        owners = example.words.tolist()
        maps = maps_of(tiny, eager, example)
        for layer, head in np.ndindex(maps.shape[:2]):
            expected = reference.word_level(maps[layer, head].tolist(), owners, first_piece=mode == "paper")
            np.testing.assert_allclose(found[str(example.number)][layer, head], expected, atol=1e-5)
    assert found["0"].shape[-2:] == (7, 7)  # five words, [CLS] and [SEP]
    np.testing.assert_allclose(found["0"].sum(-1), 1, atol=1e-5)


def test_a_file_that_cannot_be_written_is_said(tiny, examples, tmp_path):
    from bertviz_core.errors import SettingsError

    with pytest.raises(SettingsError, match="cannot be written"):
        extract(tiny, examples, tmp_path / "nowhere" / "maps.safetensors", Progress())


def test_a_cancel_leaves_no_file_that_looks_whole(tiny, examples, tmp_path):
    from bertviz_core.errors import Cancelled

    class Impatient(Progress):
        def advance(self, count):
            super().advance(count)
            self.cancelled.set()

    with pytest.raises(Cancelled):
        extract(tiny, examples, tmp_path / "maps.safetensors", Impatient(), 1)
    assert not list(tmp_path.iterdir())
