"""A model that a test may spoil."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def folder(tiny_folder: Path, tmp_path: Path) -> Path:
    """A copy of the tiny BERT."""
    return Path(shutil.copytree(tiny_folder, tmp_path / "copy"))
