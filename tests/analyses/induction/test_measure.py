"""Attention within repeated sequences of random tokens."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, pre_tokenizers, processors
from tokenizers import models as tokenizer_models
from transformers import AutoModel, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from bertviz_core.analyses.induction.figure import paper_figure
from bertviz_core.analyses.induction.result import CONTROL, KINDS, Induction
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute
from bertviz_core.corpora.files import sample
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.models import checkpoint
from bertviz_core.models.loading import load_tokens
from bertviz_core.models.random_sequences import RandomSequences
from bertviz_core.settings import Execution, Settings
from tests import families
from tests.oracles import induction as oracle
from tests.predicting import DECODERS

SETTINGS = Settings(max_length=30, limit=12, seed=3)
WORDS, WAVES = 60, 32


def computed(folder: Path, settings: Settings = SETTINGS) -> Induction:
    request = Request("induction", checkpoint.find(str(folder)), sample("random"), settings)
    return compute(request, None, Execution("cpu"))


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_equals_loops_over_the_maps_of_each_input(family: str, tmp_path: Path) -> None:
    folder = families.save((families.FAMILIES | DECODERS)[family], tmp_path)
    result = computed(folder)
    eager = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokens = load_tokens(checkpoint.find(str(folder)))
    found: dict[bool, list[np.ndarray]] = {True: [], False: []}
    before, after = map(len, tokens.single)
    n = (30 - before - after) // 2
    for example in RandomSequences(sample("random"), tokens, SETTINGS):
        ids = example.ids.tolist()
        inside = ids[before : before + 2 * n]
        repeated = inside[:n] == inside[n:]
        assert len(set(inside)) == (n if repeated else 2 * n)
        found[repeated].append(oracle.of_input(eager, ids, before, n))
    assert result.length == n and result.sequences == len(found[True]) == len(found[False]) == 6
    for repeated, form in ((True, "{}"), (False, CONTROL)):
        for name, values in zip(KINDS, np.mean(found[repeated], axis=0), strict=True):
            np.testing.assert_allclose(result[form.format(name)], values, atol=1e-6)


def test_a_planted_induction_head_shows_1_and_nothing_else_does(tmp_path: Path) -> None:
    result = computed(planted(tmp_path), Settings(max_length=41, limit=20))
    assert result.length == 20
    assert result["prefix"][1, 0] == pytest.approx(1, abs=1e-4)
    assert result["previous"][0, 0] == pytest.approx(1, abs=1e-4)
    others = result["prefix"].copy()
    others[1, 0] = 0
    assert others.max() < 0.1 and result["duplicate"].max() < 0.1 and result["prefix_control"].max() < 0.1
    states = {finding.id: (finding.state, finding.head) for finding in ANALYSES["induction"].findings(result)}
    assert states["induction.prefix"] == ("shown", Head(1, 0))
    assert states["induction.previous"] == ("shown", Head(0, 0))
    assert states["induction.duplicate"][0] != "shown"
    assert paper_figure(result).data


def test_inputs_too_short_for_a_repetition_are_refused(tmp_path: Path) -> None:
    tokens = load_tokens(checkpoint.find(str(families.save(families.FAMILIES["bert"], tmp_path))))
    with pytest.raises(SettingsError, match="too short"):
        RandomSequences(sample("random"), tokens, Settings(max_length=7))


def planted(folder: Path) -> Path:
    """A decoder whose head 1-1 attends to the previous token and writes which it is, and whose head 2-1 attends to the
    tokens before which its own token stands: an induction head. The others look at everything alike."""
    vocabulary = {"<s>": 0} | {f"w{number}": number + 1 for number in range(WORDS)}
    inner = Tokenizer(tokenizer_models.WordLevel(vocabulary, unk_token="<s>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B:1", special_tokens=[("<s>", 0)]
    )
    PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>", unk_token="<s>").save_pretrained(folder)
    size = len(vocabulary)
    width = 2 * (size + WAVES)  # of the stream: two heads, each with room for a token or a position
    config = GPT2Config(vocab_size=size, n_embd=width, n_layer=2, n_head=2, n_positions=64)
    model = GPT2LMHeadModel(config)
    token, previous, waves = slice(0, size), slice(size, 2 * size), slice(2 * size, 2 * size + WAVES)
    frequencies = np.random.default_rng(0).uniform(0.1, np.pi, WAVES // 2)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if ".ln_" in name and name.endswith("weight") else 0.0)
        inside = model.transformer
        inside.wte.weight[:, token] = 4 * torch.eye(size)
        inside.wpe.weight[:, waves] = torch.from_numpy(_waves(frequencies, 0, 64)).float()
        first, second = (inside.h[layer].attn for layer in (0, 1))
        turn = torch.from_numpy(_turn(frequencies)).float()
        first.c_attn.weight[waves, :WAVES] = 30 * turn  # queries of the first head: the position before
        first.c_attn.weight[waves, width : width + WAVES] = 30 * torch.eye(WAVES)
        first.c_attn.weight[token, 2 * width : 2 * width + size] = torch.eye(size)
        first.c_proj.weight[:size, previous] = torch.eye(size)
        second.c_attn.weight[token, :size] = 30 * torch.eye(size)
        second.c_attn.weight[previous, width : width + size] = 30 * torch.eye(size)
    model.save_pretrained(folder)
    return folder


def _waves(frequencies: np.ndarray, shift: int, count: int) -> np.ndarray:
    angles = (np.arange(count)[:, None] + shift) * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def _turn(frequencies: np.ndarray) -> np.ndarray:
    """The matrix that turns the waves of a position into those of the one before it."""
    sines, cosines = np.diag(np.sin(frequencies)), np.diag(np.cos(frequencies))
    return np.block([[cosines, sines], [-sines, cosines]])
