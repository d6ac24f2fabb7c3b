"""Muon for the encoder's matrices, AdamW for the rest, one learning rate for both, and their state by name."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.optim import AdamW, Muon, Optimizer
from transformers import BertForPreTraining


def learning_rate(step: int, *, peak: float, warmup: int, steps: int, decay: int) -> float:
    """Linear from 0 to `peak` in `warmup` steps, level, then linear to 0 over the last `decay` of `steps`."""
    return peak * min(1.0, (step + 1) / max(warmup, 1), (steps - step) / max(decay, 1))


class Optimisers:
    """Both optimisers as one. Muon's steps are scaled to AdamW's size, so that one learning rate suits both."""

    def __init__(self, model: BertForPreTraining) -> None:
        self.parameters = dict(model.named_parameters())
        matrices = {n: p for n, p in self.parameters.items() if n.startswith("bert.encoder.") and p.ndim == 2}
        rest = [p for n, p in self.parameters.items() if n not in matrices]
        muon = Muon(list(matrices.values()), lr=0.0, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
        adamw = AdamW(rest, lr=0.0, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01, fused=True)
        self.both: tuple[Optimizer, Optimizer] = (muon, adamw)

    def step(self, rate: float) -> None:
        """One step at this learning rate; the gradients are clipped to norm 1 first, and gone afterwards."""
        torch.nn.utils.clip_grad_norm_(self.parameters.values(), 1.0)
        for optimiser in self.both:
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.step()
            optimiser.zero_grad()

    def tensors(self) -> dict[str, Tensor]:
        """Everything the optimisers remember: `optimiser/<quantity>/<parameter>`."""
        return {
            f"optimiser/{quantity}/{name}": value
            for name, parameter in self.parameters.items()
            for optimiser in self.both
            for quantity, value in optimiser.state.get(parameter, {}).items()
        }

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Take back what `tensors` gave."""
        for optimiser in self.both:
            held = {id(p) for group in optimiser.param_groups for p in group["params"]}
            for key, value in tensors.items():
                _, quantity, name = key.split("/")
                parameter = self.parameters[name]
                if id(parameter) in held:
                    optimiser.state[parameter][quantity] = value.to(parameter.device)
