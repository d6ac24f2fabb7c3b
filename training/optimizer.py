"""Muon for the encoder's matrices, AdamW for the rest, one schedule for both, and their state by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor
from torch.optim import AdamW, Muon, Optimizer

Parameters = Mapping[str, Tensor]
ELEMENTWISE = 16  # what gathering and AdamW cost for a number, where Muon costs its matrix's smaller side


def learning_rate(step: int, *, peak: float, warmup: int, steps: int, decay: int) -> float:
    """Linear from 0 to `peak` in `warmup` steps, level, then linear to 0 over the last `decay` of `steps`."""
    return peak * min(1.0, (step + 1) / max(warmup, 1), (steps - step) / max(decay, 1))


def is_query_or_key(name: str) -> bool:
    return name.endswith((".self.query.weight", ".self.key.weight"))


def is_for_muon(name: str, parameter: Tensor, muon_on_query_key: bool = True) -> bool:
    """The encoder's matrices, without the queries' and keys' where those are AdamW's."""
    matrix = name.startswith("bert.encoder.") and parameter.ndim == 2
    return matrix and (muon_on_query_key or not is_query_or_key(name))


def split(parameters: Parameters, count: int, muon_on_query_key: bool = True) -> list[list[str]]:
    """The parameters' names in `count` parts whose updates take about the same time."""

    def cost(name: str) -> int:
        parameter = parameters[name]
        for_muon = is_for_muon(name, parameter, muon_on_query_key)
        return parameter.numel() * (ELEMENTWISE + (min(parameter.shape) if for_muon else 0))

    parts: list[list[str]] = [[] for _ in range(count)]
    totals = [0] * count
    for name in sorted(parameters, key=cost, reverse=True):
        least = totals.index(min(totals))
        parts[least].append(name)
        totals[least] += cost(name)
    return parts


class Optimizers:
    """Both optimizers as one, for some or all of a model's parameters.

    Muon's steps are scaled to AdamW's size, so that one learning rate suits both. With a `query_key_scale`, the
    queries' and keys' matrices are AdamW's, at that many times the rate.
    """

    def __init__(self, parameters: Parameters, query_key_scale: float | None = None) -> None:
        self.parameters = dict(parameters)
        muon: list[Tensor] = []
        query_key: list[Tensor] = []
        rest: list[Tensor] = []
        for name, parameter in self.parameters.items():
            if is_for_muon(name, parameter, query_key_scale is None):
                muon.append(parameter)
            elif query_key_scale is not None and is_query_or_key(name):
                query_key.append(parameter)
            else:
                rest.append(parameter)
        self.optimizers: list[Optimizer] = []
        if muon:
            group = {"params": muon, "scale": 1.0}
            self.optimizers.append(Muon([group], lr=0.0, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"))
        groups: list[dict[str, Any]] = [
            {"params": rest, "scale": 1.0},
            {"params": query_key, "scale": query_key_scale},
        ]
        if used := [group for group in groups if group["params"]]:
            adamw = AdamW(used, lr=0.0, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01, fused=True)
            self.optimizers.append(adamw)

    def step(self, rate: float) -> None:
        """One step with the gradients that are there, at this learning rate."""
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate * group["scale"]
            optimizer.step()

    def tensors(self) -> dict[str, Tensor]:
        """Everything the optimizers remember: `optimizer/<quantity>/<parameter>`."""
        return {
            f"optimizer/{quantity}/{name}": value
            for name, parameter in self.parameters.items()
            for optimizer in self.optimizers
            for quantity, value in optimizer.state.get(parameter, {}).items()
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take back what `tensors` gave; what belongs to other parameters is passed over."""
        for optimizer in self.optimizers:
            own = {id(p) for group in optimizer.param_groups for p in group["params"]}
            for key, value in tensors.items():
                _, quantity, name = key.split("/")
                parameter = self.parameters.get(name)
                if parameter is not None and id(parameter) in own:
                    optimizer.state[parameter][quantity] = value.to(parameter.device)
