"""Segments and examples, against the definition of section 1."""

import json
from itertools import chain, cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertviz_core.corpora.source import from_bytes
from bertviz_core.inputs.encoded_corpus import CorpusReading, Reading
from bertviz_core.inputs.segments import Segments
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.settings import Settings
from tests.oracles import reference
from tests.support import families

WORDS = sorted({word for line in families.TEXT for word in families._words(line)} - set("s"))
WIDE = settings(max_examples=60)
LENGTHS = st.lists(st.lists(st.integers(1, 14), min_size=1, max_size=5), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens(families.wordpiece())


def make(tokens, text, **chosen) -> Segments:
    data = text if isinstance(text, str) else json.dumps(text)
    return Segments(
        from_bytes(data.encode(), "x.txt" if isinstance(text, str) else "x.json"), tokens, Settings(**chosen)
    )


def skipped(segments) -> list[dict]:
    reading = Reading()
    assert sum(1 for _ in segments.read(reading)) == len(list(segments))
    return reading.skipped.to_json()


def written(lengths) -> tuple[str, list[list[list[str]]]]:
    """A text whose lines have these numbers of tokens, and its words; every word in it is one token."""
    words = cycle(WORDS)
    documents = [[[next(words) for _ in range(length)] for length in document] for document in lengths]
    return "\n\n".join("\n".join(" ".join(line) for line in document) for document in documents), documents


def sides(tokens, example) -> tuple[list[str], list[str] | None]:
    """The names of A and B, after checking that [CLS] and [SEP] stand where they must and nowhere else."""
    names = tokens.names(example.ids)
    assert names[0] == "[CLS]" and names[-1] == "[SEP]" and names.count("[CLS]") == 1
    end = names.index("[SEP]")
    assert names.count("[SEP]") == (1 if end == len(names) - 1 else 2)
    return names[1:end], None if end == len(names) - 1 else names[end + 1 : -1]


@WIDE
@given(LENGTHS, st.integers(8, 24), st.integers(0, 3), st.sampled_from(["corrected", "paper"]), st.booleans())
def test_segments_are_what_the_definition_allows(tokens, lengths, max_length, seed, mode, ended):
    text, documents = written(lengths)
    found = list(make(tokens, text + "\n\n" * ended, max_length=max_length, seed=seed, mode=mode))
    expected = reference.chunks(documents, max_length - 3)
    if mode == "paper":
        lines = [*chain.from_iterable([*document, []] for document in documents)]
        expected = reference.released_chunks(lines if ended else lines[:-1], max_length - 3)
    assert [example.number for example in found] == list(range(len(expected)))
    for example, chunk in zip(found, expected, strict=True):
        first, second = sides(tokens, example)
        if len(chunk) == 1:
            assert second is None
            assert reference.is_run(first, chunk[0]) and len(first) == min(len(chunk[0]), max_length - 2)
        else:
            assert reference.possible_pair(first, second, chunk, max_length - 3)
        types = [0] * (len(first) + 2) + [0 if mode == "paper" else 1] * (len(second or []) + 1 if second else 0)
        assert example.types.tolist() == types


@WIDE
@given(LENGTHS, st.integers(0, 3), st.integers(1, 6))
def test_the_same_seed_gives_the_same_segments_and_a_limit_their_beginning(tokens, lengths, seed, limit):
    text, _ = written(lengths)
    segments = make(tokens, text, max_length=12, seed=seed)
    once, again = [e.ids.tolist() for e in segments], [e.ids.tolist() for e in segments]
    assert once == again
    assert [e.ids.tolist() for e in make(tokens, text, max_length=12, seed=seed, limit=limit)] == once[:limit]


def test_cuts_are_random_and_tokens_dropped_at_front_and_back_alike(tokens):
    text, _ = written([[2, 2, 2]] * 300)
    firsts = [len(sides(tokens, example)[0]) for example in make(tokens, text, max_length=16)]
    assert set(firsts) == {2, 4}
    assert 110 < firsts.count(2) < 190  # 150 expected, 4.6 standard deviations either way
    text, documents = written([[18, 18]] * 100)
    fronts = drops = 0
    for example, (first, second) in zip(make(tokens, text, max_length=23), documents, strict=True):
        for kept, whole in zip(sides(tokens, example), (first, second), strict=True):
            fronts += whole.index(kept[0])
            drops += len(whole) - len(kept)
    assert drops == 1600
    assert 700 < fronts < 900  # 800 expected, 5 standard deviations either way


def counted(segments) -> list[tuple[int, list[str]]]:
    return [(entry["count"], entry["where"]) for entry in skipped(segments)]


def test_the_release_drops_what_follows_a_line_that_fills_a_segment_alone(tokens):
    """Worked by hand, 8 tokens a segment: the budget is 8 - 3 = 5.

    Lines 1 and 2 have 2 + 3 = 5 tokens: a segment, cut between them. Line 3 has 6 >= 5: a chunk of one line, and the
    release looks no further in this document (lines 4 and 5). Lines 7 and 8 have 2 + 2 = 4 < 5, and the document ends.
    """
    long = "the cat\nthe dog slept\nthe cat the mat the dog\nthe dog\nthe cat\n\nthe mat\nthe cat\n\n"
    segments = make(tokens, long, max_length=8, mode="paper")
    assert [tokens.names(example.ids) for example in segments] == [
        ["[CLS]", "the", "cat", "[SEP]", "the", "dog", "slept", "[SEP]"],
        ["[CLS]", "the", "mat", "[SEP]", "the", "cat", "[SEP]"],
    ]
    assert counted(segments) == [(1, ["line 3"]), (2, ["line 4-5"])]
    corpus = CorpusReading(segments)
    assert len(list(corpus)) == 2 and corpus.reading.counts["documents"] == 2
    # corrected: line 3 is joined with line 4 (6 + 2 >= 5), line 5 is a segment of its own
    assert [example.where for example in make(tokens, long, max_length=8)] == [
        *("line 1-2", "line 3-4", "line 5", "line 7-8")
    ]


def test_the_release_never_comes_to_a_last_document_that_no_empty_line_ends(tokens):
    """Worked by hand: lines 1 and 2 are a document, for line 3 is empty; lines 4 and 5 wait for an empty line."""
    text = "the cat\nthe dog\n\nthe mat\nthe cat\n"
    segments = make(tokens, text, mode="paper")
    first, second = (["[CLS]", "the", a, "[SEP]", "the", b, "[SEP]"] for a, b in (("cat", "dog"), ("mat", "cat")))
    assert [tokens.names(example.ids) for example in segments] == [first]
    assert counted(segments) == [(2, ["line 4-5"])]
    for ended in (make(tokens, text + " \n", mode="paper"), make(tokens, text)):
        assert [tokens.names(example.ids) for example in ended] == [first, second]
        assert counted(ended) == []


def test_the_release_leaves_out_texts_that_are_too_long(tokens):
    """Worked by hand, 8 tokens at most: 6 words and 2 special tokens are 8, 7 words and 2 are 9."""
    given = [{"text": "cat " * 6}, {"text": "dog " * 7}, {"words": ["cat"] * 7}, {"tokens": ["cat"] * 9}]
    six = ["[CLS]", *["cat"] * 6, "[SEP]"]
    paper = make(tokens, given, max_length=8, mode="paper")
    assert [(example.number, tokens.names(example.ids)) for example in paper] == [(0, six)]
    reasons = {entry["reason"]: entry["count"] for entry in skipped(paper)}
    assert reasons["an example of more than 8 tokens (skipped)"] == 3 and not any("cut" in name for name in reasons)
    corrected = make(tokens, given, max_length=8)
    cut = ["[CLS]", *["dog"] * 6, "[SEP]"]
    assert [(example.number, tokens.names(example.ids)) for example in corrected] == [(0, six), (1, cut)]
    reasons = {entry["reason"]: entry["count"] for entry in skipped(corrected)}
    assert reasons["a text longer than a passage (its end was cut)"] == 1
    assert reasons["an example of more than 8 tokens (skipped)"] == 2


def test_lines_without_a_token_are_counted_not_fed(tokens):
    segments = make(tokens, "the cat\n\u200b\u0301\nthe dog\n")
    (example,) = segments
    assert sides(tokens, example) == (["the", "cat"], ["the", "dog"])
    assert [(entry["count"], entry["where"]) for entry in skipped(segments)] == [(1, ["line 2"])]


@pytest.mark.parametrize("given", ["the cat\n🙂 the 🙂\n", [{"text": "the cat"}, {"text": "🙂 the 🙂"}]])
def test_what_the_vocabulary_lacks_is_counted_in_raw_text(tokens, given):
    segments = make(tokens, given)
    assert sum(tokens.names(example.ids).count("[UNK]") for example in segments) == 2
    (left,) = skipped(segments)
    assert left["count"] == 2 and left["reason"].startswith("a token not in the vocabulary")
    assert "2" in left["where"][0]


SPELLED = "a special token spelled out in the text (read as letters)"


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ("the cat\n[E1] the [/E1] [MASK] cat [e1]\n", "line 2"),
        ([{"text": "the cat"}, {"text": "[E1] the [/E1] [MASK] cat [e1]"}], "line 1, object 2"),
        ([{"words": ["the"]}, {"words": ["[E1]", "the", "[/E1]", "[MASK]", "cat"]}], "line 1, object 2"),
    ],
    ids=["text", "records of text", "records of words"],
)
def test_special_tokens_that_a_text_spells_are_letters_and_counted(given, where):
    """Markers of entities, which the tokenizer has, too; JSON with `tokens` gives them."""
    tokenizer = families.wordpiece()
    tokenizer.add_special_tokens({"additional_special_tokens": ["[E1]", "[/E1]"]})
    tokens = Tokens(tokenizer)
    segments = make(tokens, given)
    examples = list(segments)
    markers = set(tokens.tokenizer.convert_tokens_to_ids(["[E1]", "[/E1]", "[MASK]"]))
    assert not markers & {int(i) for example in examples for i in example.ids}
    (entry,) = [entry for entry in skipped(segments) if entry["reason"] == SPELLED]
    assert (entry["count"], entry["where"]) == (3, [where])
    segments = make(tokens, [{"tokens": ["[CLS]", "[E1]", "the", "[/E1]", "[SEP]"]}])
    (example,) = segments
    assert len(markers & set(example.ids.tolist())) == 2 and not skipped(segments)


def test_word_examples_keep_rows_and_words_aligned(tokens):
    words = ["The", "cab", "\u200b", "[SEP]", "🙂", ""]
    segments = make(tokens, [{"words": words}])
    (example,) = segments
    names = tokens.names(example.ids)
    assert example.words.tolist()[0] == example.words.tolist()[-1] == -1
    pieces = [[n for n, w in zip(names, example.words, strict=True) if w == i] for i in range(len(words))]
    assert pieces[:3] == [["the"], ["c", "##a", "##b"], ["[UNK]"]]
    assert "[SEP]" not in pieces[3] and pieces[4:] == [["[UNK]"], ["[UNK]"]]
    assert example.types.tolist() == [0] * len(names)
    counts = {entry["reason"].partition(" (")[0]: entry["count"] for entry in skipped(segments)}
    assert counts == {
        "a word the tokenizer cleans to nothing": 2,
        "a token not in the vocabulary": 3,  # those two, and the last
        "a special token spelled out in the text": 1,
    }


def test_token_examples_are_taken_as_they_are_and_what_they_lack_is_counted(tokens):
    names = ["[CLS]", "the", "##a", "[SEP]", "cat", ".", "[SEP]"]
    segments = make(tokens, [{"tokens": names}])
    (example,) = segments
    assert tokens.names(example.ids) == names
    assert example.types.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert skipped(segments) == []
    (example,) = make(tokens, [{"tokens": names}], mode="paper")
    assert example.types.tolist() == [0] * 7
    (example,) = make(tokens, [{"tokens": names[:4]}])
    assert example.types.tolist() == [0] * 4
    segments = make(tokens, [{"tokens": ["the", "nosuch", "cat", "nor"]}, {"tokens": ["the"]}, {"tokens": ["[CLS]"]}])
    assert [tokens.names(example.ids) for example in segments] == [["the", "[UNK]", "cat", "[UNK]"], ["the"], ["[CLS]"]]
    counts = {entry["reason"].partition(" (")[0]: entry["count"] for entry in skipped(segments)}
    assert counts["a token not in the vocabulary"] == 2
    assert counts["`tokens` without the model's special tokens"] == 3


def test_a_model_without_special_tokens_does_not_miss_them():
    causal = Tokens(families.gpt2_bpe())
    segments = make(causal, [{"tokens": ["Ġthe", "."]}, {"text": ""}, {"words": ["the", "cat"]}])
    assert [example.number for example in segments] == [0, 2]
    (left,) = skipped(segments)
    assert left["reason"].startswith("an example without tokens")


def test_other_fields_go_with_their_example(tokens):
    segments = make(
        tokens, [{"text": "the", "id": 5}, {"words": ["cat"] * 9, "id": 6}, {"text": "dog", "id": 7}], max_length=8
    )
    assert [(example.number, example.other) for example in segments] == [(0, {"id": 5}), (2, {"id": 7})]
