"""What each query of a layer sees is what its maps give a weight, in families with windows, chunks and none; and what
uniform attention is compared with is uniform over that."""

import numpy as np
import pytest
import torch

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.entropy.figure import paper_figure as entropy_figure
from bertviz_core.analyses.entropy.statements import narrow_heads
from bertviz_core.analyses.reach.figure import paper_figure as reach_figure
from bertviz_core.analyses.reach.result import SHARES
from bertviz_core.analyses.reach.statements import most_look_near
from bertviz_core.analyses.run.compute import compute
from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import loading
from bertviz_core.models.attention import forward
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.settings import Settings
from tests.oracles import reach as oracle
from tests.oracles import reference
from tests.support import architectures

LOCAL = ("modernbert", "mistral", "gemma2", "gemma3_text", "gpt_oss", "gpt_neo", "cohere2", "olmo3", "llama4_text")
FULL = ("bert", "t5", "llama", "bloom", "xlnet", "deberta-v2")
SENTENCE = "the cat sat on the mat , and the dog slept near the door . the lamps are lit . people walk home and talk ."
TEXT = "\n\n".join(f"{SENTENCE}\n{SENTENCE}" for _ in range(6)) + "\n"
SETTINGS = Settings(max_length=30)
NAMES = ("entropy", "reach")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    def load(family):
        return loading.load(find_checkpoint(str(architectures.save(family, tmp_path_factory.mktemp("model")))))

    return load


def layers_of(model, lengths):
    """The batch of inputs of these lengths, and its layers."""
    ordinary = model.tokens.ordinary
    ids = [ordinary[np.arange(n) * 7 % len(ordinary)] for n in lengths]
    batch = collate([Encoded(i, "", each, np.zeros_like(each)) for i, each in enumerate(ids)], model.tokens, "cpu")
    layers = []
    forward(model, batch, layers.append)
    return batch, layers


@pytest.mark.parametrize("family", LOCAL)
def test_queries_see_the_keys_that_get_a_weight(loaded, family):
    batch, layers = layers_of(loaded(family), (29, 12, 3))
    local = 0
    for layer in layers:
        has_weight = (layer.weights > 0).any(1) & batch.mask[..., None]
        assert torch.equal(layer.visible(batch) & batch.mask[..., None], has_weight)
        if layer.mask is not None:
            local += 1
            assert layer.mask.is_local.tolist() == [True, True, False], "the window of 8 has room for three tokens"
    assert local, "some layer is local"


@pytest.mark.parametrize("family", FULL)
def test_full_attention_has_no_mask(loaded, family):
    assert all(layer.mask is None for layer in layers_of(loaded(family), (29, 12, 3))[1])


@pytest.mark.parametrize("family", ["modernbert", "gemma3_text", "llama4_text"])
def test_baselines_are_uniform_over_what_a_row_sees(loaded, source, family):
    """Every number of entropy and reach equals the oracle's, which is told what each row sees by the maps."""
    model = loaded(family)
    text = source(TEXT)
    entropy, reach = (compute(Request(name, model.checkpoint, text, SETTINGS), None, model=model) for name in NAMES)
    special = {model.tokens.cls: "cls", model.tokens.sep: "sep"}
    segments = []
    for example in Segments(text, model.tokens, SETTINGS):
        layers = []
        forward(model, collate([example], model.tokens, "cpu"), layers.append)
        segments.append((example, [special.get(token, "other") for token in example.ids.tolist()], layers))
    assert len(np.unique(reach["uniform"])) > 1, "layers see differently much"
    for layer, head in ((0, 1), (1, 0), (model.layers - 1, 2)):
        found, inputs = [], []
        for example, kinds, layers in segments:
            rows = layers[layer].weights[0, head].tolist()
            is_seen = (layers[layer].weights[0] > 0).any(0).tolist()

            def sees(i, j, is_seen=is_seen):
                return is_seen[i][j]

            values = oracle.quantities(rows, kinds, model.causal, sees)
            uniform = reference.entropy(rows, kinds, causal=model.causal, sees=sees)["uniform"]
            found.append(values | {"entropy": uniform})
            inputs.append((example.document_number, model.tokens.names(example.ids), kinds, rows))
        for name in ("uniform", "uniform_ordinary", "sink_first", "sink_cls", "sink_sep"):
            if name in reach:
                expected = np.mean([values[name] for values in found])
                assert reach[name][layer, head] == pytest.approx(expected, abs=1e-4), name
        expected = np.mean([values["entropy"] for values in found])
        assert entropy["uniform"][layer, head] == pytest.approx(expected, abs=1e-5)
        sums = oracle.token_sums(inputs, model.causal, sees)
        for share, token in np.ndindex(2, len(reach.tokens)):
            by_unit = sums.get((SHARES[share], reach.tokens[token]))
            if by_unit and sum(n for n, _ in by_unit.values()):
                value, error, effective = oracle.ratio(by_unit)
                assert reach.token_shares[share, token, layer, head] == pytest.approx(value, rel=1e-4)
                assert reach.token_errors[share, token, layer, head] == pytest.approx(error, rel=1e-3, abs=1e-5)
                assert reach.token_units[share, token, layer] == pytest.approx(effective)


@pytest.fixture(scope="module")
def knows_nothing(tmp_path_factory):
    """Entropy and reach of a randomly initialized ModernBERT whose local layers see eight tokens."""
    from transformers import AutoModel, ModernBertConfig

    family = architectures.family_of("modernbert")
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("random")
    AutoModel.from_config(ModernBertConfig(**family.sizes)).save_pretrained(folder)
    family.tokenizer().save_pretrained(folder)
    return loading.load(find_checkpoint(str(folder)))


def test_a_network_that_knows_nothing_is_not_said_to_look_near_or_narrowly(knows_nothing, source):
    checkpoint, text = knows_nothing.checkpoint, source(TEXT)
    requests = (Request(name, checkpoint, text, SETTINGS) for name in NAMES)
    entropy, reach = (compute(request, None, model=knows_nothing) for request in requests)
    low, high = reach["uniform"].min(), reach["uniform"].max()
    assert low < high / 2, "the window is narrow"
    np.testing.assert_allclose(reach["distance"], reach["uniform"], rtol=0.05)
    answer = most_look_near(reach)
    low, high = reach["uniform_ordinary"].min(), reach["uniform_ordinary"].max()
    assert answer.state != "shown" and f"{low:.1f}" in answer.sentence and f"{high:.1f}" in answer.sentence
    assert narrow_heads(entropy, 0.9).endswith("no head.")
    for result, figure in ((entropy, entropy_figure(entropy)), (reach, reach_figure(reach))):
        steps = next(trace for trace in figure.data if trace.line.dash == "dash")
        assert steps.line.shape == "hvh" and np.array_equal(steps.y, result["uniform"][:, 0])
