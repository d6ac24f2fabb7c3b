"""Train the small decoder that ships with the app, from random weights.

python -m training.train_demo_decoder --out RUN --steps 4000 text-0.txt.xz text-1.txt
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: threads that spin starve their neighbors

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from bertviz_core.corpora.source import from_path
from training import checkpoints

BOS = "<|bos|>"
VOCABULARY = 4096
LENGTH = 256  # tokens of an input, the first of which is BOS
PARAGRAPHS_OF_VOCABULARY = 40_000  # the first paragraphs of the text, which the pieces are learned from
COPIED = 40, 127  # tokens of a passage that an input has twice
BFLOAT16 = bool(torch.cpu.get_capabilities().get("avx512_bf16"))
# The steps whose weights are kept: close together at first, when most changes.
KEPT = (0, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1200, 1400, 1600, 1800, 2000, 2500, 3000, 3500, 4000)


@dataclass(frozen=True)
class Recipe:
    """The settings of a run. `rate` is Muon's peak learning rate, `embedding_rate` AdamW's; both fall over the last
    `decay` of the steps."""

    steps: int
    batch: int = 32
    rate: float = 3e-3
    embedding_rate: float = 3e-3
    warmup: int = 100
    copies: float = 0.2
    seed: int = 0
    decay: float = 0.3

    def factor(self, step: int) -> float:
        """Multiplies the peak rates: it rises over `warmup`, stays level, then falls to a hundredth."""
        return min(1.0, (step + 1) / self.warmup) * max(0.01, min(1.0, (1 - step / self.steps) / self.decay))


def paragraphs(files: Sequence[Path]) -> Iterator[str]:
    """The paragraphs of files with one a line."""
    return (line.strip() for path in files for _, line in from_path(path).lines() if line.strip())


def learn_tokenizer(files: Sequence[Path]) -> Tokenizer:
    """Byte-level BPE of the first paragraphs, one BOS before a text and none between the texts of a pair."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=[BOS], initial_alphabet=alphabet)
    first = (text for _, text in zip(range(PARAGRAPHS_OF_VOCABULARY), paragraphs(files), strict=False))
    tokenizer.train_from_iterator(first, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A $B", special_tokens=[(BOS, 0)]
    )
    return tokenizer


def encode(tokenizer: Tokenizer, files: Sequence[Path]) -> np.ndarray:
    """The pieces of all paragraphs, one after another, each paragraph ended by a line break: (token,), uint16."""
    parts, block = list[np.ndarray](), list[str]()
    for number, text in enumerate(paragraphs(files)):
        block.append(text + "\n")
        if number % 1000 == 999:
            parts, block = [*parts, pieces(tokenizer, block)], []
    return np.concatenate([*parts, pieces(tokenizer, block)])


def pieces(tokenizer: Tokenizer, texts: list[str]) -> np.ndarray:
    """(token,), uint16, without special tokens."""
    encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
    return np.array([number for text in encoded for number in text.ids], np.uint16)


def make_batch(text: np.ndarray, recipe: Recipe, step: int) -> torch.Tensor:
    """The inputs of a step, (input, token): they depend on the text, the seed and the step alone.

    Each is BOS and a passage of the text; in a share `copies` of them a shorter passage comes twice.
    """
    rng = np.random.default_rng((recipe.seed, step))
    return torch.from_numpy(np.stack([draw_input(text, recipe, rng) for _ in range(recipe.batch)]))


def draw_input(text: np.ndarray, recipe: Recipe, rng: np.random.Generator) -> np.ndarray:
    """(token,), int64."""
    start = int(rng.integers(LENGTH, len(text) - LENGTH))
    passage = text[start : start + LENGTH - 1]
    if rng.random() < recipe.copies:
        length = int(rng.integers(COPIED[0], COPIED[1] + 1))
        before = int(rng.integers(0, LENGTH - 1 - 2 * length + 1))
        passage = np.concatenate([text[start - before : start + length], text[start : start + LENGTH]])[: LENGTH - 1]
    return np.concatenate([[0], passage.astype(np.int64)])


def new_model(seed: int) -> LlamaForCausalLM:
    """Llama's form: 4 layers of 8 heads, 256 wide, embeddings tied."""
    torch.manual_seed(seed)
    config: Any = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=640,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=8,
        max_position_embeddings=2 * LENGTH,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
    )
    return LlamaForCausalLM(config).train()


def loss_of(model: LlamaForCausalLM, inputs: torch.Tensor) -> torch.Tensor:
    """Mean loss of the next token, nats."""
    with torch.autocast("cpu", torch.bfloat16, enabled=BFLOAT16):
        logits = model(input_ids=inputs, use_cache=False).logits
    return cross_entropy(logits[:, :-1].float().flatten(0, 1), inputs[:, 1:].flatten())


def make_optimizers(parameters: checkpoints.Parameters, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, which learns more of a token than AdamW; AdamW for all else."""
    matrices = {name for name, p in parameters.items() if name.startswith("model.layers.") and p.ndim == 2}
    muon = [parameters[name] for name in parameters if name in matrices]
    others = [parameters[name] for name in parameters if name not in matrices]
    return [
        torch.optim.Muon(muon, lr=recipe.rate, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=recipe.embedding_rate, betas=(0.9, 0.95), weight_decay=0.01, fused=True),
    ]


class Run:
    """A training in a folder: text.npy, checkpoint.safetensors, and step-.../ (float16) for each step that is kept."""

    def __init__(self, folder: Path, files: Sequence[Path], recipe: Recipe) -> None:
        self.folder, self.recipe = folder, recipe
        settings = asdict(replace(recipe, steps=0))
        del settings["decay"]  # Like the number of steps, it may change when a run goes on.
        self.identity = json.dumps([settings, [from_path(f).digest for f in files]])
        self.text, self.tokenizer = self.prepare(files)
        self.model = new_model(recipe.seed)
        self.parameters = dict(self.model.named_parameters())
        self.optimizers = make_optimizers(self.parameters, recipe)
        self.checkpoint = folder / "checkpoint.safetensors"
        self.step = checkpoints.resume(self.checkpoint, self.parameters, self.optimizers, self.identity)

    def prepare(self, files: Sequence[Path]) -> tuple[np.ndarray, PreTrainedTokenizerFast]:
        """The text as pieces, and the tokenizer: made once for a folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        vocabulary, text = self.folder / "tokenizer.json", self.folder / "text.npy"
        if not text.exists():
            tokenizer = learn_tokenizer(files)
            tokenizer.save(str(vocabulary))
            np.save(text, encode(tokenizer, files))
        fast_tokenizer = PreTrainedTokenizerFast(
            tokenizer_file=str(vocabulary), bos_token=BOS, pad_token=BOS, model_max_length=LENGTH
        )
        return np.load(text, mmap_mode="r"), fast_tokenizer

    def train(self, checkpoint_every: int = 50) -> None:
        """Go on to the last step."""
        while self.step < self.recipe.steps:
            if self.step in KEPT:
                self.keep()
            loss = self.advance()
            if self.step % checkpoint_every == 0:
                print(f"step {self.step:,}: {loss:.3f} nats", flush=True)
                self.write_checkpoint()
        self.write_checkpoint()
        self.keep()

    def write_checkpoint(self) -> None:
        """Write what the run goes on from after a kill."""
        checkpoints.write(self.checkpoint, self.parameters, self.optimizers, self.step, self.identity)

    def advance(self) -> float:
        """One step; its loss."""
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = optimizer.defaults["lr"] * self.recipe.factor(self.step)
        loss = loss_of(self.model, make_batch(self.text, self.recipe, self.step))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.step += 1
        return loss.item()

    def keep(self) -> None:
        """The weights of this step, in float16, as transformers loads them."""
        folder = self.folder / f"step-{self.step:06d}"
        tensors = {name: p.detach().half() for name, p in self.parameters.items()}
        self.model.save_pretrained(folder, state_dict=tensors)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8")) | {"dtype": "float16"}
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        self.tokenizer.save_pretrained(folder)


def main(
    files: Annotated[list[Path], typer.Argument(help=".txt or .txt.xz: a paragraph a line.")],
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    steps: Annotated[int, typer.Option(help="Steps in all.")],
    batch: Annotated[int, typer.Option(help="Inputs in a step.")] = Recipe.batch,
    copies: Annotated[float, typer.Option(help="Share of the inputs that have a passage twice.")] = Recipe.copies,
    seed: Annotated[int, typer.Option(help="Of weights and batches.")] = Recipe.seed,
    decay: Annotated[float, typer.Option(help="Last share of the steps, over which rates fall.")] = Recipe.decay,
) -> None:
    """Train a decoder on text, or go on with a run that was stopped."""
    Run(out, files, Recipe(steps, batch, copies=copies, seed=seed, decay=decay)).train()


if __name__ == "__main__":
    typer.run(main)
