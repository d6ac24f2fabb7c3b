"""Chunks and workers: what cutting costs, what a second worker gains, how many workers one driver keeps busy, the
driver's memory, and results with workers killed at random moments.

    OMP_NUM_THREADS=1 python -m benchmarks.chunks overhead --against OTHER_CHECKOUT
    python -m benchmarks.chunks workers|driver|memory|faults
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import Work, alternate, measure, ratio, table

ROOT = Path(__file__).parents[1]
TEXT = ROOT / "bertviz_core/assets/corpora/encyclopedia.txt"
BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
SLEEP = 0.2  # seconds of a simulated chunk
CHUNK_BYTES = 300_000


def one_pass(root: Path, copies: int) -> Work:
    """Surface patterns and entropy of the sample, several times over, with the demo model, by the checkout `root`."""
    sys.path.insert(0, str(root))
    import bertviz_core

    assert Path(bertviz_core.__file__).is_relative_to(root)
    from bertviz_core.analyses.request import Request
    from bertviz_core.analyses.requests import compute
    from bertviz_core.corpora.source import from_bytes
    from bertviz_core.engine.store import Store
    from bertviz_core.models import checkpoint, loading

    source = from_bytes((TEXT.read_bytes() + b"\n\n") * copies, "text")
    found = checkpoint.find("demo")
    model = loading.load(found, "cpu")
    folder = Path(tempfile.mkdtemp())
    store = Store(folder, shipped=folder)
    return lambda: compute(Request("surface_patterns", found, source), store, model=model).provenance["tokens"]


def cluster_pass(folder: str, workers: int, tokens: int, limit: int) -> Work:
    """The same pass of a model of BERT-base's shape by workers of one thread each; loading is not timed."""
    from bertviz_core.analyses.model_pass import compute_pass
    from bertviz_core.analyses.request import Request
    from bertviz_core.analyses.worker_pass import Cluster
    from bertviz_core.corpora.files import sample
    from bertviz_core.engine.progress import Progress
    from bertviz_core.models import checkpoint, reading
    from bertviz_core.settings import Execution, Settings

    reading.CHUNK_TOKENS = tokens
    request = Request("surface_patterns", checkpoint.find(folder), sample("encyclopedia"), Settings(limit=limit))
    cluster = Cluster(Execution("cpu", workers=workers))
    cluster.start([request], Progress())

    def work() -> None:
        with cluster:
            compute_pass([request], None, cluster, Progress())

    return work


def simulated(workers: int, count: int, seconds: float) -> Work:
    """A driver with simulated workers, that merges sums of BERT-base's shape and saves them to a store."""
    import torch

    from benchmarks.simulated_worker import Simulated
    from bertviz_core.analyses.averages import SegmentAverages
    from bertviz_core.analyses.chunks import ChunkPass
    from bertviz_core.analyses.request import Request
    from bertviz_core.corpora.files import sample
    from bertviz_core.corpora.skipped import Skipped
    from bertviz_core.corpora.source import WHOLE
    from bertviz_core.engine.pool import Pool
    from bertviz_core.engine.progress import Progress
    from bertviz_core.engine.store import Store
    from bertviz_core.engine.task_queue import Task
    from bertviz_core.models import checkpoint
    from bertviz_core.models.reading import Chunk, Index

    torch.set_num_threads(1)
    state = _state()
    index = Index({}, Skipped(), tuple(Chunk(number, WHOLE, 0, 528) for number in range(count)))
    folder = Path(tempfile.mkdtemp())
    request = Request("surface_patterns", checkpoint.find("demo"), sample("encyclopedia"))
    chunks = ChunkPass([request], index, _shape(), Store(folder, shipped=folder), "simulated")
    assert isinstance(chunks.sums[0].total, SegmentAverages)

    pool = Pool(Simulated, workers, "", "cpu")
    while len(pool.workers) < workers:  # all of them, however long they take to start
        pool.gather(Progress())
        time.sleep(0.1)
    pool.prepare(Progress(), "take_state", state)

    def tasks() -> Iterator[Task]:
        for number in range(count):
            yield Task(number, (seconds, bytes(CHUNK_BYTES)))

    def work() -> float:
        started = time.monotonic()
        pool.run("compute", tasks(), lambda task, answer: chunks.take(task.number, [0], [answer]), Progress())
        wall = time.monotonic() - started
        assert chunks.sums[0].done == count
        pool.close()
        return count * seconds / (workers * wall)

    return work


def _shape() -> Any:
    from bertviz_core.models import checkpoint
    from bertviz_core.models.model import AttentionModel

    return AttentionModel(checkpoint.find("demo"), None, None, "cpu", 12, 12, True)  # type: ignore[arg-type]


def _state() -> bytes:
    """What surface patterns sum over a chunk of 528 segments in a model of BERT-base's shape."""
    import numpy as np
    import torch

    from bertviz_core.analyses.registry import ANALYSES
    from bertviz_core.analyses.request import Request
    from bertviz_core.corpora.files import sample
    from bertviz_core.models import checkpoint
    from bertviz_core.models.encoding import Encoded

    request = Request("surface_patterns", checkpoint.find("demo"), sample("encyclopedia"))
    sums = ANALYSES["surface_patterns"].accumulator(_shape(), request)
    part = sums.fresh()
    numbers = torch.arange(528)
    for layer in range(12):
        part.add(layer, torch.rand(528, 12, len(sums.quantities)), numbers)
    ids = np.arange(124)
    part.examples = {number: Encoded(number, f"line {number}", ids, 0 * ids) for number in range(528)}
    sums.merge(part)
    return sums.to_bytes()


def faults(runs: int) -> None:
    """Each run's workers are killed at a random moment; all results are compared."""
    import psutil

    from bertviz_core.analyses.model_pass import compute_pass
    from bertviz_core.analyses.request import Request
    from bertviz_core.analyses.worker_pass import Cluster
    from bertviz_core.corpora.files import sample
    from bertviz_core.engine.progress import Progress
    from bertviz_core.models import checkpoint, reading
    from bertviz_core.settings import Execution, Settings

    reading.CHUNK_TOKENS = 1_000
    request = Request("surface_patterns", checkpoint.find("demo"), sample("encyclopedia"), Settings(limit=120))
    results, killed = set(), 0
    with Cluster(Execution("cpu", workers=2)) as cluster:
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
    parser.add_argument("which", choices=("overhead", "workers", "driver", "memory", "faults"))
    parser.add_argument("--against", type=Path, help="another checkout, of a commit before chunks")
    parser.add_argument("--copies", type=int, default=8, help="of the sample text")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=50, help="chunks for each worker, for `driver`")
    parser.add_argument("--tokens", type=int, default=2_048, help="of a chunk, for `workers`")
    parser.add_argument("--limit", type=int, default=128, help="segments, for `workers`")
    options = parser.parse_args()
    if options.which == "overhead":
        sides = {"chunks": (one_pass, (ROOT, options.copies))}
        sides["before"] = (one_pass, (options.against.resolve(), options.copies))
        costs = alternate(sides, options.repeats)
        print(table(costs))
        print(f"{100 * (ratio(costs['chunks'], costs['before'], 'cpu') - 1):+.1f}% CPU (required: at most +3%)")
    elif options.which == "workers":
        with tempfile.TemporaryDirectory() as folder:
            model = base_model(Path(folder))
            sides = {f"{n} workers": (cluster_pass, (model, n, options.tokens, options.limit)) for n in (1, 2)}
            costs = alternate(sides, options.repeats)
        print(table(costs))
        print(f"{ratio(costs['1 workers'], costs['2 workers'], 'wall'):.2f} times faster by wall (required: 1.7)")
    elif options.which == "driver":
        cost = measure(simulated, 64, 64 * options.rounds, SLEEP)
        print(
            f"64 workers with {options.rounds} chunks each were busy {100 * cost.answer:.1f}% of the time "
            f"(required: 90%); {cost.wall:.1f} s with their start, {cost.cpu:.1f} s of CPU in the driver"
        )
    elif options.which == "memory":
        for count in (10, 100, 1000):
            cost = measure(simulated, 2, count, 0.01)
            print(f"{count:5,} chunks: peak {cost.peak:,.0f} MiB, {1000 * cost.cpu / count:.1f} ms of CPU a chunk")
    else:
        faults(options.runs)


if __name__ == "__main__":
    main()
