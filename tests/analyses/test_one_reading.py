"""A corpus is read once, and no analysis changes what provenance says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bertviz_core.analyses.dependency_heads import guesses
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute, compute_all, find
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


def request(tiny: Any, source: Any, analysis: str, text: str, **options: Any) -> Request:
    return Request(analysis, tiny.checkpoint, source(text), SETTINGS, options)


def test_two_requests_of_one_pass_have_the_provenance_of_each_alone(
    tiny: Any, source: Any, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guesses, "MAX_SENTENCES", 1)
    first = request(tiny, source, "dependency_heads", TREEBANK)
    second = request(tiny, source, "dependency_heads", TREEBANK, possessives=True)
    compute_all([first, second], store, load=lambda together, execution: tiny)
    for asked in (first, second):
        found = find(store, asked)
        assert found.provenance == compute(asked, None, model=tiny).provenance
        (skipped,) = found.provenance["skipped"]
        assert (skipped["reason"], skipped["count"]) == ("a governor beyond the sentence", 2)
        assert (found.provenance["sentences"], found.provenance["words"]) == (4, 12)
    assert len(find(store, first).sentences) == 1


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
