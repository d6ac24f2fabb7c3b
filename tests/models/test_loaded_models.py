import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from bertviz_core.models import loaded_models
from bertviz_core.models.loaded_models import LoadedModels


def stub(name: str, parameters: int = 10):
    return SimpleNamespace(fingerprint=lambda: name, parameters=lambda: parameters)


@pytest.fixture
def loads(monkeypatch):
    """Names in the order of loading; fails where two are loaded at once."""
    names, busy = [], threading.Lock()

    def load(stub, device, dtype, offload):
        assert busy.acquire(blocking=False), "two models are loaded at once"
        time.sleep(0.02)
        names.append(f"{stub.fingerprint()} {dtype}")
        busy.release()
        return object()

    monkeypatch.setattr(loaded_models, "load_to_view", load)
    return names


def test_two_readers_with_two_models_load_each_once(loads):
    models, found = LoadedModels(), []

    def reader(name: str) -> None:
        found.extend(models.get(stub(name), "float32") for _ in range(5))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(reader, "abab"))
    assert sorted(loads) == ["a float32", "b float32"]
    assert len(found) == 20 and len(set(map(id, found))) == 2
    models.get(stub("a"), "bfloat16")
    assert loads[-1] == "a bfloat16"


def test_the_one_longest_unused_makes_room(loads):
    models = LoadedModels(max_bytes=100)  # two models of 10 weights of 4 bytes
    for name in "abacb":
        models.get(stub(name), "float32")
    assert [load[0] for load in loads] == ["a", "b", "c", "b"]
    models.get(stub("large", 1000), "float32")
    models.get(stub("large", 1000), "float32")
    assert [load.split()[0] for load in loads][4:] == ["large"]
