"""Shared fixtures: the demo model, a tiny random BERT, a store in a temporary folder, sources from bytes."""

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"  # no test may reach a network
if "BERTVIZ_TEST_DEVICE" not in os.environ:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the same numbers on every machine; a simulated device breaks real ones
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported, where it is there

import gc
import logging
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.engine.store import Store

# The same examples on every machine, however busy it is; HYPOTHESIS_PROFILE=default looks for new ones.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

ROOT = Path(__file__).parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow files come first, so that no process works alone at the end; those with a browser before all."""
    marked = {name: {item.path for item in items if item.get_closest_marker(name)} for name in ("browser", "slow")}
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (*(item.path not in marked[name] for name in marked), -tests[item.path], item.path))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of a file run in one process, those with a browser in two."""
    from tests.support.scheduling import TwoBrowsers

    return TwoBrowsers(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    """Modules are no garbage: a collection that goes over all of them takes a fifth of a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Threads gain nothing on tiny models, and spin beside other processes."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="session")
def new_store(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What earlier tests stored of a model decides nothing."""
    os.environ["BERTVIZ_STORE"] = str(tmp_path_factory.mktemp("store"))


@pytest.fixture(autouse=True, scope="session")
def app_test_as_the_server() -> None:
    """AppTest runs pages inside app.py. Its dozens of warnings that no browser is there would follow the traceback of a
    page that fails."""
    from tests.support import navigation

    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel("ERROR")

    navigation.frame_at_every_page()
    navigation.search_components_once()


@pytest.fixture(scope="session")
def demo():
    from bertviz_core.models import checkpoint, loading

    return loading.load(checkpoint.find_checkpoint("demo"), "cpu")


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of 2 layers and 2 heads with a WordPiece tokenizer, as save_pretrained writes them."""
    from tests.support.families import FAMILIES, save

    return save(FAMILIES["bert"], tmp_path_factory.mktemp("tiny-bert"))


@pytest.fixture
def folder(tiny_folder: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may spoil."""
    return Path(shutil.copytree(tiny_folder, tmp_path / "copy"))


@pytest.fixture(scope="session")
def nan_folder(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, with a weight that is not a number."""
    import safetensors.torch

    folder = shutil.copytree(tiny_folder, tmp_path_factory.mktemp("nan-bert"), dirs_exist_ok=True)
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    weights["encoder.layer.1.attention.self.query.weight"][0, 0] = float("nan")
    safetensors.torch.save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


@pytest.fixture(scope="session")
def planted_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 layers of 2 heads: 1-1 to the previous token, 1-2 to everything alike, 2-1 to the next token, 2-2 to [SEP]."""
    from tests.support import planted

    kinds = {(0, 0): "previous", (1, 0): "next", (1, 1): "sep"}
    return planted.save(tmp_path_factory.mktemp("planted"), kinds)


@pytest.fixture(scope="session")
def tiny(tiny_folder: Path):
    from bertviz_core.models import checkpoint, loading

    return loading.load(checkpoint.find_checkpoint(str(tiny_folder)), "cpu")


@pytest.fixture(scope="session")
def masked_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with an MLM head, so that every analysis runs on it."""
    from tests.support import predicting

    return predicting.save("bert", tmp_path_factory.mktemp("masked-bert"))


@pytest.fixture(scope="session")
def masked(masked_folder: Path):
    from tests.support import predicting

    return predicting.load(masked_folder)


@pytest.fixture(scope="session")
def decoder(tmp_path_factory: pytest.TempPathFactory):
    """A random GPT-2 with its unembedding."""
    from tests.support import predicting

    return predicting.load(predicting.save("gpt2", tmp_path_factory.mktemp("decoder")))


@pytest.fixture(scope="session")
def model_for(masked, decoder):
    """From an analysis to the tiny model that it is tested with: the encoder, or the decoder where that is needed."""
    from tests.support.shipped import OF_DECODERS

    return lambda analysis: decoder if analysis in OF_DECODERS else masked


@pytest.fixture(scope="session")
def results() -> dict:
    """What ships of the demo model on the first sample of each kind, by the names of the analyses."""
    from bertviz_core.analyses.base.registry import BUILT_IN
    from tests.support import shipped

    return {name: shipped.result(name) for name in BUILT_IN if name not in shipped.OF_DECODERS}


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory):
    """On the results that ship, with nothing computed."""
    from bertviz_core.corpora.files import SAMPLES, sample
    from bertviz_core.models.checkpoint import find_checkpoint
    from bertviz_core.paper_report.report import ReportRequest

    corpora = {kind: sample(next(iter(names))) for kind, names in SAMPLES.items()}
    return ReportRequest(find_checkpoint("demo"), corpora).read(Store(tmp_path_factory.mktemp("report")))


@pytest.fixture(scope="session")
def example_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """PYTHONPATH of processes that have the example of an analysis of one's own installed."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(ROOT / "examples" / "repeated_token", folder / "source")
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    pip = [sys.executable, "-m", "pip", "install", *offline, "--target", folder / "site", folder / "source"]
    subprocess.run(pip, check=True, capture_output=True)
    return os.pathsep.join([str(folder / "site"), str(ROOT)])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store that ships nothing."""
    return Store(tmp_path / "store", shipped=tmp_path / "shipped")


@pytest.fixture(scope="session")
def source() -> Callable[..., Source]:
    """source("text") or source(b"bytes", "name.json")."""

    def make(data: str | bytes, name: str = "given.txt") -> Source:
        return from_bytes(data.encode() if isinstance(data, str) else data, name)

    return make
