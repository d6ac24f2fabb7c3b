"""The doors of the library take a head in every common form, and words as they are."""

import numpy as np
import pytest
from transformers import AutoModel, AutoTokenizer

import bertviz_core as bv
from bertviz_core.cli.commands import app
from pages.shared.state import address
from pages.shared.state.choices import HeaderChoices

MAPS = np.full((6, 12, 2, 2), 0.5)
FORMS = ["5-4", (5, 4), "L4H3", "4.3", bv.Head(4, 3)]
NO_HEADS = [5, None, "5", "0-1", (0, 1), (5.0, 4), np.array([4, 3])]


@pytest.mark.parametrize("head", FORMS)
def test_every_door_takes_a_head_in_every_form(head):
    fifth = bv.Head(4, 3)
    assert bv.head("demo", head).shown.head == fifth
    assert bv.attention("demo", "The cat.", head=head).head == fifth
    assert bv.attention("demo", "The cat.", heads=[head]).heads == (fifth,)
    lines = bv.attention_lines(["a", "b"], MAPS, head=head, heads=[head])
    assert (lines.head, lines.heads) == (fifth, (fifth,))
    assert bv.analyze("surface_patterns", head=head).result.choices["head"] == "5-4"
    assert bv.analyze("dependency_heads", head=head).result.choices["head"] == "5-4"


@pytest.mark.parametrize("head", NO_HEADS)
def test_what_is_no_head_is_refused_in_a_sentence(head):
    doors = [lambda: bv.attention_lines(["a", "b"], MAPS, heads=[head]), lambda: bv.head("demo", head)]
    if head is not None:
        doors += [lambda: bv.attention_lines(["a", "b"], MAPS, head=head), lambda: bv.analyze("entropy", head=head)]
    for door in doors:
        with pytest.raises(bv.BertvizError, match="is not a head"):
            door()
    for heads in ("5-4", bv.Head(4, 3)):
        with pytest.raises(bv.BertvizError, match="Give a list of heads"):
            bv.attention_lines(["a", "b"], MAPS, heads=heads)


def test_a_command_and_an_address_take_them_too(capsys):
    written = []
    for head in ("5-4", "L4H3", "4.3"):
        app(["head", head], standalone_mode=False)
        written.append(capsys.readouterr().out)
        assert address.parse(HeaderChoices, {"head": head})[0].head == bv.Head(4, 3)
    assert written[0] and len(set(written)) == 1


def test_the_store_of_a_head():
    assert bv.head("demo", "3-5", store=True).sentence == bv.head("demo", "3-5").sentence
    with pytest.raises(bv.BertvizError, match="there is no store"):
        bv.head("demo", "3-5", store=False)


WORDS = ["học sinh", "10\u00a0000", "", "cat", "\u200b", "New\tYork"]


def test_words_stay_whole_and_are_as_many_as_were_given(tiny_folder):
    pair = AutoModel.from_pretrained(tiny_folder), AutoTokenizer.from_pretrained(tiny_folder)
    lines = bv.attention(pair, WORDS, words=True, special=False)
    assert len(lines.tokens) == len(WORDS) and lines.tokens[0] == "học sinh" and lines.tokens[3] == "cat"
    assert lines.weights.shape[2:] == (len(WORDS), len(WORDS))
    pieces = bv.attention(pair, WORDS, special=False)
    assert pieces.tokens.count("[UNK]") >= 2  # the empty word, and the one of a mark that the tokenizer removes


def test_both_sides_as_words(tiny_folder):
    lines = bv.attention(tiny_folder, ["the cat", "sat"], ["on", "the mat"], words=True, special=False)
    assert lines.tokens == ("the cat", "sat", "on", "the mat")
    mixed = bv.attention(tiny_folder, ["the cat", "sat"], "on the mat", words=True, special=False)
    assert mixed.tokens == ("the cat", "sat", "on", "the", "mat")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["the", None, "sat"], "Word 2 of the text is None"),
        (["the", float("nan")], "Word 2 of the text is nan"),
        (["the", 3], "Word 2 of the text is 3"),
        (None, "The text is of type NoneType"),
        (b"the cat", "The text is of type bytes"),
        (3.5, "The text is of type float"),
        (["", " "], "no token in this text"),
        ([], "no token in this text"),
        ("", "no token in this text"),
    ],
)
def test_what_is_no_text_is_refused_with_its_number(text, message):
    with pytest.raises(bv.BertvizError, match=message):
        bv.attention("demo", text)
