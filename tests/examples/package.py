"""The example as an installed package, in a folder of its own; pip needs no network for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def install(folder: Path) -> Path:
    """Install it under a folder; returns what has to be on the path."""
    shutil.copytree(ROOT / "examples" / "repeated_token", folder / "source")
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    pip = [sys.executable, "-m", "pip", "install", *offline, "--target", str(folder / "site"), str(folder / "source")]
    subprocess.run(pip, check=True, capture_output=True)
    return folder / "site"


def python_path(site: Path) -> str:
    """PYTHONPATH of processes that have it installed."""
    return os.pathsep.join([str(site), str(ROOT)])
