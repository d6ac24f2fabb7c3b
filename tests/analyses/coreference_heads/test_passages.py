"""Every passage of a coreference corpus is reached, page by page, in the order of the whole corpus."""

from itertools import product

import numpy as np
import pytest

from bertviz_core.analyses.base import guess_lists
from bertviz_core.analyses.base.guess_lists import StoredParts, stored_parts
from bertviz_core.analyses.base.list_view import ORDERS
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.coreference_heads import measure, passages
from bertviz_core.analyses.coreference_heads.guesses import DIRECTIONS
from bertviz_core.analyses.coreference_heads.passage_list import passage_list
from bertviz_core.analyses.coreference_heads.passages import GuessedPassages
from bertviz_core.analyses.coreference_heads.result import CoreferenceView
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.files import FOLDER
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError
from bertviz_core.heads import DirectedHead, Head
from bertviz_core.inputs import encoded_corpus
from bertviz_core.inputs.annotated_words import Windows
from bertviz_core.settings import Settings
from tests.oracles import coreference as oracle

DOCUMENTS = 12
MAX_ITEMS = 40
MOST = 30  # words of a passage, so that documents have several
WHOLE = passages.passages


@pytest.fixture(scope="module", autouse=True)
def short_passages():
    with pytest.MonkeyPatch.context() as patch:
        for module in (measure, passages):
            patch.setattr(module, "passages", lambda sentences, words: WHOLE(sentences, words, MOST))
        yield


@pytest.fixture(scope="module")
def whole(tiny):
    """The result with all items in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "MAX_ITEMS", 10**9)
        return compute(request_of(tiny), None, model=tiny).default_view()


@pytest.fixture(scope="module")
def stored(tiny, tmp_path_factory):
    """The same from small chunks, with the first items alone in the result; and where the others are."""
    store, request = Store(tmp_path_factory.mktemp("store")), request_of(tiny)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded_corpus, "CHUNK_TOKENS", 150)
        patch.setattr(measure, "MAX_ITEMS", MAX_ITEMS)
        result = compute(request, store, model=tiny)
    where = stored_parts(store, request.key(), request.source)
    assert where is not None and where.count > 5
    return result, where


def request_of(tiny) -> Request:
    documents = (FOLDER / "coreference.conllu").read_text(encoding="utf-8").split("# newdoc")[: DOCUMENTS + 1]
    source = from_bytes("# newdoc".join(documents).encode(), "some documents")
    return Request("coreference_heads", tiny.checkpoint, source, Settings(max_length=48))


def literal(result, choice: DirectedHead) -> list[dict]:
    """Every passage with guesses, document by document, as the oracle reads it."""
    listed = []
    items = passages.first_guesses(result.stored, choice)
    for place, document in enumerate(result.stored.first_documents):
        guesses = items.take(items.items[:, 0] == place).guesses()
        for first, end in oracle.passages(document["sentences"], len(document["words"]), MOST):
            inside = [guess for guess in guesses if first <= document["mentions"][guess.mention][3] < end]
            rows = [(g.mention, g.guessed, g.weight, g.right) for g in inside]
            words = document["words"][first:end]
            one = {"name": document["name"], "span": (first, end), "words": words, "guesses": rows}
            listed.append(one | {"heads": [mention[3] for mention in document["mentions"]]})
    return listed


@pytest.mark.parametrize("choice", [DirectedHead(0, Head(1, 1)), DirectedHead(1, Head(0, 0))])
def test_every_list_equals_the_sorted_whole(whole, stored, choice) -> None:
    every = literal(whole, choice)
    searches = ((), ("the",), ("in", "the"), (whole.stored.first_documents[3]["name"].casefold(),))
    asked = [*product(("all", "right", "wrong"), (0.0, 0.05), searches[:1], ORDERS)]
    asked += [("all", 0.0, searched, ORDERS[0]) for searched in searches[1:]]
    for which, minimum, searched, order in asked:
        view = CoreferenceView(
            guesses=which,
            least_weight=minimum,
            search=" ".join(searched),
            order=order,
            direction=DIRECTIONS[choice.direction],
            head=choice.head.key(),
        )
        expected = oracle.listed_passages(every, which, minimum, searched, order)
        for lists in (stored[1], None):
            listed = GuessedPassages(whole, view, lists)
            pages = [listed.page(first, 8) for first in range(0, len(expected) or 1, 8)]
            assert {total for total, _ in pages} == {len(expected)}
            shown = [example for _, each in pages for example in each]
            assert [(example.document["name"], example.span) for example in shown] == [
                (one["name"], one["span"]) for one in expected
            ]
            for example, one in zip(shown, expected, strict=True):
                assert example.document["words"] == one["words"]
                kept = oracle.chosen_guesses(one["guesses"], which, minimum)
                assert [(guess.weight, guess.right) for guess in example.listed] == [row[2:] for row in kept]
                assert example.total == len(one["guesses"]) and example.right == sum(row[3] for row in one["guesses"])
                first, end = one["span"]
                assert len(example.drawn) == sum(first <= one["heads"][row[1]] < end for row in kept)


def test_a_guess_names_its_words_and_its_window(tiny, whole, stored) -> None:
    """The windows are those in which the corpus is read, and the mention's head word stands where it is said to."""
    listed = GuessedPassages(whole, CoreferenceView(head="2-1"), stored[1])
    guesses = [guess for example in listed.page()[1] for guess in example.listed]
    request = request_of(tiny)
    windows = list(Windows(request.source, tiny.tokens, request.settings))
    expected = sorted(
        (window.document.words[slice(*window.span)], window.heads[item.mention] - window.span[0])
        for window in windows
        for item in window.items
    )
    assert sorted((guess.window, guess.head) for guess in guesses) == expected
    assert all(guess.window[guess.head] in guess.mention.split() for guess in guesses if len(guess.mention) < 60)


def test_a_result_without_the_rest_gives_its_first_items(whole, stored) -> None:
    (first, _), shown, every = stored, stored[0].default_view(), whole.stored
    assert len(first.items) == MAX_ITEMS < shown.n[0] == len(every.items)
    np.testing.assert_array_equal(first.guess, every.guess[..., :MAX_ITEMS])
    np.testing.assert_array_equal(first.weight, every.weight[..., :MAX_ITEMS])
    listed = GuessedPassages(shown, CoreferenceView(head="1-2"), None)
    assert sum(example.total for example in listed.page()[1]) == MAX_ITEMS
    assert (first.correct == every.correct).all()
    assert first.first_documents == every.first_documents[: len(first.first_documents)]


def test_a_part_that_is_gone_leaves_the_first_items(whole, stored, tmp_path) -> None:
    where, store = stored[1], Store(tmp_path)
    for name in ("0", "1", guess_lists.COUNT):
        with where.store.open(f"detail/{where.key}/{name}") as stream:
            store.write(f"detail/key/{name}", stream.read())
    assert stored_parts(store, "key", where.source) is None
    with pytest.raises(StoreError, match="dropped"):
        GuessedPassages(whole, CoreferenceView(head="1-1"), StoredParts(store, "key", where.source, 3))


def test_the_antecedents_that_files_name_are_those_that_are_scored(whole, tiny) -> None:
    scored = {}
    for window in Windows(request_of(tiny).source, tiny.tokens, request_of(tiny).settings):
        for item in window.items:
            scored[window.document.number, item.mention] = list(item.antecedents)
    stored = whole.stored
    found = {}
    for number, mention, _, first, end in stored.items.tolist():
        document = stored.first_documents[number]
        found[document["number"], mention] = passages.antecedents(document, mention, (first, end))
    assert found == scored and len(found) > 50


def test_the_table_of_a_file_has_every_guess_of_the_list(whole) -> None:
    view = CoreferenceView(head="1-2", guesses="wrong", least_weight=0.02)
    part = passage_list(whole, view).inputs
    total, examples = GuessedPassages(whole, view, None).page()
    guesses = [guess for example in examples for guess in example.listed]
    assert part.table["mention"].tolist() == [guess.mention for guess in guesses] and not part.table["right"].any()
    assert part.title == f"Guesses of head 1-2: {total:,} passages" and len(part.examples) == 1
    for row in part.table.itertuples():
        assert row.mention in row.text and row.document in {each["name"] for each in whole.stored.first_documents}
