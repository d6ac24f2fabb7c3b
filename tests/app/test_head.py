"""The page of one head: what it says is what the command, the library and the file say; and how one gets there."""

import json
import re

import pytest

import bertviz_core as bv
from tests.support.driving import open_app, parameter, unescaped, words
from tests.support.running import run
from tests.support.shipped import clearest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


def drawings(app):
    """All drawings of the page."""
    parts = [each.proto.json for each in app.main.get("bidi_component")]
    return [item for part in parts if part for item in json.loads(part) if "svg" in item]


def drawing(app, field):
    """What is sent to the component that has a field."""
    parts = [each.proto.json for each in app.main.get("bidi_component")]
    return next(data for part in parts if part and field in (data := json.loads(part)))


def test_page_command_library_and_file_say_the_same(tmp_path):
    label = clearest("previous")
    app = open_app("head", head=label)
    of_library = bv.head("demo", label)
    printed = run("head", label, "--store", tmp_path / "store").stdout
    out = tmp_path / "head.html"
    assert run("head", label, "--store", tmp_path / "store", "--out", out).returncode == 0
    file = out.read_text(encoding="utf-8")
    assert printed.splitlines()[0] == of_library.sentence
    says = re.sub(r"\[(\S+)\]\(\S+\)", r"\1", unescaped(words(app)).replace("**", ""))
    assert of_library.shown.claim in says and of_library.shown.claim in file and of_library.shown.claim in printed
    numbers = of_library.to_frame()["text"]
    drawn = "".join(item["svg"] for item in drawings(app))
    for number in numbers:
        written = number.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;").replace("'", "&#x27;")
        assert number in printed and written in file and written in drawn
    assert {each["title"] for each in drawings(app)} >= {shown.title for _, shown in of_library.shown.salient_figures}
    assert file == of_library.to_html()


@pytest.mark.parametrize(("head", "named", "total"), [("3-1", "dobj: sentence ", 2), ("2-2", "coreference: ", 1)])
def test_a_named_head_shows_the_input_that_it_is_named_for_and_the_way_to_all_others(head, named, total):
    app = open_app("head", head=head)
    parts = [each.proto.json for each in app.main.get("bidi_component")]
    (examples,) = [json.loads(part) for part in parts if "All its guesses" in part]
    assert examples[0]["title"].startswith(named) and len(examples) == total
    for each in examples:
        assert re.search(r"(\d+) of \1 (guesses )?right", each["title"]) and "attention_viewer?" in each["link"]
        assert f"head={head}" in each["notes"][0]["link"]
    assert not app.error and "Where it is clearest" not in str(drawings(app))


def test_a_sentence_of_one_s_own_is_drawn_as_the_stored_ones_are_and_cut_aloud():
    app = open_app("head", head="3-1", sentence="She bought a red bicycle.")
    (own,) = [each for each in drawings(app) if each["title"] == "On your sentence"]
    assert "bicycle ← bought" in own["svg"] and "own+text" in own["link"].replace("%20", "+")
    app.text_input(key="sentence").set_value("word " * 100).run()
    assert "The first 300 of 500 characters are read." in words(app) and "24 of 60 words" in str(drawings(app))
    lines = open_app("head", head="1-3", sentence="<b>cats</b> \U0001f600")
    (own,) = [each for each in drawings(lines) if each["title"] == "On your sentence"]
    assert "&lt;" in own["svg"] and "<b>" not in own["svg"] and "[UNK]" in own["svg"]
    assert own["notes"][0]["text"].endswith("[UNK]: what the model's vocabulary lacks.")
    empty = open_app("head", head="1-3", sentence="\u200b")
    assert not empty.exception and "There is no token in this text." in unescaped(empty.info[0].value)


def test_the_next_head_is_shown_without_another_page():
    app = open_app("head", head="3-5")
    app.button(key="step-next").click().run()
    assert "Head 3-6 " in words(app) and parameter(app, "head") == "3-6"
    assert not app.exception


def test_nearest_heads_and_pages_are_linked():
    notes = [note for item in drawings(open_app("head", head="3-5")) for note in item["notes"]]
    assert sum(note.get("link", "").startswith("head?head=") for note in notes) == 5
    assert any("entropy?head=3-5" in note.get("link", "") for note in notes)


def test_what_is_not_computed_is_a_line_with_a_button():
    app = open_app("head", max_length="64")
    assert "Not computed yet" in words(app) or "Nothing is computed yet" in words(app)
    assert any(button.label in ("Compute", "Run all") for button in app.button)


def test_the_overview_finds_heads_by_an_expression():
    app = open_app(find="previous > 0.5 and layer = 1")
    assert drawing(app, "names")["text"] == "previous > 0.5 and layer = 1"
    assert any(expander.label.endswith("heads in a table") for expander in app.expander)
    assert "Found: head 1-3 (1 of 72)." in words(app)
    parts = [each.proto.bytes for each in app.main.get("bidi_component") if each.proto.bytes]
    (faint,) = [each["faint"] for each in map(json.loads, parts[0].splitlines()) if "faint" in each]
    assert clearest("previous") not in faint and len(faint) > 60
    assert "None of 72 heads is found." in words(open_app(find="previous > 2"))
    app = open_app(find="prevous > 1")
    assert "There is no column 'prevous'; is 'previous' meant? (at character 1)" in words(app)
    assert parameter(app, "find") == "prevous > 1"
