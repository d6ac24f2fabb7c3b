"""Models in several places: on a second, simulated device, in memory and on the disk, each as if it were whole."""

import re
from functools import partial

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

import bertviz_core as bv
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run import compute, run_pass
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.errors import ModelError, SettingsError
from bertviz_core.inputs.encoding import collate
from bertviz_core.models import device_map, devices, dispatched, loading, single_input, verification
from bertviz_core.models.attention import forward
from bertviz_core.models.checkpoint import describe, find_checkpoint
from bertviz_core.settings import Execution, Settings
from tests.support import predicting, second_device
from tests.support.second_device import NAME, SIMULATED

accelerate = pytest.importorskip("accelerate")
LIMITS = {"ablation": 1, "minimal_pairs": 2}
QUICK = ("surface_patterns", "sep_gradients", "next_token")
OTHERS = ("dependency_heads", "ablation", "weights")
slow = partial(pytest.param, marks=pytest.mark.slow)
OF_BERT = [slow(name, "bert") for name in ("ablation", "minimal_pairs")]
LAYER = re.compile(r".*\b(layers?|h)\.\d+")
LAST = re.compile(r"(.*\b(layers?|h)\.[1-9]\b|lm_head|model\.norm|transformer\.ln_f)")
simulated = pytest.mark.skipif(not SIMULATED, reason="a real device has other bits than the CPU")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {name: predicting.save(name, tmp_path_factory.mktemp(name)) for name in ("llama", "bert")}


@pytest.fixture
def small_memory(monkeypatch):
    """Memory for 40% of a model's weights in float32."""

    def of(checkpoint):
        size = {"the machine's": int(0.4 * 4 * checkpoint.parameters() / devices.ROOM)}
        monkeypatch.setattr(devices, "_free_memory", lambda device: size)

    return of


@pytest.fixture(autouse=True)
def one_arithmetic(monkeypatch):
    # The kernel for a CPU rounds otherwise than torch.
    monkeypatch.setattr("bertviz_core.analyses.clustering.measure.build_kernel", lambda: None)


def pair_of(folder):
    auto = AutoModelForCausalLM if folder.name.startswith("llama") else AutoModelForMaskedLM
    return auto.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


def parts(model, is_last):
    """A map of a model's layers and of its other parts: those of the last layers, and after them, as `is_last`."""
    names = [(LAYER.match(name) or [name.rpartition(".")[0]])[0] for name, _ in model.named_parameters()]
    names += [name.rpartition(".")[0] for name, _ in model.named_buffers()]
    head = next(name for name, part in model.named_modules() if part is model.get_output_embeddings())
    return {name: is_last if LAST.match(name) else "cpu" for name in (*names, head)}


def numbers(analysis, checkpoint, load, batch_tokens=100):
    definition = ANALYSES[analysis]
    settings = definition.relevant(Settings(limit=LIMITS.get(analysis, 6), max_length=32))
    request = Request(analysis, checkpoint, sample(next(iter(SAMPLES[definition.corpus]))), settings)
    model = run_pass.as_observed(load(definition.reads_predictions(checkpoint)), [request])
    result = compute.compute(request, None, Execution("cpu", batch_tokens), model=model)
    arrays = {name: np.asarray(values) for name, values in result.arrays().items()}
    return {name: values for name, values in arrays.items() if values.dtype.kind in "fiu" and name != "seconds"}


def assert_same(ours, theirs, tolerance=0.0):
    for name, values in theirs.items():
        np.testing.assert_allclose(ours[name], values, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("analysis", [*QUICK, *map(slow, OTHERS)])
def test_weights_that_wait_on_the_disk_give_the_same_bits(analysis, folders, small_memory):
    checkpoint = find_checkpoint(str(folders["llama"]))
    whole = numbers(analysis, checkpoint, lambda head: loading.load(checkpoint, "cpu", language_model=head))
    small_memory(checkpoint)

    def from_disk(head):
        model = loading.load(checkpoint, "cpu", language_model=head, offload="disk")
        waiting = [name for name, weight in model.encoder.named_parameters() if weight.is_meta]
        assert len(waiting) > 0 and model.device == "cpu"
        return model

    assert_same(numbers(analysis, checkpoint, from_disk), whole)


@simulated
@pytest.mark.parametrize(
    ("analysis", "family"), [*((name, "llama") for name in QUICK), *(slow(name, "llama") for name in OTHERS), *OF_BERT]
)
def test_a_model_in_memory_that_is_cut_over_two_devices_gives_the_same_bits(analysis, family, folders):
    """A pass back adds gradients in the order in which devices finish them, so that their last digits may differ."""
    pair = pair_of(folders[family])
    checkpoint = describe(*pair)
    whole = numbers(analysis, checkpoint, lambda _: loading.model_in_memory(pair, checkpoint))
    with second_device.active():
        accelerate.dispatch_model(pair[0], parts(pair[0], NAME), main_device="cpu")
        assert {each.device.type for each in pair[0].parameters()} == {"cpu", NAME}
        cut = describe(*pair)
        assert (cut.fingerprint(), cut.unknown_code) == (checkpoint.fingerprint(), "")
        there = numbers(analysis, cut, lambda _: loading.model_in_memory(pair, cut))
    has_gradients = analysis in ("sep_gradients", "ablation")
    assert_same(there, whole, tolerance=1e-6 if has_gradients else 0.0)


@simulated
def test_weights_wait_in_memory_for_the_other_device(folders, monkeypatch):
    monkeypatch.setenv("HF_DEACTIVATE_ASYNC_LOAD", "1")  # the device is one of this thread
    checkpoint = find_checkpoint(str(folders["llama"]))
    whole = numbers("next_token", checkpoint, lambda head: loading.load(checkpoint, "cpu", language_model=head))
    monkeypatch.setattr(loading, "rooms", lambda *_: {"cpu": 1})

    def placed(auto, config, *_):
        with torch.device("meta"):
            return parts(auto.from_config(config), NAME)

    monkeypatch.setattr(loading, "device_map", placed)
    with second_device.active():
        model = loading.load(checkpoint, "cpu", language_model=True, offload="cpu")
        assert model.device == NAME and dispatched.has_waiting_weights(model.encoder)
        there = numbers("next_token", checkpoint, lambda _: model)
    assert_same(there, whole)


def test_tied_weights_that_wait_have_the_fingerprint_of_the_whole_model(folders, tmp_path):
    pair = pair_of(folders["bert"])
    assert pair[0].get_output_embeddings().weight is pair[0].get_input_embeddings().weight
    before = describe(*pair)
    places = {"bert.embeddings": "disk", "bert.encoder": "cpu", "cls": "disk"}
    accelerate.dispatch_model(pair[0], places, offload_dir=tmp_path)
    for _ in range(2):  # after a pass weights that wait are other objects
        after = describe(*pair)
        assert (after.fingerprint(), after.parameters()) == (before.fingerprint(), before.parameters())
        bv.attention(pair, "the cat sat")


def test_a_pass_back_holds_no_weights_that_wait(folders, small_memory):
    checkpoint = find_checkpoint(str(folders["llama"]))
    small_memory(checkpoint)
    model = loading.load(checkpoint, "cpu", language_model=True, offload="disk")
    read = []
    for part in model.language_model.modules():
        for hook in dispatched.alignments(part):
            hook.weights_map = Counted(hook.weights_map, read) if hook.offload else None
    inputs = model.encoder.get_input_embeddings()(torch.tensor([[5, 6, 7]])).requires_grad_()
    with torch.enable_grad(), dispatched.reread_weights(model.language_model):
        total = model.language_model(inputs_embeds=inputs).logits.square().sum()
    once = len(read)
    torch.autograd.grad(total, inputs)
    assert once > 0 and {"weight"} == set(read[once:])


def test_verification_without_rounding_reads_weights_in_float64(folders, small_memory):
    checkpoint = find_checkpoint(str(folders["llama"]))
    small_memory(checkpoint)
    model = loading.load(checkpoint, "cpu", offload="disk")
    single = single_input.from_text("the cat sat", "", model.tokens, Settings(max_length=16))
    maps, observed = single_input.attention(model, single.example), []
    with verification.unrounded(model) as exact:
        batch = collate([single.example], model.tokens, "cpu")
        forward(exact, batch, lambda layer: observed.append(layer.weights[0]))
    assert {each.dtype for each in observed} == {torch.float64}
    np.testing.assert_allclose(torch.stack(observed), maps, atol=1e-6)
    np.testing.assert_array_equal(single_input.attention(model, single.example), maps)


class Counted(dict):
    """The weights of a hook, which notes what is read."""

    def __init__(self, weights, read):
        self.weights, self.read = weights, read

    def __getitem__(self, name):
        self.read.append(name)
        return self.weights[name]


def test_without_room_and_without_leave_to_wait_it_is_refused(folders, small_memory, monkeypatch):
    checkpoint = find_checkpoint(str(folders["llama"]))
    small_memory(checkpoint)
    monkeypatch.setattr(devices, "ROOM", 0.1)
    for offload in ("none", "cpu"):
        with pytest.raises(ModelError, match=r"memory are free.*--offload disk"):
            loading.load(checkpoint, "cpu", offload=offload)
    with pytest.raises(SettingsError, match="none, cpu, disk"):
        bv.analyze("entropy", model=str(folders["llama"]), offload="tape", store=False)


def test_several_gpus_share_a_model_that_none_has_room_for(folders, monkeypatch):
    checkpoint = find_checkpoint(str(folders["llama"]))
    size = 4 * checkpoint.parameters()
    gpus = [size, size // 2]
    memory = {"the machine's": 10 * size, "the GPU's": gpus[0]}
    monkeypatch.setattr(devices, "_free_memory", lambda device: memory)
    monkeypatch.setattr(devices, "_free_of_gpus", lambda: gpus)
    assert devices.rooms(checkpoint, "cuda", "float32") == {0: int(0.8 * size), 1: int(0.8 * (size // 2))}
    assert devices.rooms(checkpoint, "cuda", "bfloat16") is None
    gpus[:] = [size // 2, size // 4]
    memory["the GPU's"] = gpus[0]
    with pytest.raises(ModelError, match="of the GPU's memory are free"):
        devices.rooms(checkpoint, "cuda", "float32")
    assert devices.rooms(checkpoint, "cuda", "float32", "cpu")["cpu"] == 8 * size
    gpus[:] = [size // 8, size // 16]
    memory["the GPU's"] = gpus[0]
    with pytest.raises(ModelError, match="in int8"):  # what is quantized does not wait
        devices.rooms(checkpoint, "cuda", "int8", "cpu")


def test_what_is_missing_is_named(folders, monkeypatch):
    monkeypatch.setattr(device_map, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"int8 need accelerate and bitsandbytes.*\[large\]"):
        bv.attention(str(folders["bert"]), "the cat", dtype="int8")
    with pytest.raises(SettingsError, match="several places needs accelerate"):
        device_map.check_packages("cpu", "float32", is_spread=True)


def test_a_model_in_memory_is_neither_moved_nor_quantized(folders):
    pair = pair_of(folders["bert"])
    with pytest.raises(SettingsError, match="not quantized to nf4"):
        bv.attention(pair, "the cat", dtype="nf4")
    accelerate.cpu_offload(pair[0])
    with pytest.raises(SettingsError, match='device="auto"'):
        bv.attention(pair, "the cat", device="cpu")


def test_folders_of_ended_processes_are_removed_and_those_of_living_ones_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt), device_map.weights_folder() as stopped:
        raise KeyboardInterrupt
    assert not stopped.path.exists()
    abandoned = tmp_path / f"{device_map.PREFIX}abandoned"
    abandoned.mkdir()
    (abandoned / device_map.LOCK).touch()
    with device_map.weights_folder() as folder:
        assert folder.path.exists() and not abandoned.exists()
        with device_map.weights_folder() as second:
            second.keep_for(object)  # it is empty
        assert folder.path.exists() and not second.path.exists()
        folder.remove()


def test_a_folder_without_room_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ModelError, match=r"No space left.*TMPDIR"), device_map.weights_folder():
        raise OSError(28, "No space left on device")
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(ModelError, match="cannot be written to"), device_map.weights_folder():
        pass


def test_no_gradient_passes_4_bits_on_a_cpu():
    pytest.importorskip("bitsandbytes")
    with pytest.raises(ModelError, match="no gradients through weights of 4 bits"):
        bv.analyze("sep_gradients", dtype="nf4", device="cpu", limit=2, store=False)


# How much of a row moves on average, and the largest difference of a weight, from float32's (docs/models.md)
BOUNDS = {"int8": (0.03, 0.15), "nf4": (0.1, 0.5)}


@pytest.mark.parametrize("dtype", BOUNDS)
def test_quantized_weights_are_near_those_of_float32(dtype):
    pytest.importorskip("bitsandbytes")
    sentence = "The old cat sat near the door of the mill, and the dog slept on the mat."
    here, there = (bv.attention("demo", sentence, dtype=each).attention.weights for each in ("float32", dtype))
    gap = np.abs(here - there)
    assert 0 < gap.sum(-1).mean() / 2 < BOUNDS[dtype][0] and gap.max() < BOUNDS[dtype][1]
