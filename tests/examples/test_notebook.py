import os
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pandas
import pytest

from tests.support.families import FAMILIES, save

pytestmark = pytest.mark.slow

nbformat = pytest.importorskip("nbformat")

ROOT = Path(__file__).parents[2]
WALK, OWN = (ROOT / "examples" / name for name in ("walk.ipynb", "own_model.ipynb"))
SHORTER = {"max_steps=12": "max_steps=2", "every=4": "every=2", "limit=20": "limit=3", '"20"': '"3"'}


@pytest.fixture(scope="module")
def notebook():
    return nbformat.read(WALK, as_version=4)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs every cell in a fresh kernel, in a folder and with a store of its own; the first error is raised."""
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "store"))
    place = {"metadata": {"path": str(tmp_path)}}
    return lambda notebook: nbclient.NotebookClient(
        notebook, timeout=240, kernel_name="python3", resources=place
    ).execute()


def printed(cell) -> str:
    """Standard output of a cell."""
    return "".join(out.text for out in cell.get("outputs", []) if out.output_type == "stream" and out.name == "stdout")


def test_a_fresh_kernel_runs_every_cell(notebook, tmp_path, run) -> None:
    fresh = run(nbformat.read(WALK, as_version=4))
    said, saved = ([text for cell in one.cells if "The paper:" in (text := printed(cell))] for one in (fresh, notebook))
    assert said == saved, "run the notebook again and save it with its outputs"
    assert len(said) >= 7
    assert (tmp_path / "report.html").stat().st_size > 100_000


def test_every_cell_runs_with_a_decoder_and_speaks_of_its_loss_and_its_sink(tmp_path, monkeypatch) -> None:
    """In this process, which has torch loaded already."""
    pytest.importorskip("IPython")
    from IPython.core.inputtransformer2 import TransformerManager

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "store"))
    family = replace(FAMILIES["llama"], sizes=FAMILIES["llama"].sizes | {"max_position_embeddings": 256})
    folder = save(family, tmp_path / "llama", auto="AutoModelForCausalLM")
    changed = nbformat.read(WALK, as_version=4)
    (cell,) = [cell for cell in changed.cells if 'MODEL = "demo"' in cell.source]
    cell.source = cell.source.replace('"demo"', repr(str(folder)))
    names: dict[str, object] = {}
    outputs = []
    for each in changed.cells:
        if each.cell_type == "code":
            source = each.source.replace("model=MODEL", "model=MODEL, limit=12")  # nothing of it is stored
            with redirect_stdout(StringIO()) as output:
                exec(TransformerManager().transform_cell(source), names)
            outputs.append(output.getvalue())
    assert sum("The paper:" in text for text in outputs) >= 6
    assert any("first token" in text for text in outputs) and not any("nan" in text for text in outputs)
    assert "next-word loss" in (tmp_path / "report.html").read_text("utf-8")


def test_a_training_is_watched_by_a_callback_and_its_checkpoints_are_read(tmp_path, run) -> None:
    pytest.importorskip("accelerate")
    changed = nbformat.read(OWN, as_version=4)
    for long, short in SHORTER.items():
        assert any(long in cell.source for cell in changed.cells)
        for cell in changed.cells:
            cell.source = cell.source.replace(long, short)
    text = "".join(map(printed, run(changed).cells))
    assert [f"Step {step}: head " in text for step in (0, 2)] == [True] * 2
    assert "has changed most" in text and "nan" not in text
    assert (tmp_path / "emergence.html").stat().st_size > 100_000
    table = pandas.read_csv(tmp_path / "emergence.csv")
    assert table["step"].tolist() == [0, 2] and table["entropy"].between(0, 5).all()
    assert not (tmp_path / "store").exists() or not list((tmp_path / "store").rglob("*.safetensors"))


@pytest.mark.parametrize("path", [WALK, OWN])
def test_every_cell_of_a_notebook_has_its_output_and_names_no_machine(path):
    cells = nbformat.read(path, as_version=4).cells
    outputs = [out for cell in cells for out in cell.get("outputs", [])]
    assert all(cell.get("outputs") for cell in cells if cell.cell_type == "code")
    assert any("<iframe" in out.get("data", {}).get("text/html", "") for out in outputs)
    assert not any(out.output_type == "error" or out.get("name") == "stderr" for out in outputs)
    assert path.stat().st_size < 2_000_000
    text = path.read_text("utf-8")
    assert not any(place in text for place in ("/home/", "/root/", "/tmp/", "/work/", "site-packages"))


def test_the_walk_has_pictures_that_need_no_script_and_a_finding_among_its_first_five_cells(notebook):
    assert len(notebook.cells) == 15
    assert any("The paper:" in printed(cell) for cell in notebook.cells[:5])
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    kinds = [set(out.get("data", {})) for out in outputs]
    assert sum("image/svg+xml" in kind for kind in kinds) >= 5
