"""Every sentence of a treebank is reached, page by page, and the order of a list is that of the whole treebank."""

from itertools import product

import pytest

from bertviz_core.analyses.base.guess_lists import stored_parts
from bertviz_core.analyses.base.list_view import ORDERS
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.dependency_heads import measure
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, VIEWS
from bertviz_core.analyses.dependency_heads.result import RelationFilter, RelationView
from bertviz_core.analyses.dependency_heads.sentences import GuessedSentences, sentence_record
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.source import from_bytes
from bertviz_core.corpora.treebank import sentence_of
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head
from bertviz_core.inputs import encoded_corpus
from bertviz_core.settings import Settings
from tests.analyses.dependency_heads.test_measure import plain
from tests.oracles import dependency as oracle

BANK = "\n\n".join([plain(), "broken 9-x\n", plain().replace("nsubj", "nsubj:pass")])
MAX_SENTENCES = 3


@pytest.fixture(scope="module")
def whole(tiny):
    """The result with all sentences in it."""
    return compute(request_of(tiny), None, model=tiny)


@pytest.fixture(scope="module")
def stored(tiny, tmp_path_factory):
    """The same from small chunks, with the first sentences alone in the result; and where the others are."""
    store, request = Store(tmp_path_factory.mktemp("store")), request_of(tiny)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded_corpus, "CHUNK_TOKENS", 60)
        patch.setattr(measure, "MAX_SENTENCES", MAX_SENTENCES)
        result = compute(request, store, model=tiny)
    where = stored_parts(store, request.key(), request.source)
    assert where is not None and where.count > 3
    return result, where


def request_of(model) -> Request:
    return Request("dependency_heads", model.checkpoint, from_bytes(BANK.encode(), "bank"), Settings(max_length=64))


def literal(whole, head: Head, direction: int, view: str, merge: bool) -> list[dict]:
    """Every sentence as the oracle reads it."""
    start, sentences = 0, []
    for stored in whole.sentences:
        sentence = sentence_record(VIEWS[view](sentence_of(stored)), merge)
        words = slice(start, start := start + len(sentence["words"]))
        arrays = {
            name: getattr(whole, name)[direction, head.layer, head.head, words] for name in ("guesses", "weights")
        }
        sentences.append(sentence | {name: array.tolist() for name, array in arrays.items()})
    return sentences


@pytest.mark.parametrize(
    ("view", "merge", "relation"),
    [
        ("as-is", False, "all"),
        ("as-is", True, "nsubj"),
        ("function-heads", False, "det"),
        ("function-heads", True, "UAS"),
    ],
)
def test_every_list_equals_the_sorted_whole(whole, stored, view, merge, relation) -> None:
    head, direction = Head(1, 1), ["all", "UAS", "nsubj", "det"].index(relation) % 2
    sentences = literal(whole, head, direction, view, merge)
    counts = whole.show(RelationFilter(view, 1, merge_subtypes=merge))
    for which, minimum, searched, order in product(
        ("all", "right", "wrong"), (0.0, 0.3), ((), ("the",), ("in", "the")), ORDERS
    ):
        chosen = RelationView(
            guesses=which,
            least_weight=minimum,
            search=" ".join(searched),
            order=order,
            relation=relation,
            direction=DIRECTIONS[direction],
            head=head.key(),
        )
        listed = GuessedSentences(counts, chosen, stored[1])
        expected = oracle.matching_sentences(sentences, relation, which, minimum, searched, order)
        pages = [listed.page(first, 2) for first in range(0, len(expected) or 1, 2)]
        assert {total for total, _ in pages} == {len(expected)}
        shown = [example for _, each in pages for example in each]
        numbers = [sentence["number"] for sentence in sentences]
        assert [numbers.index(example.sentence["number"]) for example in shown] == expected
        for example, place in zip(shown, expected, strict=True):
            assert example.sentence == {name: sentences[place][name] for name in example.sentence}
            assert example.guesses.tolist() == sentences[place]["guesses"]
            assert example.weights.tolist() == sentences[place]["weights"]


def test_a_result_without_the_rest_gives_its_first_sentences(whole, stored) -> None:
    assert len(stored[0].sentences) == MAX_SENTENCES < stored[0].provenance["sentences"] == len(whole.sentences)
    view = RelationView(relation="all", direction=DIRECTIONS[0], head="1-2", order="file order")
    shown = stored[0].show(RelationFilter("as-is", 1))
    assert [example.sentence["number"] for example in GuessedSentences(shown, view, None).page(0, 10)[1]] == [0, 1, 2]
    assert (stored[0].correct == whole.correct).all() and (stored[0].n == whole.n).all()


def test_the_disk_has_no_words_of_a_treebank(stored) -> None:
    _, where = stored
    for number in range(where.count):
        with where.store.open(f"detail/{where.key}/{number}") as stream:
            assert b"clockmaker" not in stream.read()
