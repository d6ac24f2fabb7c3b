"""The attention viewer's page without a browser: what it says, its address, masks, other texts."""

import json
import re
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bertviz_core.heads import Head
from pages.shared.frame import links
from pages.shared.views import viewer_input, viewer_panes
from pages.shared.views.viewer_input import SENTENCES
from tests.support import families
from tests.support.driving import open_app, parameter, unescaped, words
from tests.support.shipped import COUNT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


def viewer(**address: str) -> AppTest:
    return open_app("attention_viewer", **address)


def test_the_claim_is_of_the_chosen_head(planted_folder: Path) -> None:
    head = "1-1"  # looks at the previous token
    app = viewer(model=str(planted_folder), head=head)
    assert not app.error
    matches = re.search(r"; (\d+\.\d)% of its attention goes to special tokens", words(app))
    assert matches is not None
    assert float(matches[1]) < 50
    line = re.search(rf"Head {head} attends most strongly from “(\S+)” to “(\S+)” \(([\d.]+)\)", words(app))
    tokens = ["[CLS]", *SENTENCES["Coreference"][0].lower().replace(",", " ,").replace(".", " .").split()]
    assert (line[2], line[1]) in set(pairwise(tokens))
    assert 0.5 < float(line[3]) <= 1
    app.button(key="step-next").click().run()
    assert f"Head {head} attends" not in words(app)
    assert re.search(r"Head \d-\d attends most strongly", words(app))


def test_norms_of_the_address_are_what_is_shown(tiny_folder: Path) -> None:
    apps = [viewer(model=str(tiny_folder), head="1-2", weights=weights) for weights in ("attention", "norms")]
    matches = [re.search(r"[Hh]ead 1-2 .*?; (\d+\.\d)% of its (\w+)", words(app)) for app in apps]
    assert [found[2] for found in matches] == ["attention", "norms"]
    assert matches[0][1] != matches[1][1]
    assert [app.selectbox(key="weights").value for app in apps] == ["attention", "norms"]


def test_the_table_says_the_three_heaviest_of_each_token(planted_folder: Path) -> None:
    app = viewer(model=str(planted_folder), head="1-1", **{"as": "table"})
    table = app.table[0].value
    assert len(table) == 21
    assert unescaped(table["from"].iloc[4]) == "keys"
    assert unescaped(table["to, 1"].iloc[4]).startswith("her ")


def test_a_masked_token_is_predicted_and_given_back() -> None:
    app = viewer(input="own text", text="He sat on the chair.", mask="5")
    assert "**Masking** shifted" in words(app)
    (row,) = app.table[0].value.to_dict("records")
    expected = row["the model's guesses"]
    assert row["masked word"] == "5: **“the”**" and len(row) == 3
    rank = int(row["rank of the right word"].split(" ")[0].replace(",", ""))
    shares = [float(part.rstrip("%").split()[-1]) for part in expected.split(", ")]
    assert len(shares) == 5
    assert shares == sorted(shares, reverse=True)
    bold = [place for place, part in enumerate(expected.split(", "), start=1) if part.startswith("**“the”** ")]
    assert bold == ([rank] if rank <= 5 else [])
    next(b for b in app.button if b.label == "Unmask all").click().run()
    assert parameter(app, "mask") is None
    assert "**Masking** shifted" not in words(app)


def test_a_split_word_is_masked_as_a_whole_on_every_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    masked = []

    def drawn(key, on_mask_change, **_):
        st.session_state[key] = {"mask": 2}
        on_mask_change()

    monkeypatch.setattr(viewer_panes, "component", lambda *_: drawn)
    monkeypatch.setattr(viewer_input, "toggle_mask", masked.append)
    for _ in range(2):
        assert not viewer(input="own text", text="The xyzzy", units="words").exception
    assert len(masked) == 2 and masked[0] == masked[1] == set(range(2, 2 + len(masked[0]))) and len(masked[0]) > 1


def test_another_text_begins_without_masks_and_pins() -> None:
    app = viewer(mask="5", pin="from3")
    app.selectbox(key="example").set_value("Passives").run()
    assert parameter(app, "mask") is None
    assert parameter(app, "pin") is None


@pytest.mark.parametrize("mask", ["1", "999", "x,0,-3", ",,", "21"])
def test_an_address_with_masks_that_cannot_be_shows_the_text_as_it_is(mask: str) -> None:
    app = viewer(mask=mask)
    assert not app.error
    assert "**Masking** shifted" not in words(app)


def test_segments_of_the_corpus_and_their_end() -> None:
    app = viewer(input="corpus", segment="3")
    assert "encyclopedia, line 6-7" in words(app)
    assert app.selectbox(key="sides").options == ["all", "A to A", "A to B", "B to A", "B to B"]
    app.selectbox(key="sides").set_value("A to B").run()
    assert "of segment A's attention to segment B" in words(app)
    app.number_input(key="segment").set_value(100_000).run()
    assert "no passage 100000" in unescaped(app.error[0].value)


def test_the_settings_reach_the_segment() -> None:
    app = viewer(input="corpus", segment="3", units="words", max_length="16", **{"as": "table"})
    assert 8 < len(app.table[0].value) <= 16
    app.number_input(key="max_length").set_value(64).run()
    assert 16 < len(app.table[0].value) <= 64
    app.selectbox(key="dtype").set_value("bfloat16").run()
    assert not app.error


def test_long_text_is_cut_and_empty_text_refused() -> None:
    app = viewer(input="own text", text="cat " * 200, max_length="128")
    assert "74 tokens over the limit of 128 were cut" in words(app)
    app = viewer(input="own text")
    app.text_input(key="text").set_value("cat " * 600).run()
    assert "90 tokens over the limit of 512 were cut" in words(app)
    app.text_input(key="text").set_value("the [SEP] of a text").run()
    assert "spells out are read as letters (1 here)" in unescaped("".join(each.value for each in app.caption))
    app.text_input(key="text").set_value("  ").run()
    assert "no token in this text" in unescaped(app.error[0].value)


def test_guesses_without_heads_stand_beside_those_of_the_whole_model() -> None:
    def guesses() -> list[str]:  # the word, what the model guesses with and without the heads, and that column's title
        (table,) = [table.value for table in app.table if "the model's guesses" in table.value]
        return [*table.iloc[0, [0, 2, 3]], table.columns[3]]

    app = viewer(mask="4", off="layer 1")
    row = guesses()
    assert row[1] != row[2], "the first layer matters to this model"
    assert row[0].startswith("4: **“")
    app.multiselect(key="off").set_value(["5-1"]).run()
    assert not app.exception
    assert guesses()[1] == row[1] and guesses()[-1] == "without 1 head"
    next(b for b in app.button if b.label == "Unmask all").click().run()
    assert "1 head ablated. Mask a word" in words(app)


def test_a_model_without_a_masked_word_head_has_no_switches(tiny_folder: Path) -> None:
    app = viewer(model=str(tiny_folder))
    assert not any(box.key == "off" for box in app.multiselect)


def test_another_model_reads_the_same_sentence_with_tokens_of_its_own(planted_folder: Path, tiny_folder: Path) -> None:
    app = viewer(head="1-5", beside="two models", model2=str(planted_folder), head2="2-2")
    assert not app.error
    boxes = {key: app.selectbox(key=key).value for key in ("model2", "head2")}
    assert boxes == {"model2": str(planted_folder), "head2": "2-2"}
    assert "reads other tokens" not in words(app), "it has the demo's tokenizer"
    app = viewer(beside="two models", model2=str(tiny_folder), max_length="64")
    assert not app.error and "reads other tokens" in words(app)


def test_a_model_that_is_not_there_leaves_the_first_side(tmp_path: Path) -> None:
    app = viewer(head="1-5", beside="two models", model2=str(tmp_path / "none"))
    assert app.error
    assert "Head 1-5 attends" in words(app)


@pytest.mark.parametrize(("example", "page"), [("Coreference", "coreference_heads"), ("Direct objects", "dobj")])
def test_an_example_opens_on_the_head_that_is_best_at_it(example: str, page: str) -> None:
    heads_page = open_app("dependency_heads", relation=page) if page == "dobj" else open_app(page)
    app = viewer(example=example)
    assert app.selectbox(key="head").value == heads_page.selectbox(key="head").value
    assert parameter(app, "head") is None


def test_query_times_key_adds_up_to_the_weight_and_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: dict[str, Any] = {}
    monkeypatch.setattr(viewer_panes.page, "offer_files", offered.update)
    app = viewer(head="1-5", query="3", **{"as": "query × key"})
    assert parameter(app, "query") == "3" and not app.error
    sentence = next(line for line in words(app).splitlines() if line.startswith("**From “lost” to"))
    product, scale, score = (
        float(each) for each in re.search(r"= ([-\d.]+), × ([\d.]+) = ([-\d.]+);", sentence).groups()
    )
    assert product * scale == pytest.approx(score, abs=0.05)
    name, build = offered["ZIP: all tables"]
    assert name.endswith(".zip")
    assert ZipFile(BytesIO(build())).namelist() == ["head.csv", "heads.csv", "query-key.csv"]


def test_the_second_head_and_the_shift_by_masking_are_in_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: dict[str, Any] = {}
    monkeypatch.setattr(viewer_panes.page, "offer_files", offered.update)
    app = viewer(head="1-5", beside="two heads", head2="2-2", mask="4")
    assert not app.error
    with ZipFile(BytesIO(offered["ZIP: all tables"][1]())) as files:
        assert files.namelist() == ["head.csv", "heads.csv", "guesses.csv", "beside.csv", "shift.csv"]
        assert {*pd.read_csv(files.open("beside.csv"))["head"]} == {"2-2"}
        shift = pd.read_csv(files.open("shift.csv")).set_index("label")["shift"]
    own, most = re.search(r"shifted (\d+)% of head 1-5's attention, and (\d+)% of head", unescaped(words(app))).groups()
    assert (f"{shift['1-5']:.0%}", f"{shift.max():.0%}") == (f"{own}%", f"{most}%")


def test_a_model_that_returns_its_maps_has_no_queries_and_says_so(tmp_path: Path) -> None:
    folder = families.save(families.FAMILIES["mpnet"], tmp_path)
    app = viewer(model=str(folder), max_length="32", **{"as": "query × key"})
    assert not app.error and "does not show the queries and keys" in unescaped(app.info[0].value)


def pair_table(app: AppTest):
    return next(frame.value for frame in app.dataframe if "rank_of_target" in frame.value)


def test_heads_are_sorted_by_their_weight_from_one_token_to_another() -> None:
    app = viewer(units="words", pin="from4,to2")
    assert app.selectbox(key="from_token").value == 4 and app.selectbox(key="to_token").value == 2
    table = pair_table(app)
    assert list(table["rank"]) == list(range(1, COUNT + 1))
    assert table["weight"].is_monotonic_decreasing
    best = table.iloc[0]
    assert f"Head {best['layer']:.0f}-{best['head']:.0f} attends most strongly from “her” to “anna”" in unescaped(
        words(app)
    )
    app.selectbox(key="to_token").set_value(5).run()
    assert "from “her” to “keys”" in unescaped(words(app))
    assert parameter(app, "to_token") == "5" and parameter(app, "from_token") is None
    again = viewer(units="words", pin="from4,to2", to_token="5")
    assert pair_table(again).equals(pair_table(app))
    next(b for b in again.button if b.label == "Use the pins").click().run()
    assert again.selectbox(key="to_token").value == 2


def test_a_sentence_of_a_treebank_comes_with_its_pins_and_the_way_back() -> None:
    given = {"dependents": "from1,to2,from9", "given": "true", "units": "words"}
    back = "dependency_heads?relation=det&which=right"
    app = viewer(input="own text", text="The boats sailed", back=back, **given)
    assert not app.error
    assert (parameter(app, "pin"), parameter(app, "dependents")) == (None, "from1,to2,from9")  # no entry of the history
    (link,) = [link for link in app.get("page_link") if link.proto.label == "Back to Dependency heads"]
    assert "relation=det" in link.proto.query_string and "guesses=right" in link.proto.query_string
    app.text_input(key="text").set_value("The boats sailed home").run()
    assert not app.error and parameter(app, "dependents") is parameter(app, "back") is None


def test_a_sentence_is_named_by_where_it_is_from_until_it_is_changed() -> None:
    origin = "EWT test, sentence 1,031, line 9"
    app = viewer(input="own text", text="The boats sailed", origin=origin, given="true")
    assert origin in [caption.value for caption in app.caption]
    app.text_input(key="text").set_value("The boats sailed home").run()
    assert parameter(app, "origin") is None
    assert origin not in [caption.value for caption in app.caption]


def test_a_word_is_searched_in_the_whole_corpus_and_its_line_opens() -> None:
    app = viewer(input="corpus", find="iron")
    assert parameter(app, "find") == "iron"
    app.session_state["corpus-search"] = True
    app.run()
    found = next(caption.value for caption in app.caption if " of encyclopedia" in caption.value)
    assert int(found.split(" lines")[0]) > 3
    line = int(app.button(key="hit-1").label.removeprefix("Line "))
    app.button(key="hit-1").click().run()
    assert not app.error and app.number_input(key="segment").value > 1
    where = next(caption.value for caption in app.caption if caption.value.startswith("encyclopedia, line "))
    where = where.replace("\\", "")  # what Markdown would read is escaped
    first, _, last = where.removeprefix("encyclopedia, line ").partition("-")
    assert int(first) <= line <= int(last or first)
    app.session_state["corpus-search"] = True
    app.run()
    app.text_input(key="find").set_value("zyxw").run()
    assert "No line contains these words." in [caption.value for caption in app.caption]


def test_words_with_spaces_make_no_link_for_the_viewer_would_split_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "address_of", lambda page, head: page.text)
    assert links.to_words(["vice versa", "."], Head(0, 0)) == ""
    assert links.to_words(["vice", "."], Head(0, 0)) != ""


def test_a_view_with_nothing_in_it_says_so() -> None:
    app = viewer(input="own text", text="\x07", second="The cat.", hide="true", sides="A to B")
    assert "No attention to show" in words(app)
    app.selectbox(key="sides").set_value("all").run()
    assert f"Head {app.selectbox(key='head').value} attends most strongly from" in words(app)


def test_a_threshold_over_every_line_is_said_to_leave_none(planted_folder: Path) -> None:
    message, model = "No weight reaches 0.50, so no lines are drawn.", str(planted_folder)
    assert message not in words(viewer(model=model, head="1-1", least="0.5"))
    broad = viewer(model=model, head="1-2", least="0.5")
    assert message in words(broad)
    broad.slider(key="least").set_value(0.0).run()
    assert "no lines are drawn" not in words(broad)


def test_another_model_reads_a_text_that_no_address_holds_as_the_first_does(planted_folder: Path) -> None:
    text = f"the cat{' ' * 992}andand"
    app = viewer(beside="two models", model2=str(planted_folder), input="own text", text=text)
    assert "has the first 1,000 characters of this text alone" in words(app)
    assert not app.error
    assert "reads other tokens" not in words(app)
    assert parameter(app, "text") == text[:1000]


LONG = " ".join(f"the {name} saw the gate ." for name in ("sailor", "farmer", "captain") * 30)[:-2]  # 540 - 1 tokens


def lines_titles(app: AppTest) -> list[str]:
    sent = [each.proto.json for each in app.get("bidi_component")]
    return [json.loads(text)["title"] for text in sent if "minWeight" in text]


def drawn_tokens(app: AppTest) -> tuple[list[str], list[int]]:
    """The labels of the left column, and the positions of its tokens, from 1."""
    rows = next(
        json.loads(each.proto.json)["from"] for each in app.get("bidi_component") if "minWeight" in each.proto.json
    )
    return [row["label"] for row in rows], [row["start"] + 1 for row in rows]


def test_all_tokens_of_a_long_text_are_reached_by_windows_and_pins_stay_in_sight() -> None:
    app = viewer(input="own text")
    app.text_input(key="text").set_value(LONG).run()
    positions = drawn_tokens(app)[1]
    assert positions == [*range(1, 41), 512]
    assert "In tokens 1 to 40, head" in words(app) and "% to tokens not drawn" in words(app)
    app.button(key="step-next-window").click().run()
    assert drawn_tokens(app)[1] == [1, *range(41, 81), 512]
    assert (parameter(app, "first"), parameter(app, "last")) == ("41", "80")
    app.number_input(key="first").set_value(300).run()
    assert drawn_tokens(app)[1] == [1, *range(300, 340), 512] and app.number_input(key="last").value == 339
    app.number_input(key="last").set_value(310).run()
    assert drawn_tokens(app)[1] == [1, *range(300, 311), 512]
    app = viewer(input="own text", text="cat " * 240, pin="from7", first="101")
    assert drawn_tokens(app)[1] == [1, 7, *range(101, 141), 242] and parameter(app, "pin") == "from7"
    app.text_input(key="text").set_value("The cat sat.").run()
    assert parameter(app, "first") is None and not any(each.key == "first" for each in app.number_input)


def test_words_of_a_long_text_are_found_one_window_after_the_other() -> None:
    app = viewer(input="own text")
    app.text_input(key="text").set_value(LONG).run()
    app.text_input(key="seek").set_value("Captain saw").run()
    labels, positions = drawn_tokens(app)
    assert "captain" in labels and "28 found" in words(app)
    seen = {position for position, label in zip(positions, labels, strict=True) if label == "captain"}
    for _ in range(20):
        next(button for button in app.button if button.label == "Next match").click().run()
        labels, positions = drawn_tokens(app)
        seen |= {position for position, label in zip(positions, labels, strict=True) if label == "captain"}
    assert len(seen) == 28
    app.text_input(key="seek").set_value("zyxw").run()
    assert "not found" in words(app) and not any(button.label == "Next match" for button in app.button)


@pytest.mark.parametrize("shape", ["heatmap", "table", "query × key"])
def test_every_shape_of_a_long_text_is_of_its_window(shape: str) -> None:
    app = viewer(input="own text", text="cat " * 240, first="101", last="120", **{"as": shape})
    assert not app.error and not app.exception
    if shape == "table":
        assert app.table[0].value["position"].tolist() == [1, *range(101, 121), 242]


def test_the_first_token_of_a_decoder_is_left_out_and_the_page_says_so(tmp_path: Path) -> None:
    folder = families.save(families.FAMILIES["gpt2"], tmp_path)
    app = viewer(model=str(folder), skip="true", input="own text", text="the cat sat on the mat", max_length="32")
    assert not app.error and 1 not in drawn_tokens(app)[1]
    assert "Without the first token: the other weights are rescaled to sum to 1." in words(app)
    app.toggle(key="skip").set_value(False).run()
    assert 1 in drawn_tokens(app)[1] and "Without the first token" not in words(app)
    encoder = viewer(skip="true")
    assert 1 in drawn_tokens(encoder)[1] and not any(each.key == "skip" for each in encoder.toggle)


def test_an_example_asks_for_the_pair_that_it_is_about() -> None:
    app = viewer()
    assert "attends most strongly from “he” to “brother”" in unescaped(words(app))


def test_the_second_head_is_chosen_above_its_drawing_with_the_popover_closed() -> None:
    app = viewer(head="1-5", beside="two heads")
    app.session_state["compare"] = False
    app.run()
    app.selectbox(key="head2").set_value("2-8").run()
    assert parameter(app, "head2") == "2-8" and "Head 2-8, demo" in lines_titles(app)
    app.session_state["compare"] = True
    app.run()
    app.selectbox(key="beside").set_value("one head").run()
    assert app.session_state["compare"] is False


def test_a_model_whose_weights_are_no_numbers_is_named_in_one_box(nan_folder: Path) -> None:
    app = open_app("attention_viewer", model=str(nan_folder))
    assert "weights are not finite numbers" in app.error[0].value and len(app.error) == 1


def test_a_decoder_says_what_it_expects_after_the_pinned_token_and_which_heads_write_it() -> None:
    app = viewer(model="demo-decoder", head="4-5", pin="from5", expected="2")
    assert not app.error and not app.exception
    text = words(app)
    assert "**Expected after “her” (5)**" in text
    names = list(app.button_group(key="expected").options)
    assert len(names) in (5, 6) and sum("(comes next)" in name for name in names) == 1
    token, share = re.search(r"“(.+)” ([\d.]+)%", names[1]).groups()
    assert f"Which heads write “{token}” after “her”?" in [unescaped(each.value) for each in app.header]
    assert re.search(rf"Its probability is {share}%, without head 4-5 [\d.e-]+%", text)
    parts = re.search(r"is ([+-][\d.]+) nats from .*: heads (\S+), MLPs (\S+), embeddings (\S+), biases (\S+)\.", text)
    logit, *others = (float(part.rstrip(",")) for part in parts.groups())
    assert sum(others) == pytest.approx(logit, abs=2e-3)
    for table in ("next-for", "next-against"):
        frame = app.dataframe(key=table).value
        assert list(frame["contribution"].abs()) == sorted(frame["contribution"].abs(), reverse=True)


def test_the_chosen_head_gives_way_to_those_that_are_ablated() -> None:
    assert "without 2 heads" in words(viewer(model="demo-decoder", off="4-1,4-2"))
