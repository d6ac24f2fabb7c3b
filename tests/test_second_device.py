"""Everything that computes, on a second device, simulated where BERTVIZ_TEST_DEVICE names no real one: the numbers of
the CPU, no operation that mixes devices, and as good as no waiting."""

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from transformers import AutoModelForMaskedLM, AutoTokenizer

from bertviz_core.analyses.base.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.clustering import measure as clustering
from bertviz_core.analyses.probes import training
from bertviz_core.analyses.probes.features import Group
from bertviz_core.analyses.probes.probes import AttentionOnly
from bertviz_core.analyses.run import compute, run_pass
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine import forward_pass
from bertviz_core.engine.forward_pass import extract
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.inputs import encoded_corpus
from bertviz_core.inputs.segments import Segments
from bertviz_core.inputs.tensors import device_of_sums
from bertviz_core.models import devices, loading, single_input
from bertviz_core.models.checkpoint import describe, find_checkpoint
from bertviz_core.models.model import with_weights
from bertviz_core.settings import Execution, Settings
from bertviz_core.viewer import query_key
from tests.support import predicting, second_device
from tests.support.families import FAMILIES, save
from tests.support.second_device import NAME, SIMULATED
from tests.support.shipped import OF_DECODERS

LIMITS = {"ablation": 2, "minimal_pairs": 2, "probes": 12}
QUICK = ("surface_patterns", "entropy", "clustering")  # the others take seconds each, as everything here runs in Python
# What waits in a way of its own, and reads the same inputs.
ALONE = ("clustering", "probes", "ablation", "minimal_pairs", "weights")
BATCH = 200  # tokens: some batches a chunk
# Documents of short lines, the last one closed: mode paper drops what does not fit.
LINES = ["the cat sat on the mat .", "the dog slept near the door", "a river runs", "lamps are lit ;", "people walk ."]
TEXT = "\n\n".join("\n".join(LINES[i % 5 :] + LINES[: 1 + i % 3]) for i in range(9)) + "\n\n"
OF_BOTH = [name for name in BUILT_IN if name not in OF_DECODERS]
MARKED = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in OF_BOTH]
EQUAL = {"rtol": 1e-6, "atol": 1e-6} if SIMULATED else {"rtol": 1e-4, "atol": 1e-4}
BFLOAT16 = EQUAL if SIMULATED else {"rtol": 0.05, "atol": 0.05}  # 8 bits of each number, rounded in another order
simulated = pytest.mark.skipif(not SIMULATED, reason="a real device counts no waits, and has what it has")


@pytest.fixture(autouse=True)
def known_device(monkeypatch):
    monkeypatch.setattr(devices, "DEVICES", (*devices.DEVICES, NAME))
    monkeypatch.setattr(training, "ITERATIONS", 3)  # of hundreds, which are alike
    # The kernel for a CPU rounds otherwise than torch, by 1e-7 nats a token, which mode paper sums over all tokens.
    monkeypatch.setattr(clustering, "build_kernel", lambda: None)
    device_of_sums.cache_clear()
    yield
    device_of_sums.cache_clear()


@pytest.fixture(scope="module")
def llama_folder(tmp_path_factory):
    return predicting.save("llama", tmp_path_factory.mktemp("llama"))


def variants(analysis):
    """Modes and weights to try it with."""
    others = [("paper", "attention"), *([("corrected", "norms")] if ANALYSES[analysis].reads_maps else [])]
    return [("corrected", "attention"), *(others if analysis not in ALONE else [])]


def request_of(analysis, folder, **settings):
    definition = ANALYSES[analysis]
    is_text = definition.corpus == "text"
    corpus = from_bytes(TEXT.encode(), "text.txt") if is_text else sample(next(iter(SAMPLES[definition.corpus])))
    chosen = definition.relevant(Settings(limit=LIMITS.get(analysis, 6), max_length=40, **settings))
    return Request(
        analysis, find_checkpoint(str(folder)), corpus, chosen, {"epochs": 1} if analysis == "probes" else {}
    )


def loaded(request, device):
    model = loading.load(
        request.checkpoint, device, request.settings.dtype, language_model=ANALYSES[request.analysis].language_model
    )
    return with_weights(model, request.settings.weights)


def computed(request, device, batch_tokens=BATCH):
    model = loaded(request, device)
    second_device.waits.clear()
    return compute.compute(request, None, Execution(device, batch_tokens), model=model)


def assert_equal(ours, theirs, **tolerance):
    for name, values in theirs.arrays().items():
        if np.asarray(values).dtype.kind in "fiu" and name != "seconds":
            np.testing.assert_allclose(ours.arrays()[name], values, err_msg=name, **(tolerance or EQUAL))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("analysis", "mode", "weights"),
    [(name, *variant) for name in OF_BOTH for variant in variants(name)],
)
def test_every_analysis_gives_the_cpus_numbers(masked_folder, analysis, mode, weights):
    request = request_of(analysis, masked_folder, mode=mode, weights=weights)
    with second_device.active():
        there = computed(request, NAME)
    assert_equal(there, computed(request, "cpu"))


@pytest.mark.slow
@pytest.mark.parametrize("analysis", BUILT_IN)
def test_decoders_too(llama_folder, analysis):
    request = request_of(analysis, llama_folder)
    with second_device.active():
        there = computed(request, NAME)
    assert_equal(there, computed(request, "cpu"))


@simulated
@pytest.mark.parametrize("analysis", MARKED)
def test_without_float64_sums_are_kept_where_it_is(masked_folder, analysis):
    request = request_of(analysis, masked_folder)
    with second_device.active(float64=False):
        assert device_of_sums(NAME) == "cpu"
        with pytest.raises(TypeError, match="float64"):
            torch.zeros(2, device=NAME).double()
        there = computed(request, NAME)
    assert_equal(there, computed(request, "cpu"))


@pytest.mark.parametrize("analysis", ["surface_patterns", "dependency_heads", "sep_gradients"])
def test_bfloat16(masked_folder, analysis):
    request = request_of(analysis, masked_folder, dtype="bfloat16")
    with second_device.active():
        there = computed(request, NAME)
    assert_equal(there, computed(request, "cpu"), **BFLOAT16)


def test_models_that_return_their_maps(tmp_path):
    request = request_of("entropy", save(FAMILIES["mpnet"], tmp_path))
    with second_device.active():
        assert not loaded(request, NAME).observable
        there = computed(request, NAME)
    assert_equal(there, computed(request, "cpu"))


def test_a_model_in_memory_that_is_there_already(masked_folder):
    pair = AutoModelForMaskedLM.from_pretrained(masked_folder), AutoTokenizer.from_pretrained(masked_folder)
    checkpoint = describe(*pair)
    request = request_of("sep_gradients", masked_folder)
    here = compute.compute(request, None, Execution("cpu", BATCH), model=loading.model_in_memory(pair, checkpoint))
    with second_device.active():
        pair[0].to(NAME).tie_weights()  # a wrapper is moved as a new parameter
        assert describe(*pair).fingerprint() == checkpoint.fingerprint()
        model = loading.model_in_memory(pair, checkpoint)
        assert model.device.startswith(NAME)
        there = compute.compute(request, None, Execution(NAME, BATCH), model=model)
    assert_equal(there, here)


def test_the_viewer_with_masking_ablation_and_query_and_keys(masked_folder):
    checkpoint = find_checkpoint(str(masked_folder))

    def seen(device):
        model = loading.load(checkpoint, device, language_model=True)
        single = single_input.from_text("the old cat sat near the door .", "", model.tokens, Settings())
        hidden = single_input.mask(single, [2, 3], model.tokens)
        off = np.eye(2, dtype=bool)
        predictions = single_input.predict(model, single, hidden), single_input.predict(model, single, hidden, off)
        product = query_key.compute_query_key(model, single, Head(1, 1), 3)
        return single_input.attention(model, hidden.example), predictions, product

    maps, predictions, product = seen("cpu")
    for float64 in (True, False) if SIMULATED else (True,):
        device_of_sums.cache_clear()
        with second_device.active(float64):
            there = seen(NAME)
        np.testing.assert_allclose(there[0], maps, **EQUAL)
        assert_alike(there[1], predictions)
        np.testing.assert_allclose(there[2].products, product.products, **EQUAL)


def assert_alike(ours, theirs):
    """The same predictions, with probabilities as near as numbers of the two devices are."""
    for there, here in zip(sum(ours, ()), sum(theirs, ()), strict=True):
        assert (there.position, there.original, there.rank) == (here.position, here.original, here.rank)
        assert there.probability == pytest.approx(here.probability, rel=EQUAL["rtol"])


def test_extract(tiny_folder, tmp_path, source):
    checkpoint = find_checkpoint(str(tiny_folder))

    def write(device):
        model = loading.load(checkpoint, device)
        examples = list(Segments(source("the cat sat\nthe dog slept near the door"), model.tokens, Settings()))
        extract(model, examples, tmp_path / f"{device}.safetensors", Progress())
        return load_file(tmp_path / f"{device}.safetensors")

    with second_device.active():
        there = write(NAME)
    for name, maps in write("cpu").items():
        np.testing.assert_allclose(there[name], maps, **EQUAL)


def counted_waits(request, waits, batches):
    """The number of waits of the analysis with each number of tokens in a batch."""
    counted = []
    for batch_tokens in batches:
        computed(request, NAME, batch_tokens)
        counted.append(sum(waits.values()))
    return counted


SUMS = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in BUILT_IN if name not in ALONE]


@simulated
@pytest.mark.parametrize("analysis", SUMS)
def test_waits_do_not_grow_with_the_batches(masked_folder, llama_folder, analysis, monkeypatch):
    request = request_of(analysis, llama_folder if analysis in OF_DECODERS else masked_folder)
    with second_device.active() as waits:
        counted = counted_waits(request, waits, (1000, 40))
        chunks = []
        compute_chunk = run_pass.compute_chunk
        monkeypatch.setattr(
            run_pass, "compute_chunk", lambda *given, **named: chunks.append(1) or compute_chunk(*given, **named)
        )
        monkeypatch.setattr(encoded_corpus, "CHUNK_TOKENS", 80)
        computed(request, NAME, 1000)
        by_chunks = sum(waits.values())
    in_pass = sum(each.shared for each in BUILT_IN.values())  # the most analyses of a pass
    assert counted[0] == counted[1], f"{counted} waits: copy nothing to or from the device in measure"
    assert counted[0] <= 7 * in_pass, f"{counted[0]} waits of a pass of {in_pass} analyses"
    # Two waits a chunk for each of the analyses of a pass
    assert len(chunks) > 2 and by_chunks - counted[0] <= 2 * in_pass * len(chunks), (by_chunks, counted, len(chunks))


@simulated
@pytest.mark.slow
def test_waits_of_ablation_do_not_grow_with_the_batches(masked_folder):
    with second_device.active() as waits:
        counted = counted_waits(request_of("ablation", masked_folder), waits, (1000, 40))
    assert counted[0] == counted[1] <= 25, counted


@simulated
def test_clustering_waits_once_for_each_batch_and_a_handful_of_times_besides(masked_folder, monkeypatch):
    """It asks whether any heads are close to one another."""
    forward = forward_pass.forward
    batches = []
    monkeypatch.setattr(forward_pass, "forward", lambda *args: (batches.append(1), forward(*args)))
    with second_device.active() as waits:
        computed(request_of("clustering", masked_folder), NAME, 40)
        assert len(batches) > 3
        assert sum(waits.values()) <= len(batches) + 10, (waits, len(batches))


@simulated
def test_an_epoch_of_a_training_waits_twice_whatever_its_steps():
    random = np.random.default_rng(0)
    n, heads = 5, 4
    governors = random.integers(0, n, (12, n))
    maps = random.random((12, n + 4, n, heads)).astype(np.float16)
    group = Group(np.arange(12), maps[:, :n], maps[:, n:], governors, np.zeros_like(governors))
    counted = []
    with second_device.active() as waits:
        for words in (1000, n):
            data = training.Data([group], group.indices, NAME)
            probe = AttentionOnly(heads).to(NAME)
            waits.clear()
            schedule = training.Schedule(epochs=3, words=words)
            losses = training.fit_adam(probe, data, data, schedule, Progress(), "a probe")
            counted.append(sum(waits.values()))
    assert len(losses) == 3
    assert counted == [6, 6]


@simulated
def test_mixed_devices_and_numpy_are_refused_as_a_gpu_does():
    with second_device.active():
        there = torch.ones(2, device=NAME)
        with pytest.raises(RuntimeError, match="same device"):
            there + torch.ones(2)
        with pytest.raises(TypeError, match="numpy"):
            np.asarray(there)
        assert (there + 1).cpu().tolist() == [2, 2]


def test_mps_is_never_chosen_by_itself(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert devices.choose_device("mps") == "mps"
    assert devices.choose_device("auto") in ("cpu", "cuda")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(SettingsError, match="Apple"):
        devices.choose_device("mps")
