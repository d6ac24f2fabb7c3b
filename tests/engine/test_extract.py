"""Extraction: every entry equals the model's own maps, word level equals the definition, nothing half written stays."""

from __future__ import annotations

import json

import numpy as np
import pytest
import safetensors.numpy
import torch

from bertviz_core.engine.extract import extract
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import Cancelled
from bertviz_core.models.segments import Segments
from bertviz_core.settings import Settings
from tests import reference

RECORDS = [
    {"words": ["the", "unbelievable", "cat", "sat"]},
    {"words": ["it", "slept"]},
    {"text": "A longer text of some more words, so that padding is needed."},
]


@pytest.fixture
def segments(tiny, source):
    return Segments(source(json.dumps(RECORDS), "a.json"), tiny.tokens, Settings(max_length=32))


def own_maps(model, example):
    with torch.inference_mode():
        model.encoder.set_attn_implementation("eager")
        out = model.encoder(
            input_ids=torch.tensor(example.ids)[None],
            token_type_ids=torch.tensor(example.types)[None],
            output_attentions=True,
        )
        model.encoder.set_attn_implementation("bertviz_observed")
    return np.stack([layer[0].numpy() for layer in out.attentions])


@pytest.mark.parametrize("batch_tokens", [1, 40, 4096])
def test_entries_are_the_models_own_maps(tiny, segments, tmp_path, batch_tokens):
    extract(tiny, segments, tmp_path / "maps.safetensors", Progress(), batch_tokens)
    maps = safetensors.numpy.load_file(tmp_path / "maps.safetensors")
    assert set(maps) == {"0", "1", "2"}
    for example in segments:
        np.testing.assert_allclose(maps[str(example.number)], own_maps(tiny, example), atol=1e-6)


@pytest.mark.parametrize("level", ["corrected", "paper"])
def test_word_level_equals_the_definition(tiny, source, tmp_path, level):
    segments = Segments(source(json.dumps(RECORDS[:2]), "a.json"), tiny.tokens, Settings(max_length=32))
    extract(tiny, segments, tmp_path / "m.safetensors", Progress(), word_level=level)
    maps = safetensors.numpy.load_file(tmp_path / "m.safetensors")
    for example in segments:
        words = example.words.max() + 1
        owners = [0, *(example.words[1:-1] + 1).tolist(), int(words) + 1]  # the special tokens are words of their own
        rows = own_maps(tiny, example)
        for layer in range(rows.shape[0]):
            for head in range(rows.shape[1]):
                expected = reference.word_level(rows[layer, head].tolist(), owners, first_piece=level == "paper")
                np.testing.assert_allclose(maps[str(example.number)][layer, head], expected, atol=1e-6)


def test_a_cancelled_extraction_leaves_no_file_under_its_name(tiny, segments, tmp_path):
    progress = Progress()
    progress.cancelled.set()
    with pytest.raises(Cancelled):
        extract(tiny, segments, tmp_path / "maps.safetensors", progress)
    assert not (tmp_path / "maps.safetensors").exists()
