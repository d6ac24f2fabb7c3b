"""Fitting a probe: L-BFGS over everything at once, or Adam over minibatches of sentences of one length."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from bertviz_core.analyses.probes.features import Features, Group
from bertviz_core.analyses.probes.probes import Probe, ProbeBatch
from bertviz_core.engine.progress import Progress

ITERATIONS = 50  # of L-BFGS
PATIENCE = 3  # epochs without a better validation loss; for L-BFGS iterations, five times as many
CHUNK = 1 << 23  # map entries on the device at a time
PAPER_RATE = 0.002


@dataclass(frozen=True, slots=True)
class Schedule:
    """How Adam goes: `words` to learn from in a step at a rate that falls to 0, or one sentence a step in file order
    at one rate (`singly`, as the release).

    Attributes:
        patience: Epochs without a better validation loss before it stops; the best epoch's parameters are kept.
    """

    epochs: int = 5
    rate: float = 0.005
    words: int = 128
    singly: bool = False
    patience: int = PATIENCE
    seed: int = 0

    def optimizer(self, parameters: Iterable[nn.Parameter], steps: int) -> tuple[torch.optim.Adam, LambdaLR]:
        """Adam, and what lowers its rate after each of `steps` steps."""
        adam = torch.optim.Adam(parameters, lr=self.rate)
        return adam, LambdaLR(adam, lambda step: 1.0 if self.singly else max(0.0, 1 - step / max(1, steps)))


@dataclass
class Curve:
    """Learning: after each epoch (L-BFGS: iteration) the losses in nats a word, and the seconds since the start."""

    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = time.monotonic()

    def add(self, train: float, validation: float) -> None:
        self.train_loss.append(train)
        self.validation_loss.append(validation)
        self.seconds.append(round(time.monotonic() - self.started, 3))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Data:
    """Features of some sentences, as batches on a device. `governors` may replace the trees by others (a control)."""

    def __init__(
        self,
        features: Features,
        chosen: np.ndarray,
        device: str,
        governors: Sequence[np.ndarray] | None = None,
    ) -> None:
        self.device, self.governors, self.order = device, governors, chosen.tolist()
        sentences_of = [(group, np.flatnonzero(np.isin(group.indices, chosen))) for group in features.groups]
        self.groups = [(group, rows) for group, rows in sentences_of if len(rows)]
        self.words = sum(len(rows) * group.length for group, rows in self.groups)
        self.all_groups, self.row = features.groups, features.row

    def batches(self, words: int | None = None) -> list[tuple[Group, np.ndarray]]:
        """Parts of groups: of `words` words (one sentence at least), or as many as a chunk holds."""
        built = []
        for group, rows in self.groups:
            maximum = words // group.length if words else CHUNK // group.maps[0].size
            built += [(group, rows[i : i + max(1, maximum)]) for i in range(0, len(rows), max(1, maximum))]
        return built

    def singly(self) -> list[tuple[Group, np.ndarray]]:
        """One sentence at a time, in file order."""
        positions = [self.row[index] for index in self.order]
        return [(self.all_groups[group], np.array([row])) for group, row in positions]

    def take(self, part: tuple[Group, np.ndarray]) -> ProbeBatch:
        group, rows = part
        governors = group.governors[rows]
        if self.governors is not None:
            governors = np.stack([self.governors[i] for i in group.indices[rows].tolist()])
        whole = len(rows) == rows[-1] - rows[0] + 1
        at = slice(rows[0], rows[-1] + 1) if whole else rows  # a run of rows needs no copy
        maps, root = (torch.from_numpy(array[at]).to(self.device).float() for array in (group.maps, group.root))
        words, gold = (torch.from_numpy(array).to(self.device) for array in (group.words[rows], governors))
        return ProbeBatch(maps, root, words, gold)

    def __iter__(self) -> Iterator[tuple[Group, np.ndarray, ProbeBatch]]:
        for group, rows in self.batches():
            yield group, rows, self.take((group, rows))


def loss_of(probe: Probe, batch: ProbeBatch) -> Tensor:
    """Summed cross-entropy over all words, nats."""
    return nn.functional.cross_entropy(probe(batch).flatten(0, 1), batch.governors.flatten(), reduction="sum")


@torch.no_grad()
def mean_loss(probe: Probe, data: Data) -> float:
    """Mean loss of a probe in nats a word; NaN for no words."""
    return sum(float(loss_of(probe, batch)) for _, _, batch in data) / data.words if data.words else float("nan")


def fit_lbfgs(probe: Probe, train: Data, validation: Data, progress: Progress, name: str) -> Curve:
    """Minimize the mean loss in at most ITERATIONS steps; keeps the step with the lowest validation loss."""
    curve, parameters = Curve(), list(probe.parameters())
    best = _Best(probe, 5 * PATIENCE)
    progress.start(f"Training {name}", ITERATIONS, "iterations")
    progress.losses = curve.train_loss
    latest = 0.0

    def value(point: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal latest
        progress.advance(0)
        _assign(parameters, point)
        latest, gradient = _whole(probe, parameters, train)
        return latest, gradient

    def after(point: np.ndarray) -> None:
        _assign(parameters, point)
        curve.add(latest, mean_loss(probe, validation))
        progress.advance(1)
        if best.record(curve.validation_loss[-1]):
            raise StopIteration

    start = torch.cat([parameter.detach().flatten() for parameter in parameters]).cpu().double().numpy()
    minimize(value, start, jac=True, method="L-BFGS-B", callback=after, options={"maxiter": ITERATIONS})
    best.restore()
    return curve


def fit_adam(probe: Probe, train: Data, validation: Data, schedule: Schedule, progress: Progress, name: str) -> Curve:
    """Epochs of minibatches in an order drawn from the seed; keeps the epoch with the lowest validation loss."""
    curve, best = Curve(), _Best(probe, schedule.patience)
    rng = np.random.default_rng(schedule.seed)
    parts = train.singly() if schedule.singly else train.batches(schedule.words)
    optimizer, falling = schedule.optimizer(probe.parameters(), schedule.epochs * len(parts))
    progress.start(f"Training {name}", schedule.epochs * len(parts), "steps")
    progress.losses = curve.train_loss
    for _ in range(schedule.epochs):
        order = range(len(parts)) if schedule.singly else rng.permutation(len(parts))
        total = 0.0
        for index in order:
            total += _step(probe, optimizer, train.take(parts[index]), schedule.singly)
            falling.step()
            progress.advance(1)
        curve.add(total / train.words, mean_loss(probe, validation))
        if best.record(curve.validation_loss[-1]):
            break
    best.restore()
    return curve


def _step(probe: Probe, optimizer: torch.optim.Optimizer, batch: ProbeBatch, summed: bool) -> float:
    optimizer.zero_grad(set_to_none=True)
    loss = loss_of(probe, batch)
    (loss if summed else loss / batch.governors.numel()).backward()
    optimizer.step()
    return float(loss.detach())


def _whole(probe: Probe, parameters: list[nn.Parameter], data: Data) -> tuple[float, np.ndarray]:
    """Mean loss over all words and its gradient, chunk by chunk; sums in float64."""
    total, gradient = 0.0, np.zeros(sum(parameter.numel() for parameter in parameters))
    for _, _, batch in data:
        loss = loss_of(probe, batch)
        parts = torch.autograd.grad(loss, parameters)
        total += float(loss.detach())
        gradient += torch.cat([part.flatten() for part in parts]).cpu().double().numpy()
    return total / data.words, gradient / data.words


@torch.no_grad()
def _assign(parameters: list[nn.Parameter], point: np.ndarray) -> None:
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.copy_(torch.from_numpy(point[start:end]).view(parameter.shape))
        start = end


class _Best:
    """The parameters with the lowest validation loss so far; without validation, the last."""

    def __init__(self, probe: Probe, patience: int) -> None:
        self.probe, self.patience = probe, patience
        self.loss, self.since = float("inf"), 0
        self.best: list[Tensor] | None = None

    def record(self, loss: float) -> bool:
        """Take note of a loss; true when there has been no better one for too long."""
        if loss < self.loss:
            self.loss, self.since = loss, 0
            self.best = [parameter.detach().clone() for parameter in self.probe.parameters()]
        else:
            self.since += 1
        return self.best is not None and self.since >= self.patience

    @torch.no_grad()
    def restore(self) -> None:
        for parameter, best in zip(self.probe.parameters(), self.best or [], strict=False):
            parameter.copy_(best)
