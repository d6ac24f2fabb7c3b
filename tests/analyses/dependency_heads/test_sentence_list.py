"""The sentences in the files of a result are those of the list, with the guess, the governor and their place."""

from itertools import product

import pytest

from bertviz_core.analyses.base.list_view import ORDERS
from bertviz_core.analyses.dependency_heads import sentence_list
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.result import RelationFilter, RelationView
from bertviz_core.heads import Head
from tests.analyses.dependency_heads import test_sentences
from tests.oracles import dependency as oracle

whole = test_sentences.whole
stored = test_sentences.stored
COLUMNS = ("sentence", "position", "word", "relation", "guess", "governor", "right", "weight")


def literal_rows(sentences: list[dict], places: list[int], relation: str) -> list[tuple]:
    """A row for each word of the relation, from the sentences as the oracle of lists has them."""
    rows = []
    for place in places:
        sentence = sentences[place]
        for word, name in enumerate(sentence["relations"]):
            if relation not in ("all", name):
                continue
            guess = sentence["guesses"][word]
            governor = sentence["governors"][word]
            truth = "ROOT" if governor == 0 else sentence["words"][governor - 1]
            right = governor != 0 and guess == governor - 1
            weight = round(sentence["weights"][word] / 255, 3)
            row = (sentence["number"] + 1, word + 1, sentence["words"][word], name, sentence["words"][guess])
            rows.append((*row, truth, right, weight))
    return rows


@pytest.mark.parametrize("relation", ["all", "det"])
def test_rows_are_those_of_a_literal_list(whole, stored, relation) -> None:
    head, direction = Head(1, 0), 1
    sentences = test_sentences.literal(whole, head, direction, "function-heads", merge=False)
    counts = stored[0].show(RelationFilter(min_count=1)).with_lists(stored[1])
    for which, minimum, search, order in product(("all", "right", "wrong"), (0.0, 0.3), ("", "the"), ORDERS):
        view = RelationView(
            min_count=1,
            relation=relation,
            direction=DIRECTIONS[direction],
            head=head.key(),
            guesses=which,
            least_weight=minimum,
            search=search,
            order=order,
            page=2,
        )
        view.check()
        part = sentence_list.sentence_list(counts, view).inputs
        places = oracle.matching_sentences(sentences, relation, which, minimum, tuple(search.split()), order)
        rows = list(part.table[[*COLUMNS]].itertuples(index=False, name=None)) if len(part.table) else []
        assert rows == literal_rows(sentences, places, relation)
        drawn = places[5:10] or places[:5]
        assert [example.text for example in part.examples] == [" ".join(sentences[at]["words"]) for at in drawn]
        assert f"Head 2-1 in {len(places):,} of all {len(whole.sentences)} sentences" in part.title


def test_without_the_stored_list_the_first_sentences_are_named_as_such(stored) -> None:
    counts = stored[0].show(RelationFilter(min_count=1))
    part = sentence_list.sentence_list(counts, RelationView(relation="all", head="1-1", direction=DIRECTIONS[0])).inputs
    assert f"of the first {test_sentences.MAX_SENTENCES} of" in part.title and not counts.is_whole


def test_a_long_list_says_what_the_files_have(stored, monkeypatch) -> None:
    monkeypatch.setattr("bertviz_core.analyses.base.list_view.MOST", 2)
    counts = stored[0].show(RelationFilter(min_count=1)).with_lists(stored[1])
    chosen = RelationView(relation="all", head="1-1", direction=DIRECTIONS[0], order="file order")
    part = sentence_list.sentence_list(counts, chosen).inputs
    assert set(part.table["sentence"]) == {1, 2} and len(part.examples) == sentence_list.PER_PAGE
    assert part.note == "File order. Page 1 is shown; the ZIP and the JSON have the first 2 sentences."
