"""Every sentence of the test part is reached with every probe's guesses, whatever the result itself has."""

import pytest

from bertviz_core.analyses.probes import measure
from bertviz_core.analyses.probes.measure import find, parts_of
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine.store import Store
from bertviz_core.settings import Settings

NOUNS, VERBS = ("cat", "dog", "man", "boy", "hen"), ("sat", "ran", "ate", "lay", "hid")
BANK = "\n\n".join(f"The 2-det\n{noun} 3-nsubj\n{verb} 0-root\n. 3-punct" for noun in NOUNS for verb in VERBS)


@pytest.mark.parametrize("with_test_file", [False, True])
def test_pages_of_all_sentences(tiny, tmp_path, monkeypatch, with_test_file) -> None:
    options = {"probes": ["right-branching", "best-offset"]}
    others = {"dev": from_bytes(b"A 2-det\ncow 3-nsubj\nslept 0-root\n\n" * 7, "dev")} if with_test_file else {}
    source, settings = from_bytes(BANK.encode(), "bank"), Settings(max_length=64)
    request = Request("probes", tiny.checkpoint, source, settings, options, others)
    whole, store = compute(request, None, model=tiny), Store(tmp_path)
    monkeypatch.setattr(measure, "MAX_SENTENCES", 2)
    result = compute(request, store, model=tiny)
    tested = result.about["sentences"]["test"]
    assert len(result.sentences) == 2 < tested == len(whole.sentences)
    assert parts_of(Store(tmp_path / "empty"), request) is None
    assert find(result, None, (), 0, 10) == (2, whole.sentences[:2])
    parts = parts_of(store, request)
    pages = [find(result, parts, (), first, 2) for first in range(0, tested, 2)]
    assert {total for total, _ in pages} == {tested}
    assert [sentence for _, page in pages for sentence in page] == whole.sentences
    word = whole.sentences[-1]["words"][1].lower()
    expected = [sentence for sentence in whole.sentences if word in sentence["words"]]
    assert find(result, parts, (word,), 0, 100) == (len(expected), expected)
