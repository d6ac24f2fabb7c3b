"""Chunks and workers: what cutting costs, what a second worker gains, and results with workers killed at random.

OMP_NUM_THREADS=1 python -m benchmarks.chunks overhead|workers|faults
"""

import argparse
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.harness import Work, alternate, ratio, table

ROOT = Path(__file__).parents[1]
TEXT = ROOT / "bertviz_core/assets/corpora/encyclopedia.txt"
BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}


def one_pass(tokens: int, copies: int) -> Work:
    """Surface patterns and entropy of the sample, several times over, with the demo model, in chunks of that size."""
    from bertviz_core.analyses.base.request import Request
    from bertviz_core.analyses.run.compute import compute
    from bertviz_core.corpora.source import from_bytes
    from bertviz_core.engine.store import Store
    from bertviz_core.inputs import encoded_corpus
    from bertviz_core.models import checkpoint, loading

    encoded_corpus.CHUNK_TOKENS = tokens
    source = from_bytes((TEXT.read_bytes() + b"\n\n") * copies, "text")
    found = checkpoint.find_checkpoint("demo")
    model = loading.load(found, "cpu")
    folder = Path(tempfile.mkdtemp())
    store = Store(folder, shipped=folder)
    return lambda: compute(Request("surface_patterns", found, source), store, model=model).provenance["tokens"]


def cluster_pass(folder: str, workers: int, tokens: int, limit: int) -> Work:
    """The same pass of a model of BERT-base's shape by workers of one thread each; loading is not timed."""
    from bertviz_core.analyses.base.request import Request
    from bertviz_core.analyses.run.ray_runner import RayRunner
    from bertviz_core.analyses.run.run_pass import compute_pass
    from bertviz_core.corpora.files import sample
    from bertviz_core.engine.progress import Progress
    from bertviz_core.inputs import encoded_corpus
    from bertviz_core.models import checkpoint
    from bertviz_core.settings import Execution, Settings

    encoded_corpus.CHUNK_TOKENS = tokens
    request = Request(
        "surface_patterns", checkpoint.find_checkpoint(folder), sample("encyclopedia"), Settings(limit=limit)
    )
    cluster = RayRunner(Execution("cpu", workers=workers))
    cluster.start([request], Progress())

    def work() -> None:
        with cluster:
            compute_pass([request], None, cluster, Progress())

    return work


def faults(runs: int) -> None:
    """Each run's workers are killed at a random moment; all results are compared."""
    import psutil

    from bertviz_core.analyses.base.request import Request
    from bertviz_core.analyses.run.ray_runner import RayRunner
    from bertviz_core.analyses.run.run_pass import compute_pass
    from bertviz_core.corpora.files import sample
    from bertviz_core.engine.progress import Progress
    from bertviz_core.inputs import encoded_corpus
    from bertviz_core.models import checkpoint
    from bertviz_core.settings import Execution, Settings

    encoded_corpus.CHUNK_TOKENS = 1_000
    request = Request(
        "surface_patterns", checkpoint.find_checkpoint("demo"), sample("encyclopedia"), Settings(limit=120)
    )
    results, killed = set(), 0
    with RayRunner(Execution("cpu", workers=2)) as cluster:
        for run in range(runs):
            cluster.start([request], Progress())
            moment = random.Random(run).uniform(0, 4)

            def kill(moment: float = moment) -> None:
                nonlocal killed
                time.sleep(moment)
                for process in psutil.Process().children(recursive=True):
                    if "ray::ChunkWorker" in " ".join(process.cmdline()):
                        os.kill(process.pid, signal.SIGKILL)
                        killed += 1
                        return

            killer = threading.Thread(target=kill)
            killer.start()
            started = time.monotonic()
            (result,) = compute_pass([request], None, cluster, Progress())
            print(f"run {run}: killed after {moment:.2f} s, done after {time.monotonic() - started:.2f} s", flush=True)
            results.add(result.to_bytes())
            killer.join()
    print(f"{runs} runs, {killed} workers killed, {len(results)} different results")


def base_model(folder: Path) -> str:
    """A random model of BERT-base's shape with the demo's tokenizer."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    from bertviz_core.models.checkpoint import DEMO_FOLDER

    tokenizer = BertTokenizerFast.from_pretrained(DEMO_FOLDER)
    BertModel(BertConfig(vocab_size=30_522, **BASE)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=("overhead", "workers", "faults"))
    parser.add_argument("--copies", type=int, default=8, help="of the sample text")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=2_048, help="of a chunk, for `workers`")
    parser.add_argument("--limit", type=int, default=128, help="segments, for `workers`")
    options = parser.parse_args()
    if options.which == "overhead":
        from bertviz_core.inputs.encoded_corpus import CHUNK_TOKENS

        sizes = {"chunks": CHUNK_TOKENS, "one chunk": 10**9}
        sides = {name: (one_pass, (tokens, options.copies)) for name, tokens in sizes.items()}
        costs = alternate(sides, options.repeats)
        print(table(costs))
        print(f"{100 * (ratio(costs['chunks'], costs['one chunk'], 'cpu') - 1):+.1f}% CPU (required: at most +3%)")
    elif options.which == "workers":
        with tempfile.TemporaryDirectory() as folder:
            model = base_model(Path(folder))
            sides = {f"{n} workers": (cluster_pass, (model, n, options.tokens, options.limit)) for n in (1, 2)}
            costs = alternate(sides, options.repeats)
        print(table(costs))
        print(f"{ratio(costs['1 workers'], costs['2 workers'], 'wall'):.2f} times faster by wall (required: 1.7)")
    else:
        faults(options.runs)


if __name__ == "__main__":
    main()
