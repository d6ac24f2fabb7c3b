import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bertviz_core.cli.commands import app
from docs import tables

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLE, OWN_ANALYSIS = ROOT / "examples" / "repeated_token", "docs/your_own_analysis.md"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """In an empty folder, with a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "store"))


def blocks(path: str, language: str) -> list[str]:
    fenced = re.findall(r"^```([^\n]*)\n(.*?)^```$", (ROOT / path).read_text("utf-8"), re.S | re.M)
    return [code for name, code in fenced if name == language]


def test_python(tmp_path):
    """In a process apart, which has no simulated device: the trainer would train on it."""
    for path in ("docs/library.md", "docs/report.md"):
        code = "\n".join(blocks(path, "python"))
        assert "bv." in code
        (tmp_path / Path(path).name).write_text(code, encoding="utf-8")
    each_page = "import runpy\nfor page in ('library.md', 'report.md'):\n    runpy.run_path(page)"
    subprocess.run([sys.executable, "-c", each_page], env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True)


def test_the_third_door():
    block = next(block for block in blocks("README.md", "python") if "import bertviz_core" in block)
    assert len([line for line in block.splitlines() if line]) == 3
    exec(compile(block, "README.md", "exec"), {})


def test_commands_of_the_report():
    commands = [line for block in blocks("docs/report.md", "") for line in block.splitlines()]
    assert len(commands) == 2
    for command in commands:
        python, module, package, *arguments = shlex.split(command)
        assert (python, module, package) == ("python", "-m", "bertviz_core")
        app(arguments, standalone_mode=False)
    assert Path("report.html").is_file() and Path("text.html").is_file()


def test_the_page_of_an_analysis_of_ones_own_builds_the_example(tmp_path):
    (tmp_path / "pyproject.toml").write_text("".join(blocks(OWN_ANALYSIS, "toml")), encoding="utf-8")
    (tmp_path / "repeated_token.py").write_text("\n".join(blocks(OWN_ANALYSIS, "python")), encoding="utf-8")
    for path in tmp_path.iterdir():
        assert path.read_text(encoding="utf-8") == (EXAMPLE / path.name).read_text(encoding="utf-8")
    (test,) = blocks(OWN_ANALYSIS, "python test")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run([sys.executable, "-c", test], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    name = re.search(r'name = "(\w+)"', "".join(blocks(OWN_ANALYSIS, "python")))
    assert f"python -m bertviz_core {name[1].replace('_', '-')} encyclopedia" in blocks(OWN_ANALYSIS, "")[0]


@pytest.mark.parametrize("page", tables.PAGES)
def test_tables_of_the_documentation_are_what_the_code_says(page):
    assert (ROOT / "docs" / page).read_text("utf-8") == tables.updated(page), "run: python -m docs.tables"
