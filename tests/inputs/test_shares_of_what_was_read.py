"""Shares in warnings above results: of what the model read, against literal counts."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertviz_core.analyses.base import reading_warnings
from bertviz_core.analyses.base.reading_warnings import warnings_of
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import InputError
from bertviz_core.inputs.annotated_words import Sentences, Windows
from bertviz_core.inputs.encoded_corpus import CorpusReading
from bertviz_core.inputs.encoded_pairs import Pairs
from bertviz_core.inputs.segments import Segments
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.settings import Settings
from tests.support import families

KNOWN, UNKNOWN_WORD = "cat", "🙂"
LINES = st.lists(st.lists(st.sampled_from([KNOWN, UNKNOWN_WORD, "."]), max_size=40), min_size=1, max_size=6)


def text(lines: list[list[str]]) -> tuple[type, str, str]:
    return Segments, "\n".join(map(" ".join, lines)), "x.txt"


def records(lines: list[list[str]]) -> tuple[type, str, str]:
    return Segments, json.dumps([{"text": " ".join(line)} for line in lines]), "x.json"


def words(lines: list[list[str]]) -> tuple[type, str, str]:
    return Segments, json.dumps([{"words": line or ["a"]} for line in lines]), "x.json"


def trees(lines: list[list[str]]) -> tuple[type, str, str]:
    rows = ["".join(f"{word} {min(n, 1)}-{'dep' if n else 'root'}\n" for n, word in enumerate(line)) for line in lines]
    return Sentences, "\n".join(rows), "x"


def chains(lines: list[list[str]]) -> tuple[type, str, str]:
    documents = [
        {"sentences": [[*line, "it", "saw", "it"]], "clusters": [[[len(line)] * 2, [len(line) + 2] * 2]]}
        for line in lines
    ]
    return Windows, "".join(f"{json.dumps(document)}\n" for document in documents), "x"


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens(families.wordpiece())


@settings(max_examples=60, deadline=None)
@given(
    LINES,
    st.sampled_from([text, records, words, trees, chains]),
    st.integers(8, 20),
    st.sampled_from([None, 1, 2]),
    st.sampled_from(["corrected", "paper"]),
)
def test_every_share_is_a_share_of_what_was_read(tokens, lines, form, max_length, limit, mode):
    corpus, content, name = form(lines)
    chosen = Settings(max_length=max_length, limit=limit, mode=mode)
    reading = CorpusReading(corpus(from_bytes(content.encode(), name), tokens, chosen))
    try:
        examples = list(reading)
    except InputError:
        return
    provenance = {"corpus": {"name": name}, **reading.reading.counts, "skipped": reading.reading.skipped.to_json()}
    warnings = warnings_of(provenance)
    assert all(0 <= int(share) <= 100 for line in warnings for share in re.findall(r"(\d+)%", line))
    total = unknown = repeated = 0
    seen: list[list[int]] = []
    for example in examples:
        ids = example.ids.tolist()
        total += len(ids)
        unknown += ids.count(tokens.unk)
        repeated += ids in seen
        seen.append(ids)
    mentions = [line for line in warnings if f"{unknown:,} of {total:,} tokens" in line]
    assert bool(mentions) == (unknown > reading_warnings.UNKNOWN_SHARE * total)
    mentions = [
        line for line in warnings if line.startswith(f"{repeated:,} of {len(examples):,} ") and "repeat" in line
    ]
    assert bool(mentions) == (repeated > reading_warnings.REPEATED_SHARE * len(examples))


def test_unknown_words_behind_the_cut_count_for_nothing(tokens):
    """60 lines, each of which is cut before its unknown words: the model reads none of them."""
    content = "\n\n".join(" ".join([KNOWN] * (20 + n) + [UNKNOWN_WORD] * 30) for n in range(60))
    records = json.dumps([{"text": line} for line in content.split("\n\n")])
    reading = CorpusReading(Segments(from_bytes(records.encode(), "x.json"), tokens, Settings(max_length=16)))
    assert all(tokens.unk not in example.ids for example in reading)
    provenance = {"corpus": {"name": "x"}, **reading.reading.counts, "skipped": reading.reading.skipped.to_json()}
    assert not [line for line in warnings_of(provenance) if "vocabulary" in line]


def test_repeated_sentences_are_said_with_their_number(tokens):
    others = ["cat 0-root\n" + ". 1-punct\n" * count for count in range(1, 11)]
    content = "He 2-nsubj\nsat 0-root\n\n" * 30 + "\n".join(others)
    reading = CorpusReading(Sentences(from_bytes(content.encode(), "bank"), tokens, Settings(max_length=32)))
    assert len(list(reading)) == 40
    provenance = {"corpus": {"name": "bank"}, **reading.reading.counts, "skipped": reading.reading.skipped.to_json()}
    (line,) = [line for line in warnings_of(provenance) if "repeat" in line]
    assert line.startswith("29 of 40 sentences of bank (72%) repeat an earlier one")


def test_repeated_pairs_are_said_with_their_number(tokens):
    rows = [*["he sat .\the he ."] * 12, *[f"{'. ' * count}he\t{'. ' * count}sat" for count in range(1, 9)]]
    content = "\n".join(["good\tbad", *rows])
    reading = CorpusReading(Pairs(from_bytes(content.encode(), "pairs"), tokens, Settings(max_length=32)))
    assert len(list(reading)) == 20
    provenance = {"corpus": {"name": "pairs"}, **reading.reading.counts, "skipped": reading.reading.skipped.to_json()}
    (line,) = [line for line in warnings_of(provenance) if "repeat" in line]
    assert line.startswith("11 of 20 pairs of pairs (55%) repeat an earlier one")
