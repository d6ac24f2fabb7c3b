"""Where the store lies and how large it may be, where the caller does not say."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

from bertviz_core.errors import SettingsError

LIMIT_GB = 10


def default_folder() -> Path:
    """`BERTVIZ_STORE`, else a folder in the user's cache directory."""
    if named := os.environ.get("BERTVIZ_STORE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bertviz_core"


def default_limit() -> int:
    """`BERTVIZ_STORE_LIMIT`, in GB, as bytes; else 10 GB. Raises SettingsError for anything but a positive number."""
    named = os.environ.get("BERTVIZ_STORE_LIMIT", str(LIMIT_GB))
    with suppress(ValueError):
        if 0 < float(named) < math.inf:
            return int(float(named) * 1e9)
    raise SettingsError(
        f"BERTVIZ_STORE_LIMIT is {named[:40]!r}.", hint="Give it a number of gigabytes, such as 10 or 0.5."
    )
