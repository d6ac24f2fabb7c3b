"""The training itself: steps, validation, the loss curves, and checkpoints that it goes on from exactly."""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from transformers import BertForPreTraining, BertTokenizer

from bertviz_core.errors import InputError, SettingsError
from training.batches import Batches
from training.model import save_model, scores
from training.optimizer import learning_rate
from training.recipe import Plan, Recipe
from training.team import Team

LOSS_COLUMNS = ("step", "tokens", "learning_rate", "mlm_loss", "nsp_loss", "entropy_penalty")
VALIDATION_COLUMNS = ("step", "tokens", "mlm_loss", "mlm_accuracy", "nsp_loss", "nsp_accuracy")


@dataclass
class Run:
    """One training in one folder: checkpoint.safetensors, loss.csv, validation.csv, steps/ and final/."""

    folder: Path
    model: BertForPreTraining
    tokenizer: BertTokenizer
    training: Batches
    validation: Batches
    recipe: Recipe
    plan: Plan
    processes: int = 1
    step: int = 0

    def __post_init__(self) -> None:
        self.parameters = dict(self.model.named_parameters())
        self.team = Team(self.processes, self.model, self.training, self.recipe)
        self.checkpoint = self.folder / "checkpoint.safetensors"

    def train(self, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Go on from the last checkpoint to the last step, or until `stopped`; whether it came to the end."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.team.start()
        try:
            return self.go_on(stopped)
        finally:
            self.team.stop()

    def go_on(self, stopped: Callable[[], bool]) -> bool:
        """The same, with the team at work."""
        self.resume()
        self.open_curves()
        self.began, self.first = time.monotonic(), self.step
        self.look()
        while self.step < self.plan.steps and not stopped():
            self.advance()
            self.look()
        self.write_checkpoint()
        finished = self.step >= self.plan.steps
        if finished:
            save_model(self.model, self.tokenizer, self.folder / "final")
        return finished

    def advance(self) -> None:
        """One step, and its line in loss.csv."""
        plan, recipe = self.plan, self.recipe
        rate = learning_rate(self.step, peak=recipe.rate, warmup=recipe.warmup, steps=plan.steps, decay=plan.decay)
        losses = self.team.step(self.step, rate)
        self.step += 1
        append(self.losses, [self.step, self.tokens(), rate, *losses])

    def tokens(self) -> int:
        return self.step * self.recipe.batch * self.recipe.length

    def look(self) -> None:
        """What is due after this step: validation, a model folder, a checkpoint."""
        plan, last = self.plan, self.step == self.plan.steps
        due = self.step != self.first or self.step == 0
        if due and (last or self.step % plan.validate_every == 0):
            self.validate()
        if due and self.step in plan.saved_steps():
            save_model(self.model, self.tokenizer, self.folder / "steps" / f"step-{self.step:07d}")
        if due and self.step and self.step % plan.checkpoint_every == 0:
            self.write_checkpoint()

    def validate(self) -> None:
        """A line of validation.csv, and the same on standard output."""
        found = evaluate(self.model, self.validation, self.plan.validation_examples)
        append(self.validations, [self.step, self.tokens(), *found])
        speed = (self.step - self.first) * self.recipe.batch * self.recipe.length / (time.monotonic() - self.began)
        named = dict(zip(VALIDATION_COLUMNS[2:], found, strict=True))
        print(f"step {self.step:,}", *(f"{n} {v:.4f}" for n, v in named.items()), f"{speed:,.0f} tokens/s", flush=True)

    def write_checkpoint(self) -> None:
        """Weights, optimizers' state, step and recipe in one file, put in place whole."""
        weights = {f"weights/{name}": p for name, p in self.parameters.items()}
        tensors = {n: t.detach().contiguous() for n, t in {**weights, **self.team.tensors()}.items()}
        started = self.checkpoint.with_suffix(".started")
        save_file(tensors, started, {"step": str(self.step), "recipe": json.dumps(self.identity())})
        with started.open("rb") as f:
            os.fsync(f.fileno())
        started.replace(self.checkpoint)

    def resume(self) -> None:
        """Take up the folder's checkpoint, if there is one."""
        if not self.checkpoint.exists():
            return
        with safe_open(self.checkpoint, "pt") as f:
            metadata = f.metadata()
            tensors = {name: f.get_tensor(name) for name in f.keys()}  # noqa: SIM118 (safe_open is no dict)
        if json.loads(metadata["recipe"]) != self.identity():
            raise SettingsError(
                "The checkpoint was made with other settings, another text or another model.",
                where=str(self.checkpoint),
                hint="Give the settings it was made with, or another --out.",
            )
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                parameter.copy_(tensors.pop(f"weights/{name}"))
        self.team.restore(tensors)
        self.step = int(metadata["step"])

    def identity(self) -> dict[str, object]:
        shapes = {name: list(p.shape) for name, p in self.parameters.items()}
        whole = {**asdict(self.recipe), "text": self.training.text.digest, "shapes": shapes}
        return json.loads(json.dumps(whole))  # type: ignore[no-any-return]

    def open_curves(self) -> None:
        self.losses = self.folder / "loss.csv"
        self.validations = self.folder / "validation.csv"
        last = self.step or -1  # step 0 is looked at again
        cut(self.losses, LOSS_COLUMNS, last)
        cut(self.validations, VALIDATION_COLUMNS, last)


def evaluate(model: BertForPreTraining, batches: Batches, examples: int) -> tuple[float, float, float, float]:
    """Masked-word loss and accuracy, next-sentence loss and accuracy, on the first `examples` of `batches`."""
    count = examples // batches.size
    if not count:
        raise SettingsError("--validation-examples is below one batch.", hint="Give at least the --batch.")
    model.eval()
    with torch.inference_mode():
        found = [scores(model, batches.batch(step)) for step in range(count)]
    columns = zip(*((s.mlm_loss, s.mlm_right, s.nsp_loss, s.nsp_right) for s in found), strict=True)
    mlm_loss, mlm_right, nsp_loss, nsp_right = (torch.stack(column).mean().item() for column in columns)
    return mlm_loss, mlm_right, nsp_loss, nsp_right


def append(path: Path, row: Sequence[float]) -> None:
    with path.open("a", newline="") as f:
        csv.writer(f).writerow(row)


def cut(path: Path, columns: Sequence[str], step: int) -> None:
    """Keep a curve's lines up to `step`: what a killed run wrote after its checkpoint is computed again."""
    lines = path.read_text().splitlines() if path.exists() else [",".join(columns)]
    if lines[0] != ",".join(columns):
        raise InputError("The loss curve has other columns.", where=str(path), hint="Give another --out.")
    kept = [line for line in lines[1:] if line.split(",")[0].isdigit() and int(line.split(",")[0]) <= step]
    started = path.with_suffix(".started")
    started.write_text("\n".join([lines[0], *kept, ""]))
    started.replace(path)
