"""Networks drawn at random, which know nothing, show no finding but one that denies something."""

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

import bertviz_core as bv
from bertviz_core.analyses.base.findings import NOT_SHOWN, SHOWN
from bertviz_core.analyses.base.registry import ANALYSES
from tests.support.families import small_tokenizer

DENIALS = {"surface_patterns.current"}  # that most heads put little attention on the token itself
OF_MAPS = ("surface_patterns", "entropy", "reach", "clustering", "induction")
OF_LOSS = ("ablation", "sep_gradients")
ALONE = ("weights",)  # which have no input
SHAPE = (2, 4, 64)  # layers, heads, width
INPUTS = 10
INITIALIZERS = (0.02, 0.05, 0.1, 0.15, 0.3)
TEXTS = [  # each a document
    "The old dog slept by the door.",
    "A red ship left the quiet harbor.",
    "Her brother wrote a long letter.",
    "Rain fell on the empty market.",
    "They sang while the bread was baking.",
    "No one saw the fox in the snow.",
]


@pytest.fixture(scope="module")
def tokenizer():
    return small_tokenizer()


def drawn(tokenizer, seed: int, initializer: float, causal: bool, shape: tuple[int, int, int] = SHAPE):
    """An encoder or a decoder with weights drawn at random; shape: layers, heads, width."""
    torch.manual_seed(seed)
    layers, heads, width = shape
    if causal:
        ends = {"bos_token_id": tokenizer.cls_token_id, "eos_token_id": tokenizer.sep_token_id}
        sizes = {"n_layer": layers, "n_head": heads, "n_embd": width, "n_positions": 128}
        return GPT2LMHeadModel(
            GPT2Config(vocab_size=len(tokenizer), initializer_range=initializer, **sizes, **ends)
        ).eval()
    config = BertConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=layers,
        num_attention_heads=heads,
        hidden_size=width,
        intermediate_size=2 * width,
        initializer_range=initializer,
    )
    return BertForMaskedLM(config).eval()


@pytest.mark.parametrize(("seed", "initializer", "causal"), [(0, 0.02, False), (7, 0.15, False), (2, 0.1, True)])
def test_a_network_that_knows_nothing_shows_no_more_than_denials(tokenizer, seed, initializer, causal):
    model = drawn(tokenizer, seed, initializer, causal)
    names = (*OF_MAPS, *OF_LOSS, *ALONE)
    few = {"limit": INPUTS, "max_length": 64, "store": False}
    results = {name: bv.analyze(name, model=(model, tokenizer), **few).result for name in names}
    found = [each for name, result in results.items() for each in ANALYSES[name].findings(result)]
    assert {each.id for each in found if each.state == SHOWN} <= DENIALS
    assert "ablation.no_op" in {each.id for each in found}, "it is asked"


def test_no_head_of_decoders_that_know_nothing_adds_to_the_next_token(tokenizer):
    states = []
    for seed in range(5):
        model = drawn(tokenizer, seed, INITIALIZERS[seed], causal=True)
        result = bv.analyze("next_token", model=(model, tokenizer), limit=INPUTS, store=False).result
        states += [each.state for each in ANALYSES["next_token"].findings(result)]
    assert len(states) == 5 and SHOWN not in states


@pytest.mark.slow
def test_of_ten_networks_that_know_nothing_at_most_one_has_a_finding_on_its_loss(tokenizer):
    claims, decided = [], 0
    for seed in range(10):
        model = drawn(tokenizer, seed, INITIALIZERS[seed % 5], causal=bool(seed % 2), shape=(2, 2, 16))
        for name in OF_LOSS:
            result = bv.analyze(name, corpus=TEXTS, model=(model, tokenizer), store=False).result
            found = ANALYSES[name].findings(result)
            claims += [(seed, each.sentence) for each in found if each.state == SHOWN]
            decided += any(each.state == NOT_SHOWN for each in found)
            assert not any("too few" in each.sentence for each in found)
    assert len({seed for seed, _ in claims}) <= 1, claims
    assert decided >= 3, "the documents are enough to decide something"
