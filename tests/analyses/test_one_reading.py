"""A corpus is read once, and no analysis changes what provenance says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.dependency_heads import guesses
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute, compute_all, find
from bertviz_core.analyses.results import Result
from bertviz_core.models.annotated import Sentences, Windows
from bertviz_core.models.reading import Examples, Reading
from bertviz_core.models.segments import Segments
from bertviz_core.settings import Settings
from tests.bracketed import conll
from tests.readings import read_whole

SENTENCE = "the 2-det\ncat 3-nsubj\nslept 0-root\n"
BROKEN = "the 2-det\ncat 9-nsubj\n"  # a governor beyond the sentence
TREEBANK = "\n".join([SENTENCE, SENTENCE, SENTENCE, BROKEN, BROKEN, SENTENCE])
TEXT = "the cat sat .\nthe dog slept .\n\na river runs\nlamps are lit\n"
CHAINS = conll("[1 the cat ] sat / [1 the cat ] slept", "[1 a dog ] ran / [1 a dog ] sat")
SETTINGS = Settings(max_length=32)


class Nothing:
    """An accumulator that sums nothing."""

    def fresh(self) -> Nothing:
        return self

    def update(self, batch: Any, layer: Any) -> None:
        pass

    def merge(self, other: Nothing) -> None:
        pass


class Greedy(Result):
    """The result of an analysis that reads one example too many when it finishes."""

    analysis = "greedy"

    def arrays(self) -> dict[str, Any]:
        return {}

    def to_frame(self) -> Any:
        return pd.DataFrame()


class GreedyAnalysis(Analysis):
    """An analysis whose `finish` reads the first example alone, and reads it in two ways."""

    name, title, summary, result_class, corpus = "greedy", "Greedy", "", Greedy, "treebank"

    def accumulator(self, model: Any, request: Request) -> Nothing:
        return Nothing()

    def finish(self, accumulator: Nothing, examples: Examples[Any], provenance: dict[str, Any]) -> Greedy:
        next(iter(examples))
        next(examples.read(Reading()))
        return Greedy(provenance)


@pytest.fixture
def greedy(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(ANALYSES, "greedy", GreedyAnalysis())
    return GreedyAnalysis.name


def request(tiny: Any, source: Any, analysis: str, text: str, **options: Any) -> Request:
    return Request(analysis, tiny.checkpoint, source(text), SETTINGS, options)


def test_two_treebank_analyses_of_one_pass_have_the_provenance_of_each_alone(
    tiny: Any, source: Any, store: Any, greedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guesses, "EXAMPLES", 1)
    first = request(tiny, source, greedy, TREEBANK)
    second = request(tiny, source, "dependency_heads", TREEBANK)
    third = request(tiny, source, "dependency_heads", TREEBANK, possessives=True)
    compute_all([first, second, third], store, load=lambda together, execution: tiny)
    for asked in (first, second, third):
        found = find(store, asked)
        assert found.provenance == compute(asked, None, model=tiny).provenance
        (skipped,) = found.provenance["skipped"]
        assert (skipped["reason"], skipped["count"]) == ("a governor beyond the sentence", 2)
        assert (found.provenance["sentences"], found.provenance["words"]) == (4, 12)
    assert len(find(store, second).sentences) == 1


@pytest.mark.parametrize(
    ("examples", "analysis", "text"),
    [
        (Segments, "surface_patterns", TEXT),
        (Segments, "clustering", TEXT),
        (Sentences, "dependency_heads", TREEBANK),
        (Windows, "coreference_heads", CHAINS),
    ],
)
def test_a_corpus_is_read_once(
    tiny: Any, source: Any, monkeypatch: pytest.MonkeyPatch, examples: type[Examples[Any]], analysis: str, text: str
) -> None:
    readings: list[Reading] = []
    read = examples.read

    def noted(self: Examples[Any], reading: Reading) -> Iterator[Any]:
        readings.append(reading)
        return read(self, reading)

    monkeypatch.setattr(examples, "read", noted)
    provenance = compute(request(tiny, source, analysis, text), None, model=tiny).provenance
    assert len(readings) == 1
    assert readings[0].counts.items() <= provenance.items()


def test_a_reading_that_ends_early_leaves_the_others_alone(tiny: Any, source: Any) -> None:
    sentences = Sentences(source(TREEBANK), tiny.tokens, SETTINGS)
    whole, partial = read_whole(sentences), Reading()
    next(sentences.read(partial))
    assert (partial.counts["words"], partial.skipped.to_json()) == (3, [])
    assert (whole.counts["words"], whole.skipped.reasons) == (12, read_whole(sentences).skipped.reasons)
