"""The Ray cluster on which workers run: one that is there already, or one started on this machine."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bertviz_core.errors import SettingsError

ROOT = Path(__file__).parents[2]
OBJECT_STORE = 1_000_000_000  # bytes, of a cluster that is started here
INLINE = {"RAY_max_direct_call_object_size": "1000000"}  # bytes that travel with a call: cheaper than the object store


def check_ray() -> None:
    """Raises SettingsError where Ray is not installed."""
    if find_spec("ray") is None:
        raise SettingsError(
            "Several workers need Ray, which is not installed.",
            hint="Install it with `pip install ray`, or compute without workers.",
        )


def connect(address: str, workers: int) -> None:
    import logging

    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            ray.init("local", num_cpus=workers, include_dashboard=False, object_store_memory=OBJECT_STORE, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise SettingsError(
            f"The Ray cluster at {address or 'this machine'} cannot be reached ({reason(error)}).",
            hint="Start it with `ray start --head`, set its RAY_AUTH_TOKEN, or omit --ray.",
        ) from error


def reason(error: BaseException) -> str:
    """The first line of what an error says."""
    cause = getattr(error, "cause", None) or error
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0][:300]
