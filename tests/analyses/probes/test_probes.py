"""Scores of every probe, losses and trees equal the literal loops, through norms too; the misaligned ROOT by hand."""

import math
import tempfile
from copy import deepcopy

import numpy as np
import pytest
import torch

from bertviz_core.analyses.probes import features as room
from bertviz_core.analyses.probes import structural
from bertviz_core.analyses.probes.features import ProbeInputs, WordMaps, reinitialized
from bertviz_core.analyses.probes.probes import (
    AttentionAndWords,
    AttentionOnly,
    DistancesAndWords,
    Probe,
    ProbeBatch,
    distances,
)
from bertviz_core.analyses.probes.training import Schedule, loss_of
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine import forward_pass
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.annotated_words import Sentences
from bertviz_core.inputs.encoding import collate
from bertviz_core.models.model import with_weights
from bertviz_core.settings import Settings
from tests.oracles import norms, reference
from tests.oracles import probes as oracle

HEADS, SIZE, DIMENSION = 3, 4, 5


def random_batch(seed=0, size=SIZE) -> tuple[ProbeBatch, torch.Tensor]:
    """One random sentence and word vectors for it, row 0 for unknown words."""
    draw = torch.Generator().manual_seed(seed)
    maps, root = (torch.rand(1, rows, size, HEADS, generator=draw) for rows in (size, 4))
    vectors = torch.randn(size + 1, DIMENSION, generator=draw)
    vectors[0] = 0
    governors = torch.tensor([[2, 0, 2, 3][:size]])
    return ProbeBatch(maps, root, torch.arange(1, size + 1)[None], governors), vectors


def filled(probe: Probe, seed=1) -> Probe:
    draw = torch.Generator().manual_seed(seed)
    for parameter in probe.parameters():
        parameter.data = torch.randn(parameter.shape, generator=draw)
    return probe


def literal(batch: ProbeBatch):
    """maps[k][x][y], and (to, from) rows of CLS and SEP for each head."""
    maps = batch.maps[0].permute(2, 0, 1).tolist()
    root = batch.root[0].permute(2, 0, 1).tolist()  # (head, 4, word)
    return maps, [(rows[0], rows[1]) for rows in root], [(rows[2], rows[3]) for rows in root]


def same(probe: Probe, batch: ProbeBatch, expected):
    np.testing.assert_allclose(probe(batch)[0].detach().numpy(), np.array(expected), rtol=2e-4, atol=2e-4)


def test_worked_example():
    """Attention-only on "dogs bark", where "bark" governs "dogs" and ROOT "bark", with one head, w = 1 and u = 2.

    From dogs the head gives dogs 0.2 and bark 0.8, from bark 0.6 and 0.4. The score of i as the governor of j is
    w A[i,j] + u A[j,i]: of bark for dogs 1 * 0.6 + 2 * 0.8 = 2.2, of dogs for bark 1 * 0.8 + 2 * 0.6 = 2.0. No word
    governs itself. ROOT's score is here the attention to [CLS], 0.1 from dogs and 0.5 from bark.

    So dogs is given to bark (2.2 > 0.1), which is right, with probability e^2.2 / (e^0.1 + e^2.2) = 0.891; bark to dogs
    (2.0 > 0.5) in place of ROOT, whose probability is e^0.5 / (e^0.5 + e^2) = 0.182. The UAS is 1 / 2, and the loss
    -log 0.891 - log 0.182 = 1.817 nats.
    """
    probe = AttentionOnly(1)
    probe.weights.data = torch.tensor([[1.0], [2.0]])
    probe.root.data = torch.tensor([[1.0], [0.0], [0.0], [0.0]])
    maps = torch.tensor([[0.2, 0.8], [0.6, 0.4]])[None, :, :, None]
    root = torch.tensor([[0.1, 0.5], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])[None, :, :, None]
    batch = ProbeBatch(maps, root, torch.tensor([[1, 2]]), torch.tensor([[2, 0]]))
    dogs, bark = probe(batch)[0].tolist()  # each (ROOT, dogs, bark)
    assert dogs == pytest.approx([0.1, -math.inf, 2.2]) and bark == pytest.approx([0.5, 2.0, -math.inf])
    assert probe(batch)[0].argmax(-1).tolist() == [2, 1]  # gold: bark, ROOT
    assert loss_of(probe, batch).item() == pytest.approx(1.817, abs=1e-3)


@pytest.mark.parametrize("paper", [False, True])
def test_attention_only(paper):
    batch, _ = random_batch()
    probe = filled(AttentionOnly(HEADS, paper=paper))
    score, more = (oracle.paper_attention_only, probe.scales) if paper else (oracle.attention_only, probe.root)
    same(probe, batch, score(*literal(batch), *probe.weights.tolist(), more.tolist()))
    assert sum(map(torch.numel, probe.parameters())) == (2 * HEADS + 2 if paper else 6 * HEADS)


@pytest.mark.parametrize("misaligned", [False, True])
def test_attention_and_words_factorised_equals_every_pair_in_full(misaligned):
    batch, vectors = random_batch()
    probe = filled(AttentionAndWords(HEADS, vectors, paper=True, misaligned_root=misaligned))
    governor, dependent = (layer.weight.view(2, HEADS, DIMENSION) for layer in (probe.governor, probe.dependent))
    big = torch.cat([governor, dependent], -1).tolist()  # (w or u, head, v_i then v_j)
    bias = probe.governor.bias.view(2, HEADS).tolist()
    expected = oracle.attention_and_words(
        *literal(batch), vectors[1:].tolist(), *big, *bias, probe.scales.tolist(), misaligned
    )
    same(probe, batch, expected)


def test_attention_and_words_with_a_root_of_its_own():
    batch, vectors = random_batch()
    probe = filled(AttentionAndWords(HEADS, vectors))
    paper = filled(AttentionAndWords(HEADS, vectors, paper=True))
    for ours, theirs in ((probe.governor, paper.governor), (probe.dependent, paper.dependent)):
        theirs.load_state_dict(ours.state_dict())
    own = torch.eye(SIZE, dtype=torch.bool)
    torch.testing.assert_close(probe(batch)[0, :, 1:][~own], paper(batch)[0, :, 1:][~own])
    assert bool(probe(batch)[0, :, 1:][own].isinf().all())
    for j in range(SIZE):
        weights = (probe.root.weight @ vectors[j + 1] + probe.root.bias).view(4, HEADS)
        assert float(probe(batch)[0, j, 0].detach()) == pytest.approx(
            float((weights * batch.root[0, :, j]).sum().detach()), rel=1e-4
        )


@pytest.mark.parametrize(("paper", "misaligned"), [(False, False), (False, True), (True, False), (True, True)])
def test_distances_and_words(paper, misaligned):
    batch, vectors = random_batch()
    np.testing.assert_allclose(distances(SIZE).numpy(), np.array(oracle.distance_features(SIZE)), atol=1e-7)
    probe = DistancesAndWords(HEADS, vectors, paper=paper, misaligned_root=misaligned)
    layers = (layer.weight.tolist() for layer in (probe.governor, probe.dependent, probe.distance))
    output = probe.governor.bias.tolist(), probe.output.weight[0].tolist()
    same(probe, batch, oracle.distances_and_words(vectors[1:].tolist(), *layers, *output, misaligned, paper))


def test_the_loss_and_its_gradient():
    batch, vectors = random_batch()
    probe = filled(AttentionAndWords(HEADS, vectors, paper=True)).double()
    batch = ProbeBatch(batch.maps.double(), batch.root.double(), batch.words, batch.governors)
    scores = probe(batch)[0].tolist()
    assert loss_of(probe, batch).item() == pytest.approx(oracle.cross_entropy(scores, batch.governors[0].tolist()))
    loss_of(probe, batch).backward()
    for parameter in probe.parameters():
        at = (0,) * parameter.dim()
        values = []
        with torch.no_grad():
            for step in (1e-6, -2e-6):
                parameter[at] += step
                values.append(float(loss_of(probe, batch)))
            parameter[at] += 1e-6
        assert (values[0] - values[1]) / 2e-6 == pytest.approx(float(parameter.grad[at]), rel=1e-4, abs=1e-7)


def test_the_structural_probe():
    governors = [2, 0, 2, 3]
    rng = np.random.default_rng(0)
    states = rng.normal(size=(2, SIZE, DIMENSION)).astype(np.float32)
    probe = structural.StructuralProbe(2, DIMENSION, 3, seed=0)
    gold = structural.tree_distances(governors)
    words = range(1, SIZE + 1)
    assert gold.tolist() == [[oracle.tree_distance(governors, a, b) for b in words] for a in words]
    predicted = probe(torch.from_numpy(states)[:, None])
    losses = structural.loss_of(predicted, torch.from_numpy(gold)[None])
    for layer in range(2):
        expected = oracle.structural_loss(states[layer].tolist(), probe.maps[layer].tolist(), governors)
        assert float(losses[layer]) == pytest.approx(expected, rel=1e-4)
    found = structural.spanning_trees(probe, [states], np.array([0]), [np.ones(SIZE, dtype=bool)])[0]
    apart = predicted[:, 0].detach().numpy()
    assert [set(layer) for layer in found] == [oracle.spanning_tree_edges(layer) for layer in apart]
    counted = np.array([True, False, True, True])  # the second word is punctuation: a tree over the others
    assert all(
        1 not in edge
        for layer in structural.spanning_trees(probe, [states], np.array([0]), [counted])[0]
        for edge in layer
    )


def test_distances_under_the_map_never_fall_below_zero():
    probe = structural.StructuralProbe(1, DIMENSION, 3, seed=0)
    same_word = torch.full((1, 1, 2, DIMENSION), 100.0)
    assert float(probe(same_word).min()) >= 0 and math.isfinite(float(probe(same_word).sum()))


def planted_trees() -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Governors and states (2, 7, 10) of 80 sentences; the second layer: each word is the sum of a direction of its own
    and of all words above it, so that distances are those of the tree."""
    rng = np.random.default_rng(0)
    trees, states = [], []
    for _ in range(80):
        governors = [0, *(int(rng.integers(1, place + 1)) for place in range(1, 7))]
        path = np.eye(7)
        for word, governor in enumerate(governors[1:], start=1):
            path[word] += path[governor - 1]
        planted = np.concatenate([path, rng.normal(size=(7, 3))], -1)  # and three dimensions of noise
        trees.append(np.array(governors))
        states.append(np.stack([rng.normal(size=planted.shape), planted]).astype(np.float16))
    return trees, states


def test_every_layer_of_the_structural_probe_keeps_its_best_epoch():
    trees, planted = planted_trees()
    states = [np.concatenate([both, both[:1]]) for both in planted]  # noise, the trees, the same noise
    apart = [structural.tree_distances(governors) for governors in trees]
    few, held_out = np.arange(3), np.arange(60, 80)  # so few that noise is learned by heart
    probe = structural.StructuralProbe(3, 10, 10, seed=0)
    losses = structural.fit(probe, states, apart, few, held_out, Schedule(60, 0.05, patience=100), Progress())
    maps = probe.maps.detach().double().numpy().tolist()
    kept = [
        np.mean([oracle.structural_loss(states[i][layer].tolist(), maps[layer], trees[i].tolist()) for i in held_out])
        for layer in range(3)
    ]
    assert len(losses) == 60
    assert np.mean(kept) <= min(losses) + 1e-4 < losses[-1]
    assert kept[1] < kept[0]
    stopped = structural.StructuralProbe(1, 10, 10, seed=0)
    noise = [both[:1] for both in planted]
    short = structural.fit(stopped, noise, apart, few, held_out, Schedule(1000, 0.05, patience=2), Progress())
    assert len(short) < 1000


def test_the_structural_probe_learns_planted_trees():
    trees, states = planted_trees()
    probe = structural.StructuralProbe(2, 10, 10, seed=0)
    apart = [structural.tree_distances(governors) for governors in trees]
    progress = Progress()
    structural.fit(probe, states, apart, np.arange(60), np.arange(0), Schedule(60, 0.02), progress)
    assert progress.losses[-1] < 0.5 * progress.losses[0]
    test = np.arange(60, 80)
    found = structural.spanning_trees(probe, states, test, [np.ones(7, dtype=bool)] * 80)
    gold = [{(int(g) - 1, w) for w, g in enumerate(trees[i]) if g} for i in test]
    right = [
        np.mean([len(tree & set(found[i][layer])) / 6 for i, tree in zip(test, gold, strict=True)]) for layer in (0, 1)
    ]
    assert right[1] == 1.0 and right[0] < 0.6


@pytest.mark.parametrize("in_memory", [0, 1 << 29])
def test_states_of_words_are_means_over_their_pieces_whatever_the_batch(tiny, in_memory, monkeypatch, tmp_path):
    text = "the 2-det\ncat 3-nsubj\nsat 0-root\n\nunbelievableness 0-root\ndog 1-x\n"
    encoded = list(Sentences(from_bytes(text.encode(), "x"), tiny.tokens, Settings(max_length=32)))
    monkeypatch.setattr(room, "IN_MEMORY", in_memory)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    together = structural.word_states(tiny, encoded, Progress(), 10_000)
    assert isinstance(together[0].base, np.memmap) == (not in_memory)
    assert not list(tmp_path.iterdir())
    for example, states in zip(encoded, together, strict=True):
        batch = collate([example], tiny.tokens, "cpu")
        layers = tiny.encoder(**tiny.inputs(batch), output_hidden_states=True).hidden_states
        for layer, hidden in enumerate(layers):
            for word in range(len(example.sentence)):
                pieces = [t for t, owner in enumerate(example.words.tolist()) if owner == word]
                expected = sum(hidden[0, t].double().numpy() for t in pieces) / len(pieces)
                np.testing.assert_allclose(states[layer, word], expected, atol=5e-3)


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
    forward_pass.run(model, encoded, [maps], Progress())
    features.take(maps)


@pytest.mark.parametrize("network", ["trained", "random"])
def test_features_and_scores_are_those_of_norms(network, tiny, source):
    seen = with_weights(tiny, "norms")
    model = reinitialized(seen, 3) if network == "random" else seen
    encoded = list(Sentences(source(TREES, "t.conllu"), model.tokens, Settings(max_length=24)))
    assert any(len(example.words) > len(example.sentence.words) + 2 for example in encoded), "a word in several pieces"
    heads = model.layers * model.heads
    probe = filled(AttentionOnly(heads))
    w, u = probe.weights.tolist()
    sentences = [example.sentence for example in encoded]
    features = ProbeInputs(sentences, [np.zeros(len(sentence), dtype=np.int64) for sentence in sentences], heads)
    fill(features, model, encoded)
    for number, example in enumerate(encoded):
        expected = maps_by_loops(model, example)
        group, row = features.places[number]
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
