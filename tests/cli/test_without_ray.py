"""Without Ray every command works but for --workers and --ray, which say what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT_RAY = "import sys; sys.modules['ray'] = None; from bertviz_core.cli.commands import main; main()"


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [((), 0, "max_weight"), (("--workers", "2"), 2, "pip install ray")],
)
def test_a_command_without_ray(options, code, message, tiny_folder):
    command = [sys.executable, "-c", WITHOUT_RAY, "entropy", "encyclopedia", "--model", str(tiny_folder), "--no-store"]
    small = ("--device", "cpu", "--max-length", "32", "--limit", "3", "--quiet")
    done = subprocess.run([*command, *small, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code and message in done.stdout + done.stderr and "Traceback" not in done.stderr
