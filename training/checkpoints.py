"""The weights, the optimizers' states and the step of a training in one file, from which it goes on after a kill."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from bertviz_core.errors import SettingsError

Parameters = Mapping[str, torch.nn.Parameter]


def write(
    path: Path, parameters: Parameters, optimizers: Sequence[torch.optim.Optimizer], step: int, identity: str
) -> None:
    """Write the file, put into place whole. `identity` says which training it is: settings, text, first weights."""
    tensors = {f"weights/{name}": parameter.detach() for name, parameter in parameters.items()}
    for name, state in _states(parameters, optimizers):
        tensors |= {f"{entry}/{name}": value for entry, value in state.items()}
    started = path.with_suffix(".started")
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, started, {"step": str(step), "identity": identity})
    started.replace(path)


def resume(path: Path, parameters: Parameters, optimizers: Sequence[torch.optim.Optimizer], identity: str) -> int:
    """Take up what the file holds, and give its step; 0 where there is none.

    Raises:
        SettingsError: It is of another training.
    """
    if not path.exists():
        return 0
    states = dict(_states(parameters, optimizers))
    with safe_open(path, "pt") as file:
        if file.metadata()["identity"] != identity:
            raise SettingsError("The run's settings, text or model were others.", hint="Give another --out.")
        for key in file.keys():  # noqa: SIM118 (no dictionary)
            entry, name = key.split("/", 1)
            if entry == "weights":
                parameters[name].data.copy_(file.get_tensor(key))
            else:
                states[name][entry] = file.get_tensor(key)
        return int(file.metadata()["step"])


def _states(parameters: Parameters, optimizers: Sequence[torch.optim.Optimizer]) -> Iterator[tuple[str, Any]]:
    """The state that an optimizer has of each parameter."""
    for name, parameter in parameters.items():
        for optimizer in optimizers:
            if any(parameter is other for group in optimizer.param_groups for other in group["params"]):
                yield name, optimizer.state[parameter]
