"""Room for what is computed once and read many times: in memory where it is small, else in a memory-mapped file."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from bertviz_core.errors import SettingsError

IN_MEMORY = 1 << 29  # bytes; more than this goes to disk
MAX_ON_DISK = 1 << 35  # bytes that may go there


class ScratchArray(AbstractContextManager["ScratchArray"]):
    """`flat`: (total,) float16, zeros. A context that removes its file when left.

    Raises SettingsError where there is no room; `what` says of what.
    """

    def __init__(self, total: int, what: str) -> None:
        self._folder: tempfile.TemporaryDirectory | None = None
        if 2 * total <= IN_MEMORY:
            self.flat = np.zeros(total, dtype=np.float16)
            return
        self._folder = tempfile.TemporaryDirectory(prefix="bertviz-probes-")
        if 2 * total > min(MAX_ON_DISK, shutil.disk_usage(self._folder.name).free * 0.8):
            self._folder.cleanup()
            raise SettingsError(
                f"The {what} of this treebank needs {2 * total / 1e9:,.0f} GB, more than is free.",
                where=tempfile.gettempdir(),
                hint="Use --limit, or free space in the temporary folder.",
            )
        self.flat = np.memmap(Path(self._folder.name) / "flat", np.float16, "w+", shape=(total,))

    def __exit__(self, *error: object) -> None:
        del self.flat
        if self._folder:
            self._folder.cleanup()
