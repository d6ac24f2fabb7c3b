"""docs/your_own_analysis.md builds the example, and its code runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "repeated_token"
PAGE = (ROOT / "docs" / "your_own_analysis.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(toml|python|python test|)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [code for language, code in BLOCKS if language == kind]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """The package, as a reader of the page writes it."""
    (tmp_path / "pyproject.toml").write_text("".join(blocks("toml")), encoding="utf-8")
    (tmp_path / "repeated_token.py").write_text("\n".join(blocks("python")), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["pyproject.toml", "repeated_token.py"])
def test_what_it_builds_is_the_example(built: Path, name: str) -> None:
    assert (built / name).read_text(encoding="utf-8") == (EXAMPLE / name).read_text(encoding="utf-8")


def test_its_code_runs(built: Path) -> None:
    assert len(blocks("python test")) == 1
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(built), str(ROOT)])}
    command = [sys.executable, "-c", *blocks("python test")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_its_command_is_that_of_the_example() -> None:
    name = re.search(r'name = "(\w+)"', "".join(blocks("python")))
    assert name and f"python -m bertviz_core {name[1].replace('_', '-')} encyclopedia" in blocks("")[0]
