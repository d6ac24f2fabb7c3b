"""Fitting a probe: L-BFGS over everything at once, or Adam over minibatches of sentences of one length."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.optim.lr_scheduler import LambdaLR

from bertviz_core.analyses.probes.features import Features, Group
from bertviz_core.analyses.probes.probes import Probe, ProbeBatch
from bertviz_core.engine.progress import Progress

ITERATIONS = 50  # of L-BFGS
PATIENCE = 3  # epochs without a better validation loss; for L-BFGS iterations, five times as many
CHUNK = 1 << 23  # map entries on the device at a time
PAPER_RATE = 0.002
Part = TypeVar("Part")


@dataclass(frozen=True)
class Schedule:
    """Training schedule of Adam: `words` words a step at a rate that falls to 0, or one sentence a step in file order
    at a constant rate (`singly`, as in the release). It stops after `patience` epochs without a better validation
    loss."""

    epochs: int = 5
    rate: float = 0.005
    words: int = 128
    singly: bool = False
    patience: int = PATIENCE
    seed: int = 0


@dataclass
class Curve:
    """Learning curve: losses in nats per word after each epoch (L-BFGS: iteration), and seconds since the start."""

    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = time.monotonic()

    def add(self, train: float, validation: float) -> None:
        self.train_loss.append(train)
        self.validation_loss.append(validation)
        self.seconds.append(round(time.monotonic() - self.started, 3))


class Data:
    """Features of some sentences, as batches on a device. `governors` may replace the trees by others (a control)."""

    def __init__(
        self, features: Features, chosen: np.ndarray, device: str, governors: Sequence[np.ndarray] | None = None
    ) -> None:
        self.device, self.governors = device, governors
        sentences_of = [(group, np.flatnonzero(np.isin(group.indices, chosen))) for group in features.groups]
        self.groups = [(group, rows) for group, rows in sentences_of if len(rows)]
        self.words = sum(len(rows) * group.length for group, rows in self.groups)

    def batches(self, words: int | None = None) -> list[tuple[Group, np.ndarray]]:
        """Parts of groups: of `words` words (one sentence at least), or as many as a chunk holds."""
        built = []
        for group, rows in self.groups:
            maximum = words // group.length if words else CHUNK // group.maps[0].size
            built += [(group, rows[i : i + max(1, maximum)]) for i in range(0, len(rows), max(1, maximum))]
        return built

    def singly(self) -> list[tuple[Group, np.ndarray]]:
        """One sentence at a time, in file order."""
        return sorted(self.batches(1), key=lambda part: int(part[0].indices[part[1][0]]))

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
def mean_loss(probe: Probe, data: Data) -> Tensor:
    """Mean loss of a probe in nats a word, float64; NaN for no words."""
    total = sum(float(loss_of(probe, batch)) for _, _, batch in data)
    return torch.tensor(total / data.words if data.words else torch.nan, dtype=torch.float64)


def fit_lbfgs(probe: Probe, train: Data, validation: Data, progress: Progress, name: str) -> Curve:
    """Minimize the mean loss in at most ITERATIONS steps; keeps the step with the lowest validation loss."""
    curve, parameters = Curve(), list(probe.parameters())
    best = Best(probe, 5 * PATIENCE)
    progress.start(f"Training {name}", ITERATIONS, "iterations")
    progress.losses = curve.train_loss
    latest = 0.0

    def value(point: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal latest
        progress.advance(0)
        vector_to_parameters(torch.from_numpy(point).to(parameters[0]), parameters)
        latest, gradient = _whole(probe, parameters, train)
        return latest, gradient

    def after(point: np.ndarray) -> None:
        vector_to_parameters(torch.from_numpy(point).to(parameters[0]), parameters)
        loss = mean_loss(probe, validation)
        curve.add(latest, loss.item())
        progress.advance(1)
        if best.record(loss):
            raise StopIteration

    start = parameters_to_vector(parameters).detach().cpu().double().numpy()
    minimize(value, start, jac=True, method="L-BFGS-B", callback=after, options={"maxiter": ITERATIONS})
    best.restore()
    return curve


def fit_adam(probe: Probe, train: Data, validation: Data, schedule: Schedule, progress: Progress, name: str) -> Curve:
    """Epochs of minibatches in an order drawn from the seed; keeps the epoch with the lowest validation loss."""

    def step(part: tuple[Group, np.ndarray]) -> tuple[Tensor, float]:
        batch = train.take(part)
        loss = loss_of(probe, batch)
        return loss if schedule.singly else loss / batch.governors.numel(), float(loss.detach())

    parts = train.singly() if schedule.singly else train.batches(schedule.words)
    return run_epochs(probe, schedule, parts, step, train.words, partial(mean_loss, probe, validation), progress, name)


def run_epochs(
    probe: nn.Module,
    schedule: Schedule,
    parts: Sequence[Part],
    step: Callable[[Part], tuple[Tensor, float]],
    total: int,
    validate: Callable[[], Tensor],
    progress: Progress,
    name: str,
) -> Curve:
    """Train by Adam; the probe is left with the parameters of the lowest validation loss, see `Best`.

    `step` gives a minibatch's loss to minimize, and its share of the epoch's loss, whose sum is divided by `total`;
    `validate` gives the validation loss.
    """
    curve, best, rng = Curve(), Best(probe, schedule.patience), np.random.default_rng(schedule.seed)
    steps = schedule.epochs * len(parts)
    optimizer = torch.optim.Adam(probe.parameters(), lr=schedule.rate)
    falling = LambdaLR(optimizer, lambda step: 1.0 if schedule.singly else max(0.0, 1 - step / max(1, steps)))
    progress.start(f"Training {name}", steps, "steps")
    progress.losses = curve.train_loss
    for _ in range(schedule.epochs):
        summed = 0.0
        for index in range(len(parts)) if schedule.singly else rng.permutation(len(parts)):
            optimizer.zero_grad(set_to_none=True)
            loss, share = step(parts[index])
            loss.backward()
            optimizer.step()
            falling.step()
            summed += share
            progress.advance(1)
        losses = validate()
        curve.add(summed / total, float(losses.mean()))
        if best.record(losses):
            break
    best.restore()
    return curve


def _whole(probe: Probe, parameters: list[nn.Parameter], data: Data) -> tuple[float, np.ndarray]:
    """Mean loss over all words and its gradient, chunk by chunk; sums in float64."""
    total, gradient = 0.0, np.zeros(sum(parameter.numel() for parameter in parameters))
    for _, _, batch in data:
        loss = loss_of(probe, batch)
        parts = torch.autograd.grad(loss, parameters)
        total += float(loss.detach())
        gradient += torch.cat([part.flatten() for part in parts]).cpu().double().numpy()
    return total / data.words, gradient / data.words


class Best:
    """The parameters with the lowest validation loss so far; without validation (NaN), the last.

    Where there is a loss for each first index of the parameters (a layer's), each keeps its own best.
    """

    def __init__(self, probe: nn.Module, patience: int) -> None:
        self.probe, self.patience, self.since = probe, patience, 0
        self.losses, self.best = torch.tensor(torch.inf), list[Tensor]()

    def record(self, losses: Tensor) -> bool:
        """Record losses; returns True if none has improved for `patience` calls."""
        better = losses < self.losses
        self.since = 0 if better.any() else self.since + 1
        if better.any():
            self.losses = torch.where(better, losses, self.losses)
            now = [parameter.detach() for parameter in self.probe.parameters()]
            for_each = [better.reshape(*better.shape, *[1] * (new.dim() - better.dim())).to(new.device) for new in now]
            self.best = list(map(torch.where, for_each, now, self.best or now))
        return bool(self.best) and self.since >= self.patience

    @torch.no_grad()
    def restore(self) -> None:
        for parameter, best in zip(self.probe.parameters(), self.best, strict=False):
            parameter.copy_(best)
