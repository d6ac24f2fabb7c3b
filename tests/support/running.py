"""Commands as a user types them, in this process."""

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from bertviz_core.cli.commands import main


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, store: Path | None = None) -> Done:
    """`python -m bertviz_core ...`, in this process, which has torch loaded already."""
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["bertviz_core", *map(str, arguments)])
        if store:
            patch.setenv("BERTVIZ_STORE", str(store))
        with pytest.raises(SystemExit) as ended:
            main()
    return Done(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def written(out: Path, *arguments: object, store: Path | None = None) -> Any:
    """The JSON that a command writes."""
    done = run(*arguments, "--quiet", "--out", out, store=store)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text())
