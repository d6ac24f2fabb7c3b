"""One GPU: the CPU's numbers, and how fast and in how much memory. Prints a table for benchmarks/README.md as it goes.

About a minute on a large GPU. Without one, `--device cpu --quick` runs every part on smaller models and fewer segments.
"""

import argparse
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from benchmarks import divergence
from benchmarks.surface_pass import bert, extract, notebook, read, segments_of
from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.base.registry import BUILT_IN
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.entropy import measure as entropy
from bertviz_core.analyses.run import compute
from bertviz_core.analyses.surface_patterns import measure as surface_patterns
from bertviz_core.corpora.files import FILES, SAMPLES, sample
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine import forward_pass
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import temporary_store
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.attention import register
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.models.loading import load_tokens, prepare
from bertviz_core.models.loss import BATCH_TOKENS, Targets, backward
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Execution, Settings

TOLERANCE = 1e-4  # between the devices
LIMITS = {"ablation": 2, "probes": 100}  # inputs; of the other analyses INPUTS
INPUTS = 40
QUICK_LIMITS = {"ablation": 1, "probes": 40}
QUICK_INPUTS = 4
RELEASE_SEGMENTS = 32  # its loops take half a second for each
QUICK_LAYERS = 2
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
LLAMA = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32}
QUICK_LLAMA = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 8}


class Bench:
    """The device, the segments, and the rows of the table."""

    def __init__(self, device: str, quick: bool) -> None:
        self.device = device
        self.quick = quick
        self.tokens = load_tokens(find_checkpoint("demo"))
        self.segments = segments_of(self.tokens, 16 if quick else 1000)
        name = torch.cuda.get_device_name() if device == "cuda" else device
        print(f"{name}, torch {torch.__version__}{', quick: small models' * quick}\n\n| what | |\n| --- | --- |")

    def row(self, what: str, text: str) -> None:
        print(f"| {what} | {text} |", flush=True)

    def seconds(self, work: Callable[[], Any]) -> float:
        """Of one run, after another one that is not timed."""
        work()
        self.wait()
        start = time.perf_counter()
        work()
        self.wait()
        return time.perf_counter() - start

    def wait(self) -> None:
        if self.device != "cpu":
            torch.get_device_module(self.device).synchronize()

    @contextmanager
    def memory(self) -> Iterator[Callable[[], str]]:
        """Gives a text of the most memory that PyTorch has taken of the GPU since."""
        if self.device != "cuda":
            yield lambda: "memory measured on CUDA alone"
            return
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        yield lambda: f"peak {torch.cuda.max_memory_allocated() / 1e9:.2f} GB"

    def bert(self, dtype: str = "float32", *, predicts: bool = False) -> AttentionModel:
        """BERT-base's shape; `quick`, fewer layers of it."""
        from transformers import BertConfig, BertForMaskedLM

        checkpoint = find_checkpoint("demo")
        layers = QUICK_LAYERS if self.quick else 12
        if predicts:
            torch.manual_seed(0)
            config = BertConfig(attn_implementation=register(), num_hidden_layers=layers)
            return prepare(BertForMaskedLM(config), self.tokens, checkpoint, self.device, predicts=True)
        loaded = bert(self.tokens, register(), layers).to(getattr(torch, dtype))
        return prepare(loaded, self.tokens, checkpoint, self.device)


def sums_of(model: AttentionModel) -> list[SegmentSums]:
    shape = (model.layers, model.heads, model.device)
    return [SegmentSums(part.QUANTITIES, part.measure, *shape) for part in (surface_patterns, entropy)]


def means_after(model: AttentionModel, segments: list[Encoded], batch_tokens: int | None = None) -> np.ndarray:
    """(quantity, layer, head) of both analyses, by one pass."""
    sums = sums_of(model)
    forward_pass.run(model, segments, sums, Progress(), batch_tokens)
    return np.concatenate([part.result()["mean"] for part in sums])


def equality(bench: Bench) -> None:
    """Every analysis of the demo model on its sample, on the CPU and on the device."""
    for name, analysis in BUILT_IN.items():
        corpus = sample(next(iter(SAMPLES[analysis.corpus])))
        inputs = QUICK_LIMITS.get(name, QUICK_INPUTS) if bench.quick else LIMITS.get(name, INPUTS)
        settings = analysis.relevant(Settings(limit=inputs))
        options = {"epochs": 1, "seeds": 1, "optimizer": "adam"} if name == "probes" else {}
        request = Request(name, find_checkpoint("demo"), corpus, settings, options)
        here, there = (compute.compute(request, None, Execution(each)).arrays() for each in ("cpu", bench.device))
        numeric = {key: np.asarray(value) for key, value in here.items() if np.asarray(value).dtype.kind in "fiu"}
        gaps = [np.nanmax(np.abs(value - np.asarray(there[key])), initial=0) for key, value in numeric.items()]
        gap = float(max(gaps))
        bench.row(f"{name}: farthest from the CPU", f"{gap:.1e}{'' if gap <= TOLERANCE else ' TOO FAR'}")


def surface(bench: Bench) -> None:
    """Surface patterns and entropy: the one pass, its forward alone, and the release's way."""
    count = len(bench.segments)
    for dtype in ("float32", "bfloat16"):
        model = bench.bert(dtype)
        with bench.memory() as memory:
            ours = bench.seconds(lambda model=model: means_after(model, bench.segments))
            peak = memory()
        bare = bench.seconds(lambda model=model: forward_pass.run(model, bench.segments, [], Progress()))
        text = f"{ours:.2f} s, {ours / bare:.2f} of the forward alone ({bare:.2f} s), {peak}"
        bench.row(f"surface patterns and entropy, {count:,} segments, {dtype}", text)
    few = bench.segments[:RELEASE_SEGMENTS]
    encoder = bert(bench.tokens, "eager", QUICK_LAYERS if bench.quick else 12).eval().to(bench.device)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "attn.pkl"
        start = time.perf_counter()
        extract(encoder, bench.tokens, few, path)
        notebook(read(path))
        each = (time.perf_counter() - start) / len(few)
    bench.row("the release's way, float32, as many", f"{each * count:.1f} s (from {len(few)})")


def whole(bench: Bench) -> None:
    """From a saved model and a text to a stored result: reading, tokenizing, hashing and chunks besides the pass."""
    from transformers import BertConfig, BertModel

    text = FILES["encyclopedia"].read_bytes()
    limit = 16 if bench.quick else 1000
    with TemporaryDirectory() as folder, temporary_store() as store:
        torch.manual_seed(0)
        BertModel(BertConfig(num_hidden_layers=QUICK_LAYERS if bench.quick else 12)).save_pretrained(folder)
        for file in TOKENIZER_FILES:
            shutil.copy(find_checkpoint("demo").folder / file, folder)
        corpus = from_bytes(b"\n\n".join([text] * 20), "text.txt")
        seconds = list[float]()
        for count in (8, limit):  # the first one is not shown: it loads libraries
            request = Request("surface_patterns", find_checkpoint(folder), corpus, Settings(limit=count))
            start = time.perf_counter()
            compute.compute(request, store, Execution(bench.device))
            seconds.append(time.perf_counter() - start)
    bench.row(f"surface patterns from files to the stored result, {limit:,} segments", f"{seconds[-1]:.2f} s")


def divergences(bench: Bench) -> None:
    """How fast, how far from the CPU, and whether two runs have the same bits."""
    rate, each = divergence.on_device(bench.device, 1 if bench.quick else 64)
    share = ""
    if bench.device == "cuda":
        limit = divergence.special_function_limit()
        share = f", {rate / limit:.0%} of the special-function limit ({limit:.2e})"
    bench.row("divergences", f"{rate:.2e} logarithms a second{share}; {1000 * each:.2f} s for 1,000 segments")
    here, *there = (divergence.sums_on(device) for device in ("cpu", bench.device, bench.device))
    gap = float(np.abs(there[0] - here).max()) / divergence.TOKENS
    bits = "the same bits twice" if (there[0] == there[1]).all() else "OTHER BITS the second time"
    bench.row("divergences: farthest from the CPU", f"{gap:.1e} nats a token, {bits}")


def gradients(bench: Bench) -> None:
    """Forward and back, against the forward alone."""
    model = bench.bert(predicts=True)
    segments = bench.segments[: 8 if bench.quick else 256]
    passing = partial(backward, targets=Targets(bench.tokens, 0))
    with bench.memory() as memory:
        back = bench.seconds(lambda: forward_pass.run(model, segments, [], Progress(), BATCH_TOKENS, passing))
        peak = memory()
    bare = bench.seconds(lambda: forward_pass.run(model, segments, [], Progress(), BATCH_TOKENS))
    bench.row(f"gradients, {len(segments)} segments", f"{back:.2f} s, {back / bare:.1f} of a forward pass, {peak}")


def llama(bench: Bench) -> None:
    """A decoder of Llama's shape with about 1 billion weights, in bfloat16."""
    from transformers import AutoModel, LlamaConfig

    torch.manual_seed(0)
    sizes = QUICK_LLAMA if bench.quick else LLAMA
    config = LlamaConfig(vocab_size=128_256 if not bench.quick else 32_000, num_key_value_heads=8, **sizes)
    with bench.memory() as memory:
        with torch.device(bench.device):
            loaded = AutoModel.from_config(config, attn_implementation=register(), dtype=torch.bfloat16)
        tokens = Tokens(bench.tokens.tokenizer, one_text=True)
        model = prepare(loaded, tokens, find_checkpoint("demo"), bench.device)
        size = sum(each.numel() for each in loaded.parameters())
        weights = memory()
        segments = bench.segments[:256]
        taken = bench.seconds(lambda: means_after(model, segments, 16_384))
        rate = sum(map(len, segments)) / taken
        text = f"{size / 1e9:.2f} billion weights, {weights}; then {rate:,.0f} tokens a second, {memory()}"
    bench.row("Llama's shape, bfloat16", text)


def halving(bench: Bench) -> None:
    """A batch that does not fit: the result of batches that do."""
    model = bench.bert()
    segments = bench.segments[:256]
    expected = means_after(model, segments, 2_048)
    sizes = list[int]()
    with no_room(bench.device, sizes):
        got = means_after(model, segments, 32_768)
    gap = float(np.nanmax(np.abs(got - expected)))
    text = f"batches of up to {max(sizes)} segments went through; {gap:.1e} from batches that fit"
    bench.row(f"{len(segments)} segments without room", text)


@contextmanager
def no_room(device: str, sizes: list[int]) -> Iterator[None]:
    """Little of a GPU's memory may be used; elsewhere a batch of over 8 segments fails. Notes what went through."""
    forward = forward_pass.forward

    def limited(model: AttentionModel, batch: Any, *observers: Any) -> None:
        if device != "cuda" and len(batch.examples) > 8:
            raise torch.OutOfMemoryError("no room, for this benchmark")
        forward(model, batch, *observers)
        sizes.append(len(batch.examples))

    forward_pass.forward = limited
    if device == "cuda":
        torch.cuda.empty_cache()
        whole = torch.cuda.mem_get_info()[1]
        room = torch.cuda.memory_allocated() + 400_000_000  # less than the maps of 256 segments take
        torch.cuda.set_per_process_memory_fraction(room / whole)
    try:
        yield
    finally:
        forward_pass.forward = forward
        if device == "cuda":
            torch.cuda.set_per_process_memory_fraction(1.0)


PARTS = {part.__name__: part for part in (equality, surface, whole, divergences, gradients, llama, halving)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=["cuda", "mps", "cpu"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    options = parser.parse_args()
    bench = Bench(options.device, options.quick)
    for name in options.parts:
        start = time.perf_counter()
        PARTS[name](bench)
        bench.row(f"{name}, all of it", f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
