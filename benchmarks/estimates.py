"""What the app says ahead of a first visit's analysis, beside what it takes.

    python -m benchmarks.estimates --text wiki.txt --treebank en_ewt-ud-dev.conllu --coreference litbank.conll

Text, treebank, coreference, probes, two checkpoints as a training, and everything as one job: of the demo model and of
an untrained BERT of 12 x 12 heads. Each starts with a store in which no pass was timed; `--limit 0.5` halves the
inputs, `--again` runs twice as many inputs after each, whose estimate rests on what the first took.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bertviz_core.analyses import durations, model_pass, requests
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.files import find_source
from bertviz_core.corpora.source import Source
from bertviz_core.emergence.series import Series
from bertviz_core.emergence.training_folder import find_training
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import Checkpoint, find
from bertviz_core.settings import Settings

MAX_COST = 20  # forward passes, of what the app runs with everything else
FEWEST = 16  # inputs: a probe is not trained on fewer sentences
INPUTS = {  # model -> case -> inputs of each corpus
    "demo": {"text": 600, "treebank": 2000, "coreference": 400, "probes": 500, "emergence": 150, "everything": 150},
    "12 x 12": {"text": 60, "treebank": 250, "coreference": 60, "probes": 60, "emergence": 16, "everything": 16},
}


@dataclass(frozen=True, slots=True)
class Bench:
    """One model with its corpora. `folder` holds its checkpoints."""

    name: str
    folder: Path
    corpora: dict[str, Source]

    def cases(self) -> dict[str, Callable[[int], list[Request]]]:
        """Case -> the requests that a click of the app makes of so many inputs."""
        model = find(str(next(iter(sorted(self.folder.iterdir())))))
        shared = {"text": "surface_patterns", "treebank": "dependency_heads", "coreference": "coreference_heads"}
        cases = {case: self._one(model, analysis) for case, analysis in (shared | {"probes": "probes"}).items()}
        return cases | {"emergence": self._emergence, "everything": lambda limit: self._everything(model, limit)}

    def _one(self, model: Checkpoint, analysis: str) -> Callable[[int], list[Request]]:
        source = self.corpora[ANALYSES[analysis].corpus]
        return lambda limit: requests.shared(Request(analysis, model, source, Settings(limit=limit)))

    def _emergence(self, limit: int) -> list[Request]:
        training = find_training(str(self.folder))
        return Series(training, self.corpora["text"], self.corpora["treebank"], Settings(limit=limit)).requests()

    def _everything(self, model: Checkpoint, limit: int) -> list[Request]:
        settings = Settings(limit=limit)
        every = [Request(name, model, self.corpora[each.corpus], settings) for name, each in ANALYSES.items()]
        affordable = [request for request in every if ANALYSES[request.analysis].cost(model) <= MAX_COST]
        return [request for request in affordable if model_pass.can_compute(request)]


def save_checkpoints(name: str, folder: Path) -> None:
    """Two of one shape: the demo model with its weights changed a little, or untrained ones."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertForMaskedLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    demo = find("demo").folder
    tokenizer = AutoTokenizer.from_pretrained(demo)
    for step in (100, 200):
        torch.manual_seed(step)
        if name == "demo":
            model = AutoModelForMaskedLM.from_pretrained(demo, dtype=torch.float32)
            torch.nn.init.normal_(model.cls.predictions.bias, std=step / 1e6)
        else:
            model = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer)))
        path = folder / f"step-{step:07d}"
        model.save_pretrained(path)
        tokenizer.save_pretrained(path)


def report(name: str, store: Store, to_run: list[Request]) -> None:
    """Print the estimate, what it took, and their ratio."""
    estimate = durations.seconds(store, requests.passes(to_run))
    start = time.monotonic()
    requests.compute_all(to_run, store)
    took = time.monotonic() - start
    assert estimate is not None
    print(f"| {name} | {estimate:.0f} s | {took:.0f} s | {estimate / took:.2f} |", flush=True)


def run(bench: Bench, scale: float, again: bool, only: list[str]) -> None:
    """All cases of one model, each with a store of its own."""
    for case, made in bench.cases().items():
        limit = max(FEWEST, round(scale * INPUTS[bench.name][case]))
        if only and case not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            store = Store(Path(folder), shipped=Path(folder) / "nothing")
            report(f"{bench.name} | {case}, {limit} inputs, first", store, made(limit))
            if again:
                report(f"{bench.name} | {case}, {2 * limit} inputs, again", store, made(2 * limit))


def main() -> None:
    import torch  # noqa: F401 (the app's worker has it loaded)
    import transformers  # noqa: F401

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    samples = {"text": "encyclopedia", "treebank": "treebank", "coreference": "coreference"}
    for kind, default in samples.items():
        parser.add_argument(f"--{kind}", default=default)
    parser.add_argument("--model", choices=INPUTS, action="append")
    parser.add_argument("--case", choices=INPUTS["demo"], action="append", default=[])
    parser.add_argument("--limit", type=float, default=1.0, help="share of the inputs")
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    corpora = {kind: find_source(getattr(chosen, kind)) for kind in samples}
    print("| model | analysis | estimate | took | ratio |\n| --- | --- | --- | --- | --- |")
    for name in chosen.model or INPUTS:
        with tempfile.TemporaryDirectory() as folder:
            save_checkpoints(name, Path(folder))
            run(Bench(name, Path(folder), corpora), chosen.limit, chosen.again, chosen.case)


if __name__ == "__main__":
    main()
