"""Probes through norms: what they read, and their scores, equal those from vectors that are all built."""

from copy import deepcopy

import numpy as np
import pytest
import torch

from bertviz_core.analyses.probes.features import Features, WordMaps
from bertviz_core.analyses.probes.measure import reinitialized
from bertviz_core.analyses.probes.probes import AttentionOnly, ProbeBatch, ProbeSettings
from bertviz_core.engine import stream
from bertviz_core.engine.progress import Progress
from bertviz_core.models.annotated import Sentences
from bertviz_core.models.model import observing
from bertviz_core.settings import Settings
from tests.analyses.probes.test_probes import filled
from tests.oracles import norms, reference
from tests.oracles import probes as oracle

ROWS = (("the", 2, "det"), ("gardener", 3, "nsubj"), ("slept", 0, "root")), (("cats", 2, "nsubj"), ("walk", 0, "root"))
TREES = "\n".join(
    "".join(f"{i}\t{word}\t_\tX\t_\t_\t{governor}\t{name}\t_\t_\n" for i, (word, governor, name) in enumerate(row, 1))
    for row in ROWS
)


def maps_by_loops(model, encoded):
    """[head of all layers][word][word] of one sentence, special tokens being words: shares of the lengths of vectors
    that are built one by one, from the library's own maps and layer inputs."""
    eager = type(model.encoder)(deepcopy(model.encoder.config)).eval()
    eager.load_state_dict(model.encoder.state_dict())
    eager.set_attn_implementation("eager")
    with torch.inference_mode():
        whole = eager(torch.from_numpy(encoded.ids)[None], output_attentions=True, output_hidden_states=True)
    maps = []
    for layer, (states, weights) in enumerate(zip(whole.hidden_states, whole.attentions, strict=False)):
        attention = eager.encoder.layer[layer].attention
        value, output = attention.self.value, attention.output.dense
        vectors = norms.passed_on(
            states[0].tolist(), value.weight.tolist(), value.bias.tolist(), output.weight.tolist(), model.heads
        )
        for head in range(model.heads):
            shares = norms.shares(weights[0, head].tolist(), vectors[head])
            maps.append(reference.word_level(shares, encoded.words.tolist()))
    return maps


def fill(features, model, encoded):
    maps = WordMaps(model, False)
    stream.run(model, encoded, [maps], Progress())
    features.take(maps)


@pytest.mark.parametrize("network", ["trained", "random"])
def test_features_and_scores_are_those_of_norms(network, tiny, source):
    seen = observing(tiny, "norms")
    model = reinitialized(seen, 3) if network == "random" else seen
    encoded = list(Sentences(source(TREES, "t.conllu"), model.tokens, Settings(max_length=24)))
    assert any(len(one.words) > len(one.sentence.words) + 2 for one in encoded), "a word in several pieces"
    heads = model.layers * model.heads
    probe = filled(AttentionOnly(ProbeSettings(heads)))
    w, u = probe.weights.tolist()
    features = Features(encoded, [np.zeros(len(one.sentence.words), dtype=np.int64) for one in encoded], heads)
    fill(features, model, encoded)
    for number, one in enumerate(encoded):
        expected = maps_by_loops(model, one)
        place, row = features.row[number]
        group = features.groups[place]
        inner = np.array(expected)[:, 1:-1, 1:-1]  # [CLS] is the first word, [SEP] the last
        np.testing.assert_allclose(group.maps[row].transpose(2, 0, 1), inner, atol=5e-4)  # kept as float16
        array = np.array(expected)
        cls = [(m[1:-1, 0].tolist(), m[0, 1:-1].tolist()) for m in array]
        sep = [(m[1:-1, -1].tolist(), m[-1, 1:-1].tolist()) for m in array]
        scores = oracle.attention_only(inner.tolist(), cls, sep, w, u, probe.root.tolist())
        governors = torch.from_numpy(group.governors[row : row + 1])
        read = [torch.from_numpy(np.array(part[row : row + 1])).float() for part in (group.maps, group.root)]
        batch = ProbeBatch(*read, torch.zeros_like(governors), governors)
        np.testing.assert_allclose(probe(batch)[0].detach().numpy(), np.array(scores), atol=1e-2)
