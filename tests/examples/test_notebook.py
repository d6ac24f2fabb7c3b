"""The notebook runs from a fresh kernel, and opens well where nothing runs."""

import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).parents[2]
WALK = ROOT / "examples" / "walk.ipynb"


@pytest.fixture(scope="module")
def notebook():
    return nbformat.read(WALK, as_version=4)


def printed(cell) -> str:
    """Standard output of a cell."""
    return "".join(out.text for out in cell.get("outputs", []) if out.output_type == "stream" and out.name == "stdout")


def test_a_fresh_kernel_runs_every_cell(notebook, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "store"))
    fresh = nbformat.read(WALK, as_version=4)
    client = nbclient.NotebookClient(
        fresh, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    findings = [["The paper:" in printed(cell) for cell in one.cells] for one in (fresh, notebook)]
    assert findings[0] == findings[1] and sum(findings[0]) >= 7
    assert (tmp_path / "report.html").stat().st_size > 100_000


def test_it_is_fifteen_cells_with_pictures_that_need_no_script(notebook) -> None:
    assert len(notebook.cells) == 15
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    kinds = [set(out.get("data", {})) for out in outputs]
    assert sum("image/svg+xml" in kind for kind in kinds) >= 5
    assert any("<iframe" in out.get("data", {}).get("text/html", "") for out in outputs)
    assert all(cell.get("outputs") for cell in notebook.cells if cell.cell_type == "code")
    assert not any(out.output_type == "error" or out.get("name") == "stderr" for out in outputs)


def test_it_is_small_and_names_no_machine(notebook) -> None:
    assert WALK.stat().st_size < 2_000_000
    text = WALK.read_text("utf-8")
    assert not any(path in text for path in ("/home/", "/root/", "/tmp/", "/work/", "site-packages"))
