"""Probes find planted heads, learn nothing from noise, give equal scores for equal seeds, and leave nothing behind."""

import json
import math
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from bertviz_core import exports
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.probes import features as room
from bertviz_core.analyses.probes import measure
from bertviz_core.analyses.probes.features import ProbeInputs, reinitialized, word_vectors
from bertviz_core.analyses.probes.options import PROBES, ProbeOptions
from bertviz_core.analyses.probes.probes import AttentionAndWords, AttentionOnly, DistancesAndWords
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.probes.scoring import (
    GoldWords,
    Outcome,
    at_offset,
    best_offset,
    control_governors,
    guesses,
    split,
)
from bertviz_core.analyses.probes.training import (
    EARLY_STOPPING_EPOCHS,
    EPOCHS,
    PATIENT_STEPS,
    Data,
    Schedule,
    fit_adam,
    fit_lbfgs,
    mean_loss,
)
from bertviz_core.analyses.run import run_pass
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.files import sample
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.corpora.treebank import Sentence
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import Cancelled, InputError, SettingsError
from bertviz_core.settings import Execution, Settings
from tests.oracles import probes as oracle
from tests.oracles.dependency import offset_guesses

HEADS = 4
SHORT = Settings(max_length=64, limit=40)
WORDS = ["the", "a", "cat", "dog", "sat", "on", "old", "mat", "ran", "big"]


def tree(rng: np.random.Generator, number: int) -> Sentence:
    """A random tree of 2 to 9 words with one root, and punctuation at its end."""
    size = int(rng.integers(2, 10))
    order = rng.permutation(size)
    governors = [0] * size
    for place, word in enumerate(order[1:], start=1):
        governors[word] = int(order[rng.integers(place)]) + 1
    relations = ["dep"] * size
    relations[order[0]] = "root"
    if order[0] != size - 1:
        relations[-1] = "punct"
    return Sentence(number, number, tuple(rng.choice(WORDS, size)), tuple(governors), tuple(relations))


def bank(count=60, seed=0) -> list[Sentence]:
    rng = np.random.default_rng(seed)
    return [tree(rng, number) for number in range(count)]


def planted(sentences: list[Sentence], gold: bool) -> ProbeInputs:
    """Noise in every head; with `gold`, head 2 looks from each word at its governor, the root word at CLS."""
    rng = np.random.default_rng(1)
    features = ProbeInputs(sentences, [np.arange(len(s)) % 5 + 1 for s in sentences], HEADS)
    for group in features.groups:
        group.maps[:] = rng.random(group.maps.shape) * 0.2
        group.root[:] = rng.random(group.root.shape) * 0.2
        for place, governors in enumerate(group.governors if gold else []):
            for word, governor in enumerate(governors):
                if governor:
                    group.maps[place, word, governor - 1, 2] += 0.8
                else:
                    group.root[place, 0, word, 2] += 0.8
    return features


def uas(probe, features, sentences, fit):
    """UAS on the last third, trained on the first; and the losses in training and validation."""
    everyone, progress = np.arange(len(sentences)), Progress()
    train, validation, test = (Data(features.groups, part, "cpu") for part in np.split(everyone, [30, 40]))
    held_out = fit(probe, train, validation, progress=progress, name="x")
    gold, losses = GoldWords(sentences, everyone[40:]), progress.losses
    found = guesses(probe, test, Progress())
    return Outcome("x", "UAS", gold.right(found), gold.counted, found).score, losses, held_out


adam = partial(fit_adam, schedule=Schedule(rate=0.05, words=24))


@pytest.mark.parametrize("fit", [fit_lbfgs, adam])
@pytest.mark.parametrize("kind", [AttentionOnly, AttentionAndWords])
def test_a_planted_tree_is_found_whole(kind, fit):
    sentences = bank()
    vectors = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    probe = kind(HEADS, vectors)
    score, losses, held_out = uas(probe, planted(sentences, gold=True), sentences, fit)
    assert score == 1.0 and losses[-1] < 0.5 * losses[0] and min(held_out) < held_out[0]
    if kind is AttentionOnly:
        assert int(probe.weights[1].argmax()) == 2  # from the dependent to its governor


def test_training_ends_where_the_validation_loss_no_longer_falls_and_keeps_its_best():
    sentences = bank()
    probe = DistancesAndWords(HEADS, torch.randn(6, 3, generator=torch.Generator().manual_seed(0)))
    features = planted(sentences, gold=False)
    _, _, held_out = uas(probe, features, sentences, partial(fit_adam, schedule=Schedule(rate=0.01)))
    steps = len(Data(features.groups, np.arange(30), "cpu").parts(Schedule().words))
    patience = max(EARLY_STOPPING_EPOCHS, math.ceil(PATIENT_STEPS / steps))
    best = int(np.argmin(held_out))
    assert 3 * patience <= len(held_out) < EPOCHS and len(held_out) - best > patience
    validation = Data(features.groups, np.arange(30, 40), "cpu")
    assert mean_loss(probe, validation).item() == pytest.approx(min(held_out), rel=1e-6)


def test_intervals_resample_the_documents_of_the_test_part():
    """Two documents, of which one is right in all of its 8 words and one in none of its 4: shares are 0, 8/12 or 1."""
    sentences = [Sentence(0, 1, ("dogs", "ran"), (2, 0), ("nsubj", "root"))] * 6
    gold = GoldWords(sentences, np.arange(6), np.array([4, 4, 4, 4, 9, 9]))
    right = (gold.unit == 0).astype(float)
    outcome = Outcome("x", "UAS", right, np.ones(len(right), dtype=bool), {})
    assert gold.units == 2 and outcome.interval(gold, 0) == [0.0, 1.0]
    alone = outcome.interval(GoldWords(sentences, np.arange(6)), 0)
    assert 0 < alone[0] < 4 / 6 < alone[1] <= 1


def test_noise_teaches_next_to_nothing():
    sentences = bank(120)
    branching = np.mean([g == w + 1 for s in sentences for w, g in enumerate(s.governors, 1)])
    score, *_ = uas(AttentionOnly(HEADS), planted(sentences, gold=False), sentences, fit_lbfgs)
    assert score < branching + 0.15


def test_lbfgs_never_raises_the_loss_and_equal_seeds_are_equal():
    sentences = bank()
    features = planted(sentences, gold=False)
    _, losses, _ = uas(AttentionOnly(HEADS), features, sentences, fit_lbfgs)
    assert np.diff(losses).max() <= 1e-6
    results = []
    for _ in range(2):
        torch.manual_seed(3)
        probe = DistancesAndWords(HEADS, torch.ones(6, 3))
        results.append((uas(probe, features, sentences, adam)[0], probe.output.weight.tolist()))
    assert results[0] == results[1]


def test_parts_share_no_sentence_and_do_not_depend_on_the_order():
    sentences = bank(80)
    parts = split(sentences, 0, 0, True, Skipped())
    word_sets = [{sentences[i].words for i in part} for part in (parts.train, parts.validation, parts.test)]
    assert not word_sets[0] & word_sets[1] and not word_sets[0] & word_sets[2] and not word_sets[1] & word_sets[2]
    assert sum(map(len, (parts.train, parts.validation, parts.test))) == 80
    turned = split(sentences[::-1], 0, 0, True, Skipped())
    assert {sentences[::-1][i].words for i in turned.test} == word_sets[2]
    assert {sentences[i].words for i in split(sentences, 0, 1, True, Skipped()).test} != word_sets[2]
    skipped = Skipped()
    given = split([*sentences, *sentences[:5]], 5, 0, True, skipped)
    tested = {s.words for s in sentences[:5]}
    assert given.test.tolist() == [80, 81, 82, 83, 84] and skipped.to_json()[0]["count"] >= 5
    assert not tested & {sentences[i].words for i in [*given.train, *given.validation]}
    with pytest.raises(InputError):
        split(sentences[:8], 0, 0, True, Skipped())


def test_offsets_and_the_control_task():
    assert at_offset(4, 1).tolist() == [2, 3, 4, 4] and at_offset(4, -2).tolist() == [0, 0, 1, 2]
    for size in range(1, 7):
        assert [at_offset(size, o).tolist() for o in range(-6, 7)] == [offset_guesses(size, o) for o in range(-6, 7)]
    chain = Sentence(0, 0, ("a", "b", "c"), (0, 1, 2), ("root", "x", "x"))
    assert best_offset([chain]) == -1
    first, again = control_governors([WORDS, WORDS[::-1]], 0)
    wanted = dict(zip(WORDS, first.tolist(), strict=True))
    for place, (word, governor) in enumerate(zip(WORDS[::-1], again.tolist(), strict=True), 1):
        assert governor != place and governor in (0, 1, len(WORDS))
        if 1 < place < len(WORDS):
            assert wanted[word] == governor
    assert len(set(first.tolist())) == 3


def test_maps_on_disk_are_the_same_and_go_away(monkeypatch, tmp_path):
    monkeypatch.setattr(room, "IN_MEMORY", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sentences = bank(20)
    features = planted(sentences, gold=True)
    assert isinstance(features.groups[0].maps, np.memmap)
    total = sum(float(group.maps.astype(float).sum()) for group in features.groups)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(room, "IN_MEMORY", 1 << 29)
    features = planted(sentences, gold=True)
    assert sum(float(group.maps.astype(float).sum()) for group in features.groups) == total
    monkeypatch.setattr(room, "IN_MEMORY", 0)
    monkeypatch.setattr(room, "MAX_ON_DISK", 10)
    with pytest.raises(SettingsError):
        planted(sentences, gold=True)
    assert not list(tmp_path.iterdir())


def treebank(count=40, seed=0, name="bank") -> Source:
    rows = [zip(s.words, s.governors, s.relations, strict=True) for s in bank(count, seed)]
    return from_bytes("\n\n".join("\n".join(f"{w} {g}-{r}" for w, g, r in row) for row in rows).encode(), name)


def asked(tiny, mode="corrected", others=None, **plan) -> Request:
    options = ProbeOptions(**{"seeds": 1, "epochs": 1, **plan}).to_json()
    return Request("probes", tiny.checkpoint, treebank(), Settings(max_length=32, mode=mode), options, others or {})


def test_every_row_of_table_3(tiny, store):
    request = asked(tiny, others={"dev": treebank(12, 9, "dev")})
    result = compute(request, store, Execution("cpu"), model=tiny)
    assert tuple(result.probes) == PROBES and result.metrics == ["UAS"] * 7 + ["UUAS"]
    assert (result.low <= result.score).all() and (result.score <= result.high).all()
    gold = [(sentence.governors, sentence.relations) for sentence in bank(12, 9)]
    at_best = partial(offset_guesses, offset=result.about["best_offset"])
    for name, guess in (("right-branching", oracle.right_branching), ("best-offset", at_best)):
        guesses = [guess(len(governors)) for governors, _ in gold]
        row = result.to_frame().set_index("probe").loc[name]
        assert row["score"] == pytest.approx(oracle.uas(gold, guesses, False))
        assert row["with_punctuation"] == pytest.approx(oracle.uas(gold, guesses, True))
    for name in result.probes[:3] + result.probes[5:7]:  # trained once, and every guess is kept
        guesses = [sentence["guesses"][name] for sentence in result.sentences]
        assert result.with_punctuation[result.probes.index(name)] == pytest.approx(oracle.uas(gold, guesses, True))
    assert np.isnan(result.with_punctuation[-1])
    n = result.relation_n.sum(1)
    np.testing.assert_allclose(result.relation_right.sum(1) / n, result.score)
    np.testing.assert_allclose(result.distance_right.sum(1) / n, result.score)
    assert result.attention.shape == (2, tiny.layers, tiny.heads) and result.root.shape == (4, tiny.layers, tiny.heads)
    assert result.parameters[result.probes.index("attention-only")] == 6 * tiny.layers * tiny.heads
    assert result.about["sentences"]["test"] == 12 and len(result.sentences) == 12
    again = Probes.from_bytes(store.get(request.key()))
    assert again.to_frame().equals(result.to_frame())
    table = json.loads(exports.to_json(result))["table"]
    names = {"probe", "metric", "score", "low", "high", "with_punctuation", "parameters", "seconds", "trained"}
    assert names == set(table[0])
    assert result.trained("distances-and-words") == "1 epoch, the maximum" and not result.trained("right-branching")
    assert result.about["units"] == {"test": 12, "unit": "sentences"}


def test_equal_requests_give_equal_scores_and_files_are_in_the_key(tiny):
    names = ("random-attention-only", "attention-and-words", "structural")
    first, second = (compute(asked(tiny, probes=names), None, Execution("cpu"), model=tiny) for _ in range(2))
    assert first.probes == list(names) and first.score.tolist() == second.score.tolist()
    keys = {asked(tiny, others={"dev": treebank(12, seed)}).key() for seed in (1, 2)} | {asked(tiny).key()}
    assert len(keys) == 3


def test_the_papers_way_and_given_vectors(tiny):
    lines = "\n".join(f"{word} {i} {-i}.5" for i, word in enumerate(WORDS[:-1]))
    names = ("distances-and-words", "attention-only", "attention-and-words")
    others = {"vectors": from_bytes(lines.encode(), "v.txt")}
    result = compute(asked(tiny, "paper", others, probes=names), None, Execution("cpu"), model=tiny)
    heads = tiny.layers * tiny.heads
    aligned = [result.probes.index(name) for name in names]
    assert result.parameters[aligned[1:]].tolist() == [2 * heads + 2, 2 * heads * (2 * 2 + 1) + 2]
    assert result.about["sentences"]["validation"] == 0 and 0 < result.about["vectors"]["unknown_words"] < 0.5


WITH_WORDS = ("distances-and-words", "random-attention-and-words", "attention-and-words")


def test_in_mode_paper_every_probe_with_words_has_a_row_as_released_and_an_aligned_one(tiny):
    result = compute(asked(tiny, "paper"), None, Execution("cpu"), model=tiny)
    rows = [row for name in PROBES for row in ([name, f"{name}-as-released"] if name in WITH_WORDS else [name])]
    assert result.probes == rows
    for name in WITH_WORDS:
        aligned, released = ([s["guesses"][row] for s in result.sentences] for row in (name, f"{name}-as-released"))
        assert aligned != released
    assert result.relation_n.shape[0] == len(rows) == len(result.with_punctuation)


def test_only_corrected_mode_scales_word_vectors(tiny, monkeypatch):
    """The release feeds GloVe as it is; other modes learn from vectors of mean square 1."""
    values, read = [[3.0, 4.0], [-1.0, 0.5]], []
    monkeypatch.setattr(measure, "word_vectors", lambda *a, **b: read.append(word_vectors(*a, **b)) or read[-1])
    source = from_bytes("\n".join(f"{w} {a} {b}" for w, (a, b) in zip(WORDS, values, strict=False)).encode(), "v.txt")
    for mode, scale in (("paper", 1.0), ("corrected", math.sqrt((9 + 16 + 1 + 0.25) / 4))):
        request = asked(tiny, mode, {"vectors": source}, probes=("attention-and-words",))
        compute(request, None, Execution("cpu"), model=tiny)
        row, vectors, _ = read[-1]
        assert vectors[row[WORDS[2]]].tolist() == [0, 0]
        for word, value in zip(WORDS, values, strict=False):
            np.testing.assert_allclose(vectors[row[word]], np.array(value) / scale, rtol=1e-6)


def test_random_layers_keep_the_trained_embeddings(tiny):
    fresh, same = reinitialized(tiny, 0), reinitialized(tiny, 0)
    old, new, again = (dict(m.encoder.named_parameters()) for m in (tiny, fresh, same))
    for name, parameter in old.items():
        assert torch.equal(new[name], again[name])
        if name.startswith("embeddings"):
            assert torch.equal(parameter, new[name]), name
    query = "encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(old[query], new[query])
    assert not torch.equal(new[query], dict(reinitialized(tiny, 1).encoder.named_parameters())[query])


def test_a_cancelled_training_leaves_nothing(tiny, store, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "IN_MEMORY", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    Path(tmp_path / "t").mkdir()

    class Stopped(Progress):
        def advance(self, count):
            if self.stage == "Training attention-only" and self.done > 2:
                self.cancelled.set()
            super().advance(count)

    with pytest.raises(Cancelled):
        compute(asked(tiny), store, Execution("cpu"), Stopped(), model=tiny)
    assert all(entry.kind == "work" for entry in store.entries()) and not list((tmp_path / "t").iterdir())


def test_a_test_file_whose_sentences_are_all_too_long_is_refused(tiny) -> None:
    long = from_bytes(b"he 0-root\n" + b"sat 1-dep\n" * 40, "long")
    with pytest.raises(InputError, match="long: No sentence of the test file"):
        compute(asked(tiny, others={"dev": long}, probes=PROBES[:1]), None, Execution("cpu"), model=tiny)


def test_a_result_has_the_first_sentences_of_the_test_part(tiny, monkeypatch) -> None:
    monkeypatch.setattr(measure, "MAX_SENTENCES", 2)
    request = Request("probes", tiny.checkpoint, sample("treebank"), SHORT, {"probes": ["best-offset"]})
    result = compute(request, None, model=tiny)
    assert len(result.sentences) == 2 < result.about["sentences"]["test"]


def test_maps_computed_in_parts_give_the_same_bytes(tiny, monkeypatch):
    request = request_in_parts(tiny, others={"dev": from_bytes(DEV.encode(), "dev")})
    whole = untimed(compute(request, None, model=tiny))
    monkeypatch.setattr(run_pass, "PART_TOKENS", 150)
    assert untimed(compute(request, None, model=tiny)) == whole


DEV = "\n".join(f"the 2-det\n{word} 3-nsubj\nslept 0-root\n" for word in ("cat", "dog", "mat", "lamp", "river"))


def request_in_parts(model, **more) -> Request:
    options = ProbeOptions(probes=("attention-only", "random-attention-only"), seeds=2, epochs=1).to_json()
    return Request("probes", model.checkpoint, sample("treebank"), SHORT, options, **more)


def untimed(result) -> bytes:
    """The bytes of the result of a probe without what a clock says."""
    return replace(result, seconds=0 * result.seconds).to_bytes()
