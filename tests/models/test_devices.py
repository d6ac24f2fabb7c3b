import pytest
import torch

from bertviz_core.errors import ModelError, SettingsError
from bertviz_core.models import checkpoint, devices, loading
from tests.support import families


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert devices.choose_device("auto") == "cpu"
    with pytest.raises(SettingsError, match="--device cpu"):
        devices.choose_device("cuda")
    with pytest.raises(SettingsError, match="auto, cpu, cuda"):
        devices.choose_device("tpu")


@pytest.mark.parametrize("memory", ["the machine's", "the GPU's"])
def test_a_model_that_does_not_fit_says_so_before_it_is_loaded(memory, tmp_path, monkeypatch):
    found = checkpoint.find_checkpoint(str(families.save(families.FAMILIES["bert"], tmp_path)))
    monkeypatch.setattr(devices, "_free_memory", lambda device: {memory: 4 * found.parameters() - 1})
    monkeypatch.setattr(loading, "load_tokens", None)  # nothing is loaded
    with pytest.raises(ModelError, match=f"0.0 GB of {memory} memory are free.*bfloat16"):
        loading.load(found, "cpu")
    assert devices.rooms(found, "cpu", "bfloat16") is None
