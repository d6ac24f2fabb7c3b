"""Fine-tune a small pretrained encoder on BERT's two objectives, masked words and next sentences.

python -m training.finetune_demo_bert --start ENCODER --out RUN --steps 3000 text-0.txt.xz text-1.txt
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: threads that spin starve their neighbors

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from torch.nn.functional import cross_entropy
from transformers import BertForPreTraining, BertTokenizer, DataCollatorForLanguageModeling

from bertviz_core.corpora.source import from_path
from bertviz_core.errors import InputError
from training import checkpoints

SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z\"'])")
MAX_SENTENCES = 3, 6  # sentences of A and of B
DECAY = 0.6  # the last part of the steps, over which the rates fall to 0
# Attention written out, whose backward pass is faster on a CPU than the fused one's; no dropout.
PLAIN: Any = {"attn_implementation": "eager", "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
BFLOAT16 = bool(torch.cpu.get_capabilities().get("avx512_bf16"))
Batch = tuple[dict[str, torch.Tensor], torch.Tensor]  # inputs with labels; is B of another document?


@dataclass(frozen=True)
class Recipe:
    """The settings of a run. `rate` is the peak learning rate of the two new heads."""

    steps: int
    batch: int = 16
    length: int = 128
    rate: float = 5e-4
    encoder_rate: float = 1.5e-4
    warmup: int = 50
    seed: int = 0

    def factor(self, step: int) -> float:
        """Multiplies the peak rates: it rises over `warmup`, stays level, then falls to 0."""
        return min(1.0, (step + 1) / self.warmup) * min(1.0, (1 - step / self.steps) / DECAY)


def read_documents(files: Sequence[Path]) -> list[list[str]]:
    """The documents of two sentences or more of files with one paragraph a line and empty lines between documents."""
    documents: list[list[str]] = [[]]
    for path in files:
        for paragraph in [*(line.strip() for _, line in from_path(path).lines()), ""]:
            if paragraph:
                documents[-1] += SENTENCE_END.split(paragraph)
            elif documents[-1]:
                documents.append([])
    documents = [sentences for sentences in documents if len(sentences) > 1]
    if len(documents) < 2:
        raise InputError("Next-sentence pairs need two documents.", hint="Put an empty line between documents.")
    return documents


def draw_pair(documents: list[list[str]], rng: np.random.Generator) -> tuple[str, str, bool]:
    """A, then what follows it or, half the time, text of another document; whether it is the latter."""
    number = int(rng.integers(len(documents)))
    sentences = documents[number]
    first = int(rng.integers(len(sentences) - 1))
    middle = int(rng.integers(first + 1, min(first + MAX_SENTENCES[0], len(sentences) - 1) + 1))
    following, is_random = sentences[middle:], bool(rng.random() < 0.5)
    if is_random:
        other = documents[(number + int(rng.integers(1, len(documents)))) % len(documents)]
        following = other[int(rng.integers(len(other))) :]
    return " ".join(sentences[first:middle]), " ".join(following[: MAX_SENTENCES[1]]), is_random


def make_batch(documents: list[list[str]], tokenizer: BertTokenizer, recipe: Recipe, step: int) -> Batch:
    """The segments `[CLS] A [SEP] B [SEP]` of a step: they depend on the text, the seed and the step alone.

    15% of the words are masked (80% `[MASK]`, 10% a random wordpiece, 10% kept). Inputs and labels: (segment, token),
    labels -100 where nothing is masked; then (segment,), 1 where B does not follow A.
    """
    rng = np.random.default_rng((recipe.seed, step))
    first, second, is_random = zip(*(draw_pair(documents, rng) for _ in range(recipe.batch)), strict=True)
    encoded = tokenizer(first, second, truncation=True, max_length=recipe.length, return_special_tokens_mask=True)
    segments = [{name: values[row] for name, values in encoded.items()} for row in range(recipe.batch)]
    collate = DataCollatorForLanguageModeling(tokenizer, seed=int(rng.integers(2**31)))
    return dict(collate(segments)), torch.tensor(is_random).long()


def load_model(folder: Path, seed: int) -> BertForPreTraining:
    """The model of a folder; a bare encoder gets new heads, whose transform begins as the identity."""
    torch.manual_seed(seed)
    loaded: Any = BertForPreTraining.from_pretrained(folder, dtype=torch.float32, output_loading_info=True, **PLAIN)
    model, report = loaded
    if "cls.predictions.transform.dense.weight" in report["missing_keys"]:
        torch.nn.init.eye_(model.cls.predictions.transform.dense.weight)
    return model.train()


def losses(model: BertForPreTraining, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean masked-word and next-sentence loss, nats; words are decoded at the masked positions only."""
    inputs, is_random = batch
    labels, masked = inputs["labels"], inputs["labels"] != -100
    with torch.autocast("cpu", torch.bfloat16, enabled=BFLOAT16):
        output = model.bert(**{name: values for name, values in inputs.items() if name != "labels"})
        words = model.cls.predictions(output.last_hidden_state[masked]).float()
        following = model.cls.seq_relationship(output.pooler_output).float()
    return cross_entropy(words, labels[masked]), cross_entropy(following, is_random)


class Run:
    """A training in a folder: checkpoint.safetensors, and model/ (float32) at the end."""

    def __init__(self, folder: Path, start: Path, files: Sequence[Path], recipe: Recipe) -> None:
        self.folder, self.recipe = folder, recipe
        self.identity = json.dumps([asdict(recipe) | {"steps": 0}, str(start), [from_path(f).digest for f in files]])
        self.documents = read_documents(files)
        self.tokenizer = BertTokenizer.from_pretrained(start)
        self.model = load_model(start, recipe.seed)
        self.parameters = dict(self.model.named_parameters())
        heads = [p for name, p in self.parameters.items() if name.startswith("cls.")]  # the decoder is the embeddings
        peaks = (heads, recipe.rate), (list(self.model.bert.parameters()), recipe.encoder_rate)
        groups = [{"params": parameters, "peak": peak} for parameters, peak in peaks]
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
        self.checkpoint = folder / "checkpoint.safetensors"
        self.step = checkpoints.resume(self.checkpoint, self.parameters, [self.optimizer], self.identity)

    def train(self, checkpoint_every: int = 100) -> None:
        """Go on to the last step."""
        while self.step < self.recipe.steps:
            words, following = self.advance()
            if self.step % checkpoint_every == 0:
                print(f"step {self.step:,}: masked words {words:.3f} nats, next sentence {following:.3f}", flush=True)
                self.write_checkpoint()
        self.write_checkpoint()
        self.model.save_pretrained(self.folder / "model")
        self.tokenizer.save_pretrained(self.folder / "model")

    def advance(self) -> tuple[float, float]:
        """One step; its two losses."""
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * self.recipe.factor(self.step)
        words, following = losses(self.model, make_batch(self.documents, self.tokenizer, self.recipe, self.step))
        self.optimizer.zero_grad()
        (words + following).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return words.item(), following.item()

    def write_checkpoint(self) -> None:
        """Write what the run goes on from after a kill."""
        checkpoints.write(self.checkpoint, self.parameters, [self.optimizer], self.step, self.identity)


def main(
    files: Annotated[list[Path], typer.Argument(help=".txt or .txt.xz: a paragraph a line, documents apart.")],
    start: Annotated[Path, typer.Option(help="Folder of the encoder, or of a model to go on from.")],
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    steps: Annotated[int, typer.Option(help="Steps in all; the rates fall to 0 over the last 60%.")],
    batch: Annotated[int, typer.Option(help="Segments in a step.")] = Recipe.batch,
    length: Annotated[int, typer.Option(help="Tokens in a segment.")] = Recipe.length,
    rate: Annotated[float, typer.Option(help="Peak learning rate of the new heads.")] = Recipe.rate,
    encoder_rate: Annotated[float, typer.Option(help="The same of the encoder.")] = Recipe.encoder_rate,
) -> None:
    """Fine-tune an encoder on masked words and next sentences, or go on with a run that was stopped."""
    Run(out, start, files, Recipe(steps, batch, length, rate, encoder_rate)).train()


if __name__ == "__main__":
    typer.run(main)
