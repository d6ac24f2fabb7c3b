"""Where a model runs, and whether its weights fit into the memory there, or into several memories."""

from contextlib import suppress
from pathlib import Path

from bertviz_core.errors import ModelError, SettingsError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import DEVICES, QUANTIZED, Offload

# Of a parameter; nf4 has a factor of 32 bits for each 64 of them.
BYTES = {"float32": 4.0, "bfloat16": 2.0, "int8": 1.0, "nf4": 0.5625}
ROOM = 0.8  # the share of free memory that weights may take where they are in several places: maps need the rest
Rooms = dict[int | str, int]  # bytes, of GPUs by number, and of "cpu"


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


def rooms(checkpoint: Checkpoint, device: str, dtype: str, offload: Offload = "none") -> Rooms | None:
    """The bytes of weights that each place may take, where they are in several; None for a model that is whole on its
    device.

    Args:
        device: Where it runs, "cpu", "cuda" or "mps".
        dtype: The type of its parameters, one of DTYPES.
        offload: Where weights wait for which the GPUs have no room. What is quantized does not wait.

    Raises:
        ModelError: The weights alone are larger than the free memory; before one of them is read.
    """
    needed = checkpoint.parameters() * BYTES[dtype]
    free = _free_memory(device)
    gpus = _free_of_gpus() if device == "cuda" else []
    may_wait = offload != "none" and dtype not in QUANTIZED
    may_spread = len(gpus) > 1 or (may_wait and (device == "cuda" or (device == "cpu" and offload == "disk")))
    share = ROOM if may_spread else 1.0
    short = next((memory for memory, size in free.items() if needed > share * size), None)
    if short is None:
        return None
    found: Rooms = {number: int(ROOM * size) for number, size in enumerate(gpus)}
    if may_wait and "the machine's" in free:
        found["cpu"] = int(ROOM * free["the machine's"])
    if not may_spread or (sum(found.values()) < needed and not (may_wait and offload == "disk")):
        raise _too_large(checkpoint, needed, dtype, short, sum(gpus) if len(gpus) > 1 else free[short])
    return found


def _too_large(checkpoint: Checkpoint, needed: float, dtype: str, memory: str, free: int) -> ModelError:
    what = f"The weights of {checkpoint.name!r} take {needed / 1e9:.1f} GB in {dtype}"
    ways = ["--dtype bfloat16"] * (dtype == "float32") + ["--offload disk"] * (dtype not in QUANTIZED)
    hint = " or ".join([", ".join(["Choose a smaller model", *ways[:-1]]), *ways[-1:]])
    return ModelError(f"{what}, and {free / 1e9:.1f} GB of {memory} memory are free.", hint=f"{hint}.")


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


def _free_of_gpus() -> list[int]:
    """Free bytes of each GPU."""
    import torch

    return [torch.cuda.mem_get_info(number)[0] for number in range(torch.cuda.device_count())]
