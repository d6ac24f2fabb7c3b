"""One step of the training, shared by processes of one thread each.

Every process computes the gradients of its own micro-batches and updates its own part of the parameters, in memory
that all of them share. Threads that share one product wait for each other at every product; processes wait three times
a step.
"""

from __future__ import annotations

import ctypes
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing import get_context
from transformers import BertForPreTraining

from bertviz_core.errors import ModelError
from training.batches import Batches
from training.model import scores
from training.optimizer import Optimizers, split
from training.recipe import Recipe

LARGEST_NORM = 1.0  # of the gradient, which is scaled down to it
# Of glibc's mallopt: blocks up to 32 MiB come from memory that stays, so that no step clears its pages again.
KEEP_MEMORY = {-1: 2**31 - 1, -2: 2**28, -3: 2**25}  # M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD


def keep_memory() -> None:
    """Ask the C library to reuse memory; where it is another library, nothing happens."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for parameter, value in KEEP_MEMORY.items():
            library.mallopt(parameter, value)


class Member:
    """One process's part of the work, and with one process all of it."""

    def __init__(
        self, rank: int, model: BertForPreTraining, gradients: Tensor, training: Batches, recipe: Recipe
    ) -> None:
        """
        Args:
            rank: Of this process, counted from 0.
            model: Its parameters lie in shared memory when there are several processes.
            gradients: (process, number), shared as well.
            training: Micro-batches.
            recipe: Of the run.
        """
        self.rank, self.model, self.training, self.recipe = rank, model, training, recipe
        self.gradients = gradients
        parameters = dict(model.named_parameters())
        parts = split(parameters, len(gradients), recipe.query_key_rate is None)
        begin = 0
        for part, names in enumerate(parts):
            end = begin
            for name in names:
                parameter = parameters[name]
                parameter.grad = gradients[rank, end : end + parameter.numel()].view_as(parameter)
                end += parameter.numel()
            if part == rank:
                self.own = slice(begin, end)
            begin = end
        own = {name: parameters[name] for name in parts[rank]}
        self.optimizers = Optimizers(own, recipe.query_key_scale())

    def backward(self, step: int) -> Tensor:
        """Gradients of this process's micro-batches: (3,) their losses' part of the step's means.

        Dropout, where a model has any, is seeded by the step and the micro-batch.
        """
        count = self.recipe.micro_batches
        losses = torch.zeros(3)
        self.gradients[self.rank].zero_()
        self.model.train()
        for number in range(step * count + self.rank, (step + 1) * count, len(self.gradients)):
            torch.manual_seed(self.recipe.seed * 1_000_003 + number)
            found = scores(self.model, self.training.batch(number), self.recipe.penalty)
            parts = torch.stack((found.mlm_loss, found.nsp_loss, found.penalty)) / count
            parts.sum().backward()
            losses += parts.detach().cpu()
        return losses

    def gather(self) -> float:
        """Add up all processes' gradients of this one's parameters; the square of their norm."""
        mine = self.gradients[self.rank, self.own]
        for rank in range(len(self.gradients)):
            if rank != self.rank:
                mine += self.gradients[rank, self.own]
        return float(torch.linalg.vector_norm(mine) ** 2)

    def update(self, rate: float, norm: float) -> None:
        """One step of this process's parameters, the gradient scaled down to norm 1 where it is above."""
        if norm > LARGEST_NORM:
            self.gradients[self.rank, self.own] *= LARGEST_NORM / norm
        self.optimizers.step(rate)

    def tensors(self) -> dict[str, Tensor]:
        return self.optimizers.tensors()

    def restore(self, tensors: dict[str, Tensor]) -> None:
        self.optimizers.restore(tensors)


class Team:
    """All processes: this one, and those that it starts and asks."""

    def __init__(self, processes: int, model: BertForPreTraining, training: Batches, recipe: Recipe) -> None:
        recipe.check(processes, model.config.num_hidden_layers)
        numbers = sum(p.numel() for p in model.parameters())
        gradients = torch.zeros(processes, numbers, device=model.device)
        self.work = (model, gradients, training, recipe)
        self.pipes: list[Connection] = []
        self.processes: list[SpawnProcess] = []
        if processes > 1:
            model.share_memory()
            gradients.share_memory_()
        self.first = Member(0, *self.work)

    def start(self) -> None:
        """Start the other processes; they end with this one, or at `stop`."""
        keep_memory()
        context = get_context("spawn")
        for rank in range(1, len(self.work[1])):
            pipe, other = context.Pipe()
            process = context.Process(target=serve, args=(other, rank, *self.work), daemon=True)
            process.start()
            other.close()
            self.pipes.append(pipe)
            self.processes.append(process)

    def stop(self) -> None:
        for pipe, process in zip(self.pipes, self.processes, strict=True):
            pipe.close()
            process.join()
        self.pipes.clear()
        self.processes.clear()

    def step(self, step: int, rate: float) -> list[float]:
        """One step: the mean losses of its micro-batches (masked words, next sentence, penalty)."""
        losses = torch.stack(self.everyone("backward", step)).sum(0)
        norm = sum(self.everyone("gather")) ** 0.5
        self.everyone("update", rate, norm)
        return losses.tolist()  # type: ignore[no-any-return]

    def tensors(self) -> dict[str, Tensor]:
        """What all optimizers remember."""
        return {name: tensor for part in self.everyone("tensors") for name, tensor in part.items()}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        self.everyone("restore", tensors)

    def everyone(self, task: str, *arguments: Any) -> list[Any]:
        """The answers of all processes, this one's first, to one method of Member."""
        try:
            for pipe in self.pipes:
                pipe.send((task, arguments))
            return [getattr(self.first, task)(*arguments), *(pipe.recv() for pipe in self.pipes)]
        except (EOFError, ConnectionError) as error:
            raise ModelError(
                "A process of the training has ended.", hint="Run the command again: it goes on from its checkpoint."
            ) from error


def serve(
    pipe: Connection, rank: int, model: BertForPreTraining, gradients: Tensor, training: Batches, recipe: Recipe
) -> None:
    """What a started process does until its pipe is closed. Signals are the first process's to handle."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    torch.set_num_threads(1)
    keep_memory()
    member = Member(rank, model, gradients, training, recipe)
    with suppress(EOFError, ConnectionError):
        while True:
            task, arguments = pipe.recv()
            pipe.send(getattr(member, task)(*arguments))
