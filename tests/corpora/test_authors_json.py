"""The authors' JSON: read whole, or refused with the line and the object."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.corpora.authors_json import ExampleCorpus
from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.errors import InputError

GIVEN = """[
  {"text": "One. 🙂", "id": 7, "nested": {"a": [1, null]}},
  {"words": ["two", "words"]},

  {"tokens": ["[CLS]", "x", "[SEP]"], "label": "l"}
]
"""


def records(text: str, name: str = "given.json"):
    return list(ExampleCorpus(from_bytes(text.encode(), name)).records())


def test_the_three_forms_with_their_lines_and_other_fields():
    text, words, tokens = records(GIVEN)
    assert (text.number, text.line, text.form, text.value) == (0, 2, "text", "One. 🙂")
    assert text.other == {"id": 7, "nested": {"a": [1, None]}}
    assert (words.number, words.line, words.form, words.value) == (1, 3, "words", ["two", "words"])
    assert (tokens.number, tokens.line, tokens.value, tokens.other) == (2, 5, ["[CLS]", "x", "[SEP]"], {"label": "l"})


simple = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=5,
)
text_objects = st.fixed_dictionaries({"text": st.text(st.characters(codec="utf-8"))}, optional={"more": simple})


@given(st.lists(text_objects, min_size=1, max_size=5), st.sampled_from([None, 0, 2]), st.booleans(), st.integers(1, 7))
def test_whatever_json_writes_is_read_in_whatever_pieces_it_comes(objects, indent, ascii_only, size):
    text = json.dumps(objects, indent=indent, ensure_ascii=ascii_only)
    with pytest.MonkeyPatch.context() as patch:
        for chunk in (size, 1 << 16):
            patch.setattr("bertviz_core.corpora.source.CHUNK", chunk)
            assert [{record.form: record.value, **record.other} for record in records(text)] == objects


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"text": "a"}', 1, "not a list"),
        ('"text"', 1, "not a list"),
        ('\n\n{"text": "a"}', 3, "not a list"),
        ('[{"text": "a"},\n{"text": "b"', 2, "cut off"),
        ('[{"text": "a"},\n{"text"\n', 2, "cut off"),
        ('[{"text": "a"},\n{"text": "b"}\r\n\n', 2, "cut off"),
        ('[{"text": "a"}\n{"text": "b"}]', 2, "cut off"),
        ('[{"text": "a"},\n]', 2, "broken"),
        ('[{"text": "a"},,\n{"text": "b"}]', 1, "broken"),
        ('[{"text": "a"}]\n[{"text": "b"}]', 2, "after the end"),
        ('[{"text": "a"}] x', 1, "after the end"),
        ("[\n{'text': 'a'}]", 2, "broken"),
        ('[{"text": "a", "n": ' + "1" * 5000 + "}]", 1, "broken"),
        ("[" * 100_000, 1, "broken"),
        ('[\n{"text": ' + "[" * 100_000 + "]" * 100_000 + "}]", 2, "broken"),
        ('[{"text": ' + '{"a":' * 100_000, 1, "broken"),
        ('[{"text": "a"},\n\n{"id": 1}]', 3, "none of"),
        ('[{"text": "a", "words": ["a"]}]', 1, "two or more of"),
        ('[{"text": "a", "words": ["a"], "tokens": ["a"]}]', 1, "two or more of"),
        ('[\n"text"]', 2, "none of"),
        ("[1]", 1, "none of"),
        ("[null]", 1, "none of"),
        ('[{"text": 1}]', 1, "not a string"),
        ('[{"text": null}]', 1, "not a string"),
        ('[{"text": ["a"]}]', 1, "not a string"),
        ('[{"words": "a b"}]', 1, "not a list of strings"),
        ('[{"words": []}]', 1, "at least one entry"),
        ('[{"tokens": ["a", 1]}]', 1, "not a list of strings"),
        ('[{"tokens": {"a": "b"}}]', 1, "not a list of strings"),
    ],
)
def test_bad_json_is_refused_with_its_line(text, line, message):
    with pytest.raises(InputError, match=message) as caught:
        records(text)
    assert f"line {line}" in caught.value.where.split(", ")
    assert caught.value.hint


def test_half_an_emoji_becomes_the_replacement_character():
    assert records('[{"text": "cut \\ud83d"}]')[0].value == "cut \ufffd"
    assert records('[{"words": ["\\ude42", "whole \\ud83d\\ude42"]}]')[0].value == ["\ufffd", "whole 🙂"]


@pytest.mark.parametrize("between", [", ", ",\n"])
def test_memory_does_not_grow_with_the_file(tmp_path, between):
    def peak(count):
        path = tmp_path / f"{count}.json"
        path.write_text("[" + between.join(['{"text": "' + "word " * 200 + '"}'] * count) + "]")
        tracemalloc.start()
        try:
            assert sum(1 for _ in ExampleCorpus(from_path(path)).records()) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(8_000) < 1.2 * peak(4_000) < 8_000_000


def test_an_empty_list_is_refused():
    with pytest.raises(InputError, match="list is empty"):
        records(" [ ]\n")


def test_reading_stops_where_the_reader_stops():
    """A limit must not pay for, or stumble over, what stands after it."""
    first = next(ExampleCorpus(from_bytes(b'[{"text": "a"}, {"broken', "x.json")).records())
    assert first.value == "a"
