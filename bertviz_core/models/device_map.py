"""Decides on which device each part of a model goes that does not fit one, and where weights wait on the disk."""

import logging
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from bertviz_core.errors import ModelError, SettingsError
from bertviz_core.settings import QUANTIZED, Offload

LOCK = "lock"  # a file that the process of a folder holds
PREFIX = "bertviz-weights-"
DeviceMap = dict[str, int | str]  # from the name of a part to its device, "disk" among them


def check_packages(device: str, dtype: str, *, is_spread: bool) -> None:
    """Raises SettingsError where a package is missing that a model needs, and for a device without quantized types."""
    needed = ["accelerate"] * (is_spread or dtype in QUANTIZED) + ["bitsandbytes"] * (dtype in QUANTIZED)
    if missing := [name for name in needed if find_spec(name) is None]:
        what = f"Weights of type {dtype} need" if dtype in QUANTIZED else "A model in several places needs"
        hint = "Install it with `pip install 'bertviz-core[large]'`."
        raise SettingsError(f"{what} {' and '.join(missing)}, which is not installed.", hint=hint)
    if dtype in QUANTIZED and device not in ("cpu", "cuda"):
        raise SettingsError(f"There are no weights of type {dtype} on {device}.", hint="Choose --device cpu.")


def device_map(auto: Any, config: Any, rooms: Mapping[int | str, int], dtype: str) -> DeviceMap:
    """Where each part goes: the first ones on the first device, as many as it has room for; layers stay whole.

    Args:
        auto: The class of transformers that chooses the model's class.
        config: The model's configuration.
        rooms: The bytes of weights that each device may take, of GPUs by number.
        dtype: The type of its parameters, one of DTYPES.

    """
    import torch
    from accelerate import infer_auto_device_map
    from accelerate.utils import CustomDtype

    logging.getLogger("accelerate.big_modeling").setLevel(logging.ERROR)  # It would say what was asked for.
    with torch.device("meta"):
        empty = auto.from_config(config, trust_remote_code=False)
    empty.tie_weights()
    kind = CustomDtype.INT4 if dtype == "nf4" else getattr(torch, dtype)
    found = infer_auto_device_map(empty, dict(rooms), no_split_module_classes=_whole_classes(empty), dtype=kind)
    return DeviceMap(found)


def place_of_quantized(device: str, dtype: str) -> DeviceMap | None:
    """The map of a quantized model on one device, where it is quantized; None for a type of 16 bits and more."""
    return {"": device} if dtype in QUANTIZED else None


def check_places(places: DeviceMap | None, name: str, offload: Offload) -> None:
    """Raises ModelError where weights of a model would wait where none may; `name` is the model's."""
    if offload != "disk" and "disk" in (places or {}).values():
        what = f"The layers of {name!r} find no room in the memory that is free for them"
        raise ModelError(f"{what}.", hint="Choose a smaller model, --dtype bfloat16, or --offload disk.")


def quantization(dtype: str) -> Any:
    """How transformers quantizes linear layers while it loads them; None for a type of 16 bits and more."""
    if dtype not in QUANTIZED:
        return None
    import torch
    from transformers import BitsAndBytesConfig

    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # It would say for each layer what it converts.
    with _without_kernels():
        import bitsandbytes  # noqa: F401

    if dtype == "int8":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)


@contextmanager
def _without_kernels() -> Iterator[None]:
    """Let bitsandbytes, which is imported in a `with` block, not find the package by which it would fetch code from the
    hub, and run it."""
    is_new = "kernels" not in sys.modules
    if is_new:
        sys.modules["kernels"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if is_new:
            del sys.modules["kernels"]


def _whole_classes(model: Any) -> list[str]:
    """The names of classes whose parts add up inside, which must be on one device."""
    import torch

    from bertviz_core.models.torch_internals import unsplit_classes

    lists = (part for part in model.modules() if isinstance(part, torch.nn.ModuleList))
    layers = {type(layer).__name__ for each in lists for layer in each}
    return sorted(layers.union(unsplit_classes(model)))


class WeightsFolder:
    """A temporary folder for weights that transformers converts before they can wait on the disk; all others are read
    where they are. It is removed with its model, and one that an ended process has left by the next process.

    Attributes:
        path: Where it is, in the system's folder for temporary files.
    """

    def __init__(self) -> None:
        _remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = (self.path / LOCK).open("w")
        _try_lock(self._lock)

    def remove(self) -> None:
        """Remove it with its files."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def keep_for(self, model: Any) -> None:
        """Remove it when the model is not used any more, or at the end of the process; at once where it is empty."""
        if {path.name for path in self.path.iterdir()} == {LOCK}:
            self.remove()
        else:
            weakref.finalize(model, self.remove)


@contextmanager
def weights_folder() -> Iterator[WeightsFolder]:
    """A folder for the weights of a model that is loaded in a `with` block; removed where that fails or is stopped.

    Raises:
        ModelError: There is no room for it, or it cannot be written.
    """
    try:
        folder = WeightsFolder()
    except OSError as error:
        raise _no_room(error) from error
    try:
        yield folder
    except BaseException as error:
        folder.remove()
        if isinstance(error, OSError) or "No space left" in str(error):
            raise _no_room(error) from error
        raise


def _no_room(error: BaseException) -> ModelError:
    what = f"Weights cannot be written to {tempfile.gettempdir()} ({' '.join(str(error).split())[:100]})."
    return ModelError(what, hint="Name another folder for temporary files with TMPDIR, or make room there.")


def _remove_abandoned() -> None:
    """Remove folders of processes that have ended without removing them."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if _is_own(path):
                with (path / LOCK).open("r+") as lock:
                    if _try_lock(lock):
                        shutil.rmtree(path, ignore_errors=True)


def _is_own(path: Path) -> bool:
    """Whether a folder, and no link to one, belongs to the user of this process; others write to the same place."""
    return hasattr(os, "getuid") and not path.is_symlink() and path.stat().st_uid == os.getuid()


def _try_lock(stream: IO[str]) -> bool:
    """Whether a file could be locked, which no living process holds then; never on a system without such locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    with suppress(OSError):
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
