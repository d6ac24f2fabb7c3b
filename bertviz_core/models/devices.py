"""Where a model runs, and whether its weights fit into the memory there."""

from contextlib import suppress
from pathlib import Path

from bertviz_core.errors import ModelError, SettingsError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import DEVICES

BYTES = {"float32": 4, "bfloat16": 2}  # of a parameter


def choose_device(device: str) -> str:
    """Choose cuda for `auto` where there is one, else cpu, never mps, which has been tried on a simulated device only.

    Raises:
        SettingsError: The device is missing.
    """
    from bertviz_core.models.libraries import torch

    if device not in DEVICES:
        raise SettingsError(f"There is no device {device!r}.", hint=f"Choose one of {', '.join(DEVICES)}.")
    has_cuda = torch.cuda.is_available()
    if device == "cuda" and not has_cuda:
        raise SettingsError("This machine has no CUDA device.", hint="Use --device cpu.")
    if device == "mps" and not torch.backends.mps.is_available():
        raise SettingsError("This machine has no GPU of Apple's, or PyTorch does not see it.", hint="Use --device cpu.")
    return ("cuda" if has_cuda else "cpu") if device == "auto" else device


def check_memory(checkpoint: Checkpoint, device: str, dtype: str) -> None:
    """Raises ModelError, before a weight is read, where the weights alone are larger than the free memory."""
    needed = checkpoint.parameters() * BYTES[dtype]
    for memory, free in _free_memory(device).items():
        if needed > free:
            what = f"The weights of {checkpoint.name!r} take {needed / 1e9:.1f} GB in {dtype}"
            hint = "Choose a smaller model" + (", or --dtype bfloat16." if dtype != "bfloat16" else ".")
            raise ModelError(f"{what}, and {free / 1e9:.1f} GB of {memory} memory are free.", hint=hint)


def _free_memory(device: str) -> dict[str, int]:
    """Free bytes by kind of memory, where the system says: weights pass through the machine's on their way to a GPU."""
    import torch

    free = {}
    with suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free["the machine's"] = 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    if device.startswith("cuda"):
        free["the GPU's"] = torch.cuda.mem_get_info(device)[0]
    return free
