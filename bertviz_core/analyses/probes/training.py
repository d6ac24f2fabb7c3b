"""Fitting a probe by L-BFGS or by Adam; fits return the validation losses, by which they stop."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from bertviz_core.analyses.probes.features import Group
from bertviz_core.analyses.probes.options import EPOCHS
from bertviz_core.analyses.probes.probes import Probe, ProbeBatch
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.tensors import device_of_sums, in_float64

ITERATIONS = 500  # the most iterations of L-BFGS
EARLY_STOPPING_EPOCHS = 3  # epochs without a better validation loss; for L-BFGS iterations, five times as many
PATIENT_STEPS = 100  # Together these epochs have at least so many steps, since those of a small treebank are short.
REDUCTIONS = 2  # how often Adam's rate falls to a quarter where the validation loss no longer falls
# Map entries on the device at a time
CHUNK = 1 << 23
Part = TypeVar("Part")


@dataclass(frozen=True)
class Schedule:
    """Training schedule of Adam.

    Attributes:
        epochs: The most epochs.
        rate: The learning rate at first, see REDUCTIONS.
        words: The number of words of a step.
        singly: Whether a step takes one sentence, in file order and at a constant rate, as in the release.
        patience: The epochs without a lower loss after which the rate is reduced.
        seed: The seed of the order of sentences.
    """

    epochs: int = EPOCHS
    rate: float = 0.005
    words: int = 128
    singly: bool = False
    patience: int = EARLY_STOPPING_EPOCHS
    seed: int = 0


class Data:
    """The chosen sentences of some groups, as batches on a device.

    Attributes:
        groups: The groups that have chosen sentences, with the rows (sentence,) of these.
        words: The number of words of all chosen sentences.
    """

    def __init__(self, groups: Sequence[Group], chosen: np.ndarray, device: str) -> None:
        self.device = device
        rows_of = [(group, np.flatnonzero(np.isin(group.indices, chosen))) for group in groups]
        self.groups = [(group, rows) for group, rows in rows_of if len(rows)]
        self.words = sum(group.words[rows].size for group, rows in self.groups)

    def parts(self, words: int | None = None) -> list[tuple[Group, np.ndarray]]:
        """Rows of groups: of `words` words (one sentence at least), or as many as a chunk holds."""
        parts = []
        for group, rows in self.groups:
            size = max(1, words // group.words.shape[1] if words else CHUNK // group.maps[0].size)
            parts += [(group, rows[i : i + size]) for i in range(0, len(rows), size)]
        return parts

    def take(self, part: tuple[Group, np.ndarray]) -> ProbeBatch:
        """A minibatch on the device, from the group of its sentences and their rows (sentence,) in the group."""
        group, rows = part
        end = rows[-1] + 1
        whole = len(rows) == end - rows[0]
        at = slice(rows[0], end) if whole else rows  # Consecutive rows need no copy.
        arrays = (group.maps, group.root, group.words, group.governors)
        maps, root, words, governors = (torch.from_numpy(array[at]).to(self.device) for array in arrays)
        return ProbeBatch(maps.float(), root.float(), words, governors)


def loss_of(probe: Probe, batch: ProbeBatch) -> Tensor:
    """A scalar: the cross-entropy of a batch, - sum over words of log p(governor), nats."""
    return nn.functional.cross_entropy(probe(batch).flatten(0, 1), batch.governors.flatten(), reduction="sum")


@torch.no_grad()
def mean_loss(probe: Probe, data: Data) -> Tensor:
    """A scalar, float64: the mean of `loss_of` over words, in nats a word; NaN for no words."""
    losses = [loss_of(probe, data.take(part)) for part in data.parts()]
    total = float(in_float64(torch.stack(losses)).sum()) if losses else torch.nan
    return torch.tensor(total / data.words if data.words else torch.nan, dtype=torch.float64)


def fit_lbfgs(probe: Probe, train: Data, validation: Data, progress: Progress, name: str) -> list[float]:
    """Minimize the mean loss by L-BFGS; the step with the lowest validation loss is kept.

    Args:
        probe: The probe, which is changed in place.
        train: The sentences that it is trained on.
        validation: The sentences whose loss ends the training, after ITERATIONS steps at the latest.
        progress: Counts the iterations; raises Cancelled.
        name: The name of the probe, in the progress.

    Returns:
        The validation loss of each iteration, nats a word; NaN without held-out sentences.
    """
    parameters = list(probe.parameters())
    best = Best(probe, 5 * EARLY_STOPPING_EPOCHS)
    losses = list[float]()
    latest = 0.0
    progress.start(f"Training {name}", ITERATIONS, "iterations")

    def value(point: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal latest
        progress.advance(0)
        _move_to(point, parameters)
        latest, gradient = _loss_and_gradient(probe, parameters, train)
        return latest, gradient

    def after(point: np.ndarray) -> None:
        _move_to(point, parameters)
        loss = mean_loss(probe, validation)
        progress.losses.append(latest)
        losses.append(loss.item())
        progress.advance(1)
        if best.record(loss):
            raise StopIteration

    start = parameters_to_vector(parameters).detach().cpu().double().numpy()
    minimize(value, start, jac=True, method="L-BFGS-B", callback=after, options={"maxiter": ITERATIONS})
    best.restore()
    return losses


@torch.no_grad()
def _move_to(point: np.ndarray, parameters: Sequence[nn.Parameter]) -> None:
    """Set the parameters to the values of a point, one after the other."""
    values = torch.from_numpy(point).float().to(parameters[0].device)
    for parameter, part in zip(parameters, values.split([each.numel() for each in parameters]), strict=True):
        parameter.copy_(part.view_as(parameter))


def _loss_and_gradient(probe: Probe, parameters: Sequence[nn.Parameter], train: Data) -> tuple[float, np.ndarray]:
    """Mean loss over all words and its gradient, chunk by chunk; sums in float64."""
    size = 1 + sum(each.numel() for each in parameters)  # One value is the loss, the others are its gradient.
    sums = torch.zeros(size, dtype=torch.float64).to(device_of_sums(str(parameters[0].device)))
    for part in train.parts():
        loss = loss_of(probe, train.take(part))
        parts = torch.autograd.grad(loss, parameters)
        sums += in_float64(torch.cat([each.detach().flatten() for each in (loss, *parts)]))
    mean = sums.cpu().numpy() / train.words
    return float(mean[0]), mean[1:]


def fit_adam(
    probe: Probe, train: Data, validation: Data, schedule: Schedule, progress: Progress, name: str
) -> list[float]:
    """Train by Adam until the validation loss no longer falls; the epoch where it is lowest is kept.

    Args:
        probe: The probe, which is changed in place.
        train: The sentences that it is trained on.
        validation: The sentences whose loss ends the training.
        schedule: The schedule, which also has the seed of the order of minibatches.
        progress: Counts the steps; raises Cancelled.
        name: The name of the probe, in the progress.

    Returns:
        The validation loss of each epoch, nats a word; NaN without held-out sentences.
    """

    def step(part: tuple[Group, np.ndarray]) -> tuple[Tensor, Tensor]:
        batch = train.take(part)
        loss = loss_of(probe, batch)
        return loss if schedule.singly else loss / batch.governors.numel(), loss.detach() / train.words

    parts = train.parts(1 if schedule.singly else schedule.words)
    if schedule.singly:  # The release takes the sentences in file order.
        parts.sort(key=lambda part: int(part[0].indices[part[1][0]]))
    return run_epochs(
        probe,
        schedule=schedule,
        parts=parts,
        step=step,
        validate=partial(mean_loss, probe, validation),
        progress=progress,
        name=name,
    )


def run_epochs(
    probe: nn.Module,
    schedule: Schedule,
    parts: Sequence[Part],
    step: Callable[[Part], tuple[Tensor, Tensor]],
    validate: Callable[[], Tensor],
    progress: Progress,
    name: str,
) -> list[float]:
    """Train by Adam (docs/methods.md, section 8, Length of training).

    Args:
        probe: The probe, which is changed in place.
        parts: The minibatches.
        step: From a minibatch to its loss, which is minimized, and its share of the epoch's loss, two scalars.
        validate: The validation loss, a scalar, or (layer,) where layers have their own.
        progress: Counts the steps; raises Cancelled.
        name: The name of the probe, in the progress.

    Returns:
        The validation loss of each epoch, its mean over layers.
    """
    best = Best(probe, max(schedule.patience, math.ceil(PATIENT_STEPS / max(1, len(parts)))))
    losses = list[float]()
    rng = np.random.default_rng(schedule.seed)
    optimizer = torch.optim.Adam(probe.parameters(), lr=schedule.rate)
    reductions = 0
    # The number of steps is not known beforehand.
    progress.start(f"Training {name}", len(parts) if schedule.singly else 0, "steps")
    for _ in range(schedule.epochs):
        order = range(len(parts)) if schedule.singly else rng.permutation(len(parts))
        shares = _run_epoch(optimizer, (step(parts[index]) for index in order), progress)
        validation = validate()
        progress.losses.append(float(torch.stack(shares).sum()) if shares else 0.0)
        losses.append(float(validation.mean()))
        if best.record(validation):
            if reductions == REDUCTIONS:
                break
            reductions += 1
            best.restore()
            best.since = 0
            for group in optimizer.param_groups:
                group["lr"] /= 4
    best.restore()
    return losses


def _run_epoch(
    optimizer: torch.optim.Optimizer, steps: Iterable[tuple[Tensor, Tensor]], progress: Progress
) -> list[Tensor]:
    """Take a step for each loss, computed when the one before it is done; returns the shares of the epoch's loss."""
    shares = list[Tensor]()
    for loss, share in steps:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shares.append(share)
        progress.advance(1)
    return shares


class Best:
    """The parameters of the lowest validation loss; without one (NaN), the last.

    With losses by layer, the parameters' first axis, each layer has its own best.

    Attributes:
        patience: After how many calls of `record` without a lower loss it says so.
        since: How many calls the last lower loss is ago.
        losses: The lowest losses, a scalar or (layer,).
        best: The parameters that had them.
    """

    def __init__(self, probe: nn.Module, patience: int) -> None:
        self.probe = probe
        self.patience = patience
        self.since = 0
        self.losses = torch.tensor(torch.inf)
        self.best = list[Tensor]()

    def record(self, losses: Tensor) -> bool:
        """Record validation losses, a scalar or (layer,); returns True if none has improved for `patience` calls."""
        is_better = losses < self.losses
        self.since = 0 if is_better.any() else self.since + 1
        if is_better.any():
            self.losses = torch.where(is_better, losses, self.losses)
            now = [parameter.detach() for parameter in self.probe.parameters()]
            before = self.best or now
            self.best = []
            for new, old in zip(now, before, strict=True):
                is_taken = is_better.reshape(*is_better.shape, *[1] * (new.dim() - is_better.dim()))
                self.best.append(torch.where(is_taken.to(new.device), new, old))
        return bool(self.best) and self.since >= self.patience

    @torch.no_grad()
    def restore(self) -> None:
        """Set the probe's parameters to the best ones."""
        for parameter, best in zip(self.probe.parameters(), self.best, strict=False):
            parameter.copy_(best)
