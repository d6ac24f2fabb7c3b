"""Pre-train a small BERT from text files: masked words and next sentences.

    python -m training.pretrain_demo_bert --out FOLDER --cache FOLDER --valid valid.txt text.txt more.txt.xz

Run the same command again after a kill and it goes on from its last checkpoint.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: threads that spin starve their neighbours

import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import torch
import typer
from transformers import BertTokenizer
from transformers.utils.logging import disable_progress_bar

from bertviz_core.errors import BertvizError, SettingsError
from training.batches import Batches
from training.loop import Run
from training.model import Shape, continued_model, new_model
from training.penalty import EntropyPenalty
from training.recipe import Plan, Recipe
from training.text import load_text, train_vocabulary, whole_folder


def pretrain(
    text: Annotated[list[Path], typer.Argument(help=".txt or .txt.xz, a paragraph a line, documents apart.")],
    valid: Annotated[Path, typer.Option(help="Held-out text of the same form.")],
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    cache: Annotated[Path, typer.Option(help="Folder of the tokenised text, outside the repository.")],
    init: Annotated[Path | None, typer.Option(help="A model folder to continue from.")] = None,
    layers: Annotated[int, typer.Option(help="Of a new model.")] = 6,
    heads: Annotated[int, typer.Option(help="Of a new model.")] = 8,
    width: Annotated[int, typer.Option(help="Of a new model.")] = 256,
    positions: Annotated[int, typer.Option(help="Of a new model.")] = 128,
    vocabulary: Annotated[int, typer.Option(help="WordPieces of a new model.")] = 16_384,
    batch: Annotated[int, typer.Option(help="Segments in a step.")] = 32,
    length: Annotated[int, typer.Option(help="Tokens in a segment.")] = 128,
    rate: Annotated[float, typer.Option(help="Peak learning rate.")] = 1.2e-3,
    warmup: Annotated[int, typer.Option(help="First steps, over which the rate rises.")] = 200,
    steps: Annotated[int, typer.Option(help="Steps in all; fewer on a later call end the run early.")] = 10_000,
    decay: Annotated[int, typer.Option(help="Last steps, over which the rate falls to 0.")] = 5_000,
    validate_every: Annotated[int, typer.Option(help="Steps.")] = 1_000,
    validation_examples: Annotated[int, typer.Option(help="Held-out segments.")] = 1_024,
    checkpoint_every: Annotated[int, typer.Option(help="Steps.")] = 250,
    save_at: Annotated[int, typer.Option(help="Keep float16 models at about this many log-spaced steps.")] = 0,
    seed: Annotated[int, typer.Option(help="Of the weights, the order of the text and the masks.")] = 0,
    micro_batches: Annotated[int, typer.Option(help="Equal parts of a step; processes share them.")] = 2,
    processes: Annotated[int, typer.Option(help="That share the micro-batches of a step, one thread each.")] = 1,
    query_key_rate: Annotated[
        float | None, typer.Option(help="Peak rate of AdamW on the queries' and keys' matrices; without it, Muon's.")
    ] = None,
    entropy: Annotated[
        str | None, typer.Option(help="Weight of the penalty on the entropy of attention, by layer: 0,0,.01,.01.")
    ] = None,
    band: Annotated[tuple[float, float], typer.Option(help="In nats: entropies inside are left alone.")] = (0.7, 1.6),
    threads: Annotated[int | None, typer.Option(help="CPU threads of one process.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """Pre-train a small BERT from text files, or go on with a run that was stopped."""
    disable_progress_bar()
    if threads is not None or processes > 1:
        torch.set_num_threads(threads or 1)
    tokenizer = find_tokenizer(text, out, init, vocabulary, positions)
    shape = Shape(layers, heads, width, positions)
    model = continued_model(init) if init else new_model(shape, len(tokenizer), seed)
    torch.nn.Module.to(model, device)
    penalty = find_penalty(entropy, band)
    recipe = Recipe(batch, length, rate, warmup, seed, micro_batches, query_key_rate, penalty)
    recipe.check(processes, model.config.num_hidden_layers)
    plan = Plan(steps, decay, validate_every, validation_examples, checkpoint_every, save_at)
    run = Run(
        out,
        model,
        tokenizer,
        Batches(load_text(text, tokenizer, cache), batch // micro_batches, length, len(tokenizer), seed),
        Batches(load_text([valid], tokenizer, cache), batch, length, len(tokenizer), seed=0),
        recipe,
        plan,
        processes,
    )
    finished = run.train(stop_signal())
    print(f"{'Finished' if finished else 'Stopped'} at step {run.step:,}, {run.tokens():,} tokens.", flush=True)


def find_penalty(entropy: str | None, band: tuple[float, float]) -> EntropyPenalty | None:
    """The penalty of the options, None without weights."""
    if entropy is None:
        return None
    try:
        weights = tuple(float(weight) for weight in entropy.split(","))
    except ValueError as error:
        raise SettingsError(
            f"--entropy {entropy} is no list of weights.", hint="Give one number for each layer, separated by commas."
        ) from error
    return EntropyPenalty(weights, *band)


def find_tokenizer(text: list[Path], out: Path, init: Path | None, size: int, positions: int) -> BertTokenizer:
    """The run's own vocabulary: that of `init`, or trained on the text once and kept in the run's folder."""
    folder = init or out / "tokenizer"
    if not folder.exists():
        with whole_folder(folder) as started:
            train_vocabulary(text, size, positions).save_pretrained(started)
    return BertTokenizer.from_pretrained(folder)


def stop_signal() -> Callable[[], bool]:
    """Becomes true at SIGTERM or SIGINT: the run then writes a checkpoint and ends."""
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    return stopped.is_set


def main() -> None:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(pretrain)
    try:
        app(standalone_mode=False)
    except BertvizError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
