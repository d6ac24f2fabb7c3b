"""The text that a command reads."""

from pathlib import Path

import pytest


@pytest.fixture
def text(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The TEXT of the test's module, as a file."""
    path = tmp_path / "mine.txt"
    path.write_text(request.module.TEXT)
    return path
