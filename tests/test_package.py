import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
MAX_BYTES = 60 * 10**6
OFFLINE = ("--no-deps", "--no-index", "--quiet", "--disable-pip-version-check")
LIBRARY = """
import json, bertviz_core as bv
result = bv.analyze("surface_patterns", corpus="text.txt", max_length=32)
print(json.dumps({"file": bv.__file__, "previous": result["previous"].tolist()}))
"""


def run(*command: str | Path, folder: Path) -> str:
    """Standard output of a command; no PYTHONPATH leads it back to the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"BERTVIZ_STORE": str(folder / "store")}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: building leaves folders behind."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "bertviz_core", source / "bertviz_core", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", *OFFLINE, "-w", folder, source, folder=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the wheel; its dependencies are those of this one."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", folder=folder)
    site = next((folder / "venv").rglob("site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    python = folder / "venv" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-compile", *OFFLINE, wheel, folder=folder)
    return python.parent


def test_it_is_small_and_whole(wheel: Path) -> None:
    assert wheel.stat().st_size < MAX_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    ours = subprocess.run(["git", "ls-files", "bertviz_core"], cwd=ROOT, capture_output=True, text=True, check=False)
    if ours.returncode == 0:  # a checkout
        assert set(ours.stdout.splitlines()) == {name for name in names if ".dist-info/" not in name}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"bertviz_core"}
    assert "# What does it look at?" in metadata and "Provides-Extra: ray" in metadata
    assert "\nSummary: What every attention head of a transformer does" in metadata  # another project is named bertviz
    assert "streamlit" not in metadata.partition("\n\n")[0]


def test_library_and_command_give_the_same_numbers(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("The cat sat on the mat.\nIt was warm.\n\n")
    command = (programs / "bertviz-core", "surface-patterns", "text.txt", "--max-length", "32", "--out", "x.json")
    run(*command, folder=tmp_path)
    written = json.loads((tmp_path / "x.json").read_text())
    found = json.loads(run(programs / "python", "-c", LIBRARY, folder=tmp_path))  # which the command has stored
    assert Path(found["file"]).is_relative_to(programs.parent)
    assert written["arrays"]["previous"] == found["previous"]
