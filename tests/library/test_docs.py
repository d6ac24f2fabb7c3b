"""The code of README, docs/library.md and docs/report.md runs as it stands there."""

import re
import shlex
from pathlib import Path

import pytest

from bertviz_core.cli.commands import app

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """In an empty folder, with a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "store"))


def blocks(path: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / path).read_text("utf-8"), re.S | re.M)


@pytest.mark.parametrize("path", ["docs/library.md", "docs/report.md"])
def test_python(path):
    names = {}
    for block in blocks(path, "python"):
        exec(compile(block, path, "exec"), names)
    assert names["bv"]


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
