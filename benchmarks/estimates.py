"""What the app says ahead of an analysis, beside what it takes: `python -m benchmarks.estimates MODEL CORPUS...`.

Each corpus is `analysis:file:limit`. A first-ever run of `limit` inputs, then one of twice as many, whose estimate
rests on the first. The last line runs every analysis on the samples as one job.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bertviz_core.analyses import durations, model_pass, requests
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.samples import SAMPLES, find_source, sample
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import find
from bertviz_core.settings import Settings


def report(name: str, store: Store, wanted: list[Request]) -> None:
    """Say, run, and print both."""
    said = durations.seconds(store, requests.passes(wanted))
    start = time.monotonic()
    requests.compute_all(wanted, store)
    took = time.monotonic() - start
    assert said is not None
    print(f"| {name} | {said:.0f} s | {took:.0f} s | {said / took:.2f} |", flush=True)


def main(model: str, *corpora: str) -> None:
    import torch  # noqa: F401 (the app's worker has it loaded)
    import transformers  # noqa: F401

    checkpoint = find(model)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), shipped=Path(folder) / "nothing")
        for corpus in corpora:
            analysis, file, limit = corpus.split(":")
            request = Request(analysis, checkpoint, find_source(file), Settings(limit=int(limit)))
            report(f"{analysis}, {Path(file).name}, {limit}, first", store, requests.shared(request))
            again = replace(request, settings=Settings(limit=2 * int(limit)))
            report(f"{analysis}, {Path(file).name}, {2 * int(limit)}, again", store, requests.shared(again))
        samples = {kind: sample(next(iter(names))) for kind, names in SAMPLES.items()}
        every = [Request(name, checkpoint, samples[analysis.corpus]) for name, analysis in ANALYSES.items()]
        report("everything, samples", store, [request for request in every if model_pass.can_compute(request)])


if __name__ == "__main__":
    main(*sys.argv[1:])
