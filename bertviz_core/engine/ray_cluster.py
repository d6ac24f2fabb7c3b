"""Ray: actors on an existing cluster, or on one started on this machine."""

import logging
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bertviz_core.errors import BertvizError, SettingsError

ROOT = Path(__file__).parents[2]
OBJECT_STORE = 1_000_000_000  # bytes, of a cluster that is started here
TRIES = 3  # a call may end its process so often, and is then not repeated


def check_ray() -> None:
    """Raises SettingsError where Ray is not installed."""
    if find_spec("ray") is None:
        raise SettingsError(
            "Several workers need Ray, which is not installed.",
            hint="Install it with `pip install ray`, or compute without workers.",
        )


def connect(address: str, workers: int) -> bool:
    """Connect to the cluster at an address as Ray takes it; where it is empty, start one with a CPU for each worker.
    Returns whether the connection is new; raises SettingsError where there is no such cluster."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

    import ray

    if ray.is_initialized():
        return False
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
    return True


def actors(worker: type, workers: int, device: str) -> list[Any]:
    """Actors of a class, which Ray starts again when their process ends, and whose calls it then repeats.

    Args:
        worker: Importable by name wherever they run.
        workers: How many; 0 for one on each GPU of the cluster, or each CPU where there is none. Raises SettingsError
            where there are fewer CPUs.
        device: "cpu" keeps them from GPUs.
    """
    import ray

    resources = ray.cluster_resources()
    cpus, gpus = int(resources.get("CPU", 0)), 0 if device == "cpu" else int(resources.get("GPU", 0))
    count = workers or gpus or cpus
    if count > cpus:
        raise SettingsError(
            f"{count} workers need {count} CPUs, and the cluster has {cpus}.", hint=f"Choose at most {cpus} workers."
        )
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {"PYTHONPATH": path, "OMP_WAIT_POLICY": "PASSIVE", "TOKENIZERS_PARALLELISM": "false"}
    remote_class: Any = ray.remote(worker).options(
        num_cpus=1,
        num_gpus=min(1.0, gpus / count),
        runtime_env={"env_vars": environment},
        max_restarts=-1,
        max_task_retries=TRIES - 1,
    )
    return [remote_class.remote() for _ in range(count)]


def failure(error: BaseException) -> BertvizError:
    """The error of a failed actor call; a BertvizError is returned as it was raised there."""
    from ray.exceptions import RayTaskError

    cause = getattr(error, "cause", None)
    if isinstance(cause, BertvizError):
        return cause
    what = f"{type(cause).__name__}: {reason(error)}" if isinstance(error, RayTaskError) else reason(error)
    kind = "A worker failed" if isinstance(error, RayTaskError) else f"A worker process ended {TRIES} times"
    return BertvizError(f"{kind} ({what}).", hint="What was computed is stored: start it again, and it goes on.")


def reason(error: BaseException) -> str:
    """The first line of what an error says."""
    cause = getattr(error, "cause", None) or error
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0][:300]
