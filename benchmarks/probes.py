"""Attention probes against the authors' way of training them, on the same maps, in one run; CPU seconds and UAS.

    python -m benchmarks.probes TREEBANK [--sentences 1500] [--turns 3]

The authors' way: one sentence a step in file order, Adam at 0.002, one epoch, the summed loss, and for attention and
words the weights of every pair of words from their concatenated vectors, all of them built. Ours: one epoch of
minibatches, the factorised form. Features are computed once, ahead, for both; only training is timed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median

import bertviz_core  # noqa: F401  (first: it sets what torch must find in the environment)

import torch  # isort: skip
from torch import Tensor, nn

from bertviz_core.analyses.local_runner import LocalRunner
from bertviz_core.analyses.part_cache import PartCache
from bertviz_core.analyses.probes import ProbeOptions
from bertviz_core.analyses.probes.features import Features
from bertviz_core.analyses.probes.probe_run import ProbeRun
from bertviz_core.analyses.probes.probes import Probe, ProbeBatch, ProbeSettings
from bertviz_core.analyses.probes.scoring import Outcome, guesses
from bertviz_core.analyses.probes.training import PAPER_RATE, Data, Schedule, fit_adam
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.files import find_source
from bertviz_core.engine.progress import Progress
from bertviz_core.models.annotated import Sentences
from bertviz_core.models.checkpoint import find
from bertviz_core.models.loading import load
from bertviz_core.settings import Execution, Settings

KINDS = ("attention-only", "attention-and-words")


class Theirs(Probe):
    """The authors' model: maps with ROOT as row and column 0, CLS and SEP scaled and added up into it."""

    def __init__(self, probe_settings: ProbeSettings, vectors: Tensor | None) -> None:
        super().__init__(probe_settings)
        self.vectors = vectors
        inputs = 1 if vectors is None else 2 * vectors.shape[1]
        self.dense = nn.Linear(inputs, 2 * probe_settings.heads, bias=vectors is not None)
        nn.init.zeros_(self.dense.weight)

    def forward(self, batch: ProbeBatch) -> Tensor:
        return torch.stack([self._sentence(*one) for one in zip(batch.maps, batch.root, batch.words, strict=True)])

    def _sentence(self, maps: Tensor, root: Tensor, words: Tensor) -> Tensor:
        size = len(words)
        whole = maps.new_zeros(size + 1, size + 1, maps.shape[-1])
        whole[1:, 1:] = maps
        whole[1:, 0] = self.scales[0] * root[0] + self.scales[1] * root[2]
        whole[0, 1:] = self.scales[0] * root[1] + self.scales[1] * root[3]
        both = torch.cat([whole[:, 1:].transpose(0, 1), whole[1:]], -1)  # (dependent, candidate, 2 head)
        return (both * self._weights(words)).sum(-1)

    def _weights(self, words: Tensor) -> Tensor:
        """(dependent, candidate, 2 head)."""
        if self.vectors is None:
            return self.dense.weight[:, 0]
        vectors, size = self.vectors[words], len(words)
        candidates = nn.functional.pad(vectors, (0, 0, 1, 0))
        pairs = [candidates.expand(size, -1, -1), vectors[:, None].expand(-1, size + 1, -1)]
        return self.dense(torch.cat(pairs, -1))


def main() -> None:
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank")
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    settings = Settings(limit=asked.sentences)
    model = load(find("demo"), "cpu")
    probe_run = Maps(model, settings, ProbeOptions(KINDS), {})
    probe_run.turns = asked.turns
    source = find_source(asked.treebank)
    runner = LocalRunner(Execution(), lambda *_: model)
    runner.start([Request("probes", model.checkpoint, source, settings)], Progress())
    cache = PartCache(Request("probes", model.checkpoint, source, settings), model, runner, None, "")
    probe_run.run(list(Sentences(source, model.tokens, settings)), Progress(), cache.run, None)


class Maps(ProbeRun):
    """A study up to its maps; then both sides take turns."""

    turns: int

    def _mapped(self, features: Features, names: list[str]) -> None:
        self._fill(features, [None], 0)
        print(f"{self.about['sentences']}, maps: {self.about['map_seconds']:.1f} s, once")
        train, none, test = (
            Data(features, part, "cpu") for part in (self.splits.train, self.splits.train[:0], self.splits.test)
        )
        for kind in names:
            release = ProbeSettings(self.model.layers * self.model.heads, paper=True)
            vectors = self.fitting.vectors if kind == "attention-and-words" else None
            sides: dict[str, tuple[Callable[[], Probe], Schedule]] = {
                "theirs": (lambda: Theirs(release, vectors), Schedule(1, PAPER_RATE, singly=True)),  # noqa: B023
                "ours": (lambda: self.fitting.probe(kind), replace(self.fitting.schedule(kind), epochs=1)),  # noqa: B023
            }
            seconds: dict[str, list[float]] = {name: [] for name in sides}
            scores: dict[str, float] = {}
            for _ in range(self.turns):
                for name, (made, schedule) in sides.items():
                    probe, started = made(), time.process_time()
                    fit_adam(probe, train, none, schedule, Progress(), kind)
                    seconds[name].append(time.process_time() - started)
                    right = self.gold.right(guesses(probe, test, "greedy", Progress()))
                    scores[name] = Outcome(kind, "UAS", right, self.gold.counted).score
            ratio = median(a / b for a, b in zip(seconds["theirs"], seconds["ours"], strict=True))
            told = ", ".join(f"{n} {median(seconds[n]):.2f} s, UAS {scores[n]:.3f}" for n in sides)
            print(f"{kind}: {told}; {ratio:.1f} times faster", flush=True)


if __name__ == "__main__":
    main()
