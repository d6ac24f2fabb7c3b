"""The overview and the head panel, driven as a reader would; both read what is stored."""

import json
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.heads import Head
from pages.shared import page
from pages.shared.frame import PANEL
from pages.shared.frame.context import UPLOAD_FIRST
from tests.support import shipped
from tests.support.driving import ROOT, open_app, parameter, paste, unescaped, wait_for_job, words
from tests.support.running import run
from tests.support.shipped import COUNT, clearest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
TEXT = "the cat sat on the mat .\nthe dog slept , and slept\n"


def drawn_map(app: AppTest) -> bytes:
    """What the map of heads is drawn from: JSON objects, one a line."""
    return next(each.proto.bytes for each in app.main.get("bidi_component") if each.proto.bytes)


def test_it_is_the_default_page_and_tells_every_head_of_the_model() -> None:
    head = clearest("previous")
    app = open_app(head=head)
    assert [title.value for title in app.title] == ["Overview"]
    assert f"of {COUNT} heads do something recognizable" in words(app)
    assert len(app.metric) == 2
    assert f"Every number of head {head}" in [expander.label for expander in app.expander]
    (listed,) = [each["cards"] for each in map(json.loads, drawn_map(app).splitlines()) if "cards" in each]
    cards = {each["title"]: each for each in listed}
    card = f"Head {Head.parse(head).full_label()}"
    assert len(cards) == COUNT and cards[card]["behavior"] == "previous token"
    first = [(label, rank) for label, _, _, rank in cards[card]["numbers"]]
    here = {label: value for label, value, *_ in cards[card]["numbers"]}
    assert float(here["attention to the previous token"]) > 0.9  # on the example, whose numbers ship
    assert ("attention to the previous token", f"1 of {COUNT}") in first and len(set(first)) == 2
    rows = app.dataframe[0].value.set_index("quantity")
    assert rows.loc["attention to the previous token", "rank"] == f"1 of {COUNT}"
    assert "Every analysis that one job can run is stored" in words(app) and "Start Ablation" not in words(app)
    assert re.search(rf"Head {head} puts 0\.9\d+ ± \S+ of its attention on the previous token;", words(app))


def lines_of(app: AppTest) -> tuple[list[str], str]:
    """The tokens whose lines the map sends, and which of the sentence's they are where it has more."""
    (preview,) = [each["preview"] for each in map(json.loads, drawn_map(app).splitlines()) if "preview" in each]
    return preview["tokens"], preview["part"]


def test_the_lines_of_all_heads_are_of_the_reader_s_sentence_which_the_address_has() -> None:
    app = open_app()
    assert lines_of(app)[0][:3] == ["[CLS]", "anna", "lost"]
    app.text_input(key="sentence").set_value("The <b>cat</b> sat.").run()
    tokens, part = lines_of(app)
    assert tokens == ["[CLS]", "the", "<", "b", ">", "cat", "<", "/", "b", ">", "sat", ".", "[SEP]"] and not part
    assert parameter(app, "sentence") == "The <b>cat</b> sat."
    again = open_app(sentence="The <b>cat</b> sat.")
    assert drawn_map(again) == drawn_map(app)
    again.text_input(key="sentence").set_value("cat " * 60).run()
    tokens, part = lines_of(again)
    assert len(tokens) == 24 and part == "Lines on the first 24 of 62 tokens"


def guesses_of(app: AppTest) -> dict[str, Any] | None:
    """The table of guesses on the card of the chosen head."""
    (data,) = [each for each in map(json.loads, drawn_map(app).splitlines()) if "guesses" in each]
    return data["guesses"]


def test_a_click_switches_a_named_head_on_and_the_card_has_the_guesses_with_and_without_it() -> None:
    app = open_app()
    assert re.search(r"Start with head \S+, which finds direct objects in 79 of 100\.", unescaped(words(app)))
    assert guesses_of(app) is None  # of the example only once a word is chosen: a page of stored results runs no model
    app.button(key="start-0").click().run()
    assert parameter(app, "head") == "3-1" and parameter(app, "sentence") == app.text_input(key="sentence").value
    table = guesses_of(app)
    assert table is not None and table["header"][1:] == ["with", "without 3-1"]
    assert table["header"][0].endswith(", masked, the word whose probability changes most without the head")
    assert [cells[0].startswith("✓ ") for cells in table["rows"]].count(True) == 1
    app.selectbox(key="word").set_value(2).run()
    changed = guesses_of(app)
    assert changed is not None and changed["header"][0].endswith("”, masked") and parameter(app, "word") == "2"


def test_a_paste_of_any_length_is_cut_and_says_so_until_another_sentence_comes() -> None:
    app = open_app()
    app.text_input(key="sentence").set_value("cat " * 150).run()
    assert "The first 300 of 600 characters are read." in words(app) and len(parameter(app, "sentence")) == 300
    app.button(key="start-0").click().run()
    assert "characters are read" not in words(app)


def test_a_sentence_without_tokens_says_so_and_leaves_the_map() -> None:
    app = open_app(sentence="  ")
    assert not app.error and "There is no token in this text." in unescaped(app.info[0].value)
    assert b"preview" not in drawn_map(app) and b"cards" in drawn_map(app)


def test_three_ways_lead_on() -> None:
    app = open_app()
    labels = [link.proto.label for link in app.main.get("page_link")]
    assert {"Take the tour", "The paper's findings"} <= {*labels}
    app.session_state[PANEL] = False
    app.run()
    next(b for b in app.button if b.label == "Use your corpus").click().run()
    assert app.session_state[PANEL] is True
    assert [each.label for each in app.text_area] == ["Or paste text"]
    assert app.session_state[UPLOAD_FIRST] is True  # upload and paste stand above the model
    app.session_state[PANEL] = False
    assert app.run().session_state[UPLOAD_FIRST] is False


def test_what_is_folded_is_drawn_once_it_is_open() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    assert not app.dataframe and "Report" not in downloads(app)
    app.session_state["folded-report"] = True
    assert not app.run().dataframe and "Report" in downloads(app)


def test_everything_that_is_missing_is_one_job() -> None:
    app = open_app()
    paste(app, TEXT)
    assert "Not stored yet: 5 analyses. One job takes 2 passes" in words(app)
    next(b for b in app.button if b.label.startswith("Run all")).click().run()
    app = wait_for_job(app)
    assert not app.error
    assert "Start Ablation from its own page." in words(app)
    stored = app.dataframe[-1].value
    pasted = stored[stored["corpus"] == "pasted text"]
    by_name = dict(zip(pasted["analysis"], pasted["stored"], strict=True))
    assert by_name.pop("Ablation") != "✓", "it costs a hundred passes, and is run from its page"
    assert by_name.pop("Next token") == "decoders only"
    assert by_name == dict.fromkeys(["Surface patterns", "Entropy", "Reach", "Sink gradients", "Clustering"], "✓")


def downloads(app: AppTest) -> list[str]:
    return [button.proto.label for button in app.get("download_button")]


def test_the_files_and_the_command_have_the_heads_that_are_found(monkeypatch, tmp_path) -> None:
    offered: dict[str, Any] = {}
    monkeypatch.setattr(page, "offer_files", offered.update)
    expression = "previous > 0.5"
    app = open_app(find=expression)
    assert not app.error
    whole = json.loads(offered["JSON"][1]())
    averages = shipped.result("surface_patterns")["previous"]
    expected = [f"{layer + 1}-{head + 1}" for layer, head in np.argwhere(averages > 0.5).tolist()]
    assert whole["find"] == expression and [head["label"] for head in whole["heads"]] == expected
    assert whole["findings"] and all(finding["sentence"] for finding in whole["findings"])
    out = tmp_path / "overview.json"
    done = run("overview", "--find", expression, "--out", out)
    assert done.returncode == 0, done.stderr
    assert [head["label"] for head in json.loads(out.read_text())["heads"]] == expected
    printed = run("overview", "--find", expression).stdout
    assert f"{len(expected)} of 72 heads: {expression}" in printed


def test_the_report_is_a_download_once_what_it_lacks_is_computed_as_one_job(planted_folder) -> None:
    app = open_app(model=str(planted_folder), max_length="32", limit="12")
    assert "Report" not in downloads(app)
    assert "Not in the report yet: Surface patterns, Entropy" in words(app)
    button = next(b for b in app.button if b.label.startswith("Compute the report"))
    assert button.label == "Compute the report"  # Nothing like it has run yet, so its time is not known.
    button.click().run()
    app = wait_for_job(app)
    assert not app.error, app.error[0].value
    app.session_state["folded-report"] = True
    assert "Report" in downloads(app.run()) and "Not in the report yet" not in words(app)
    again = open_app(model=str(planted_folder), max_length="32", limit="12")
    assert "Report" in downloads(again)


def test_a_report_that_cannot_be_whole_says_why_and_can_be_had(planted_folder) -> None:
    app = open_app(model=str(planted_folder), max_length="8", limit="1")
    next(b for b in app.button if b.label.startswith("Compute the report")).click().run()
    app = wait_for_job(app)
    assert "Not computed: Probes." in words(app) and app.error
    assert "Report" in downloads(app)
    assert any(b.label.startswith("Compute the report") for b in app.button)


def test_the_site_is_a_download_once_a_job_has_written_it() -> None:
    app = open_app(model="demo-decoder", text="encyclopedia")
    assert "Site" not in downloads(app)
    next(b for b in app.button if b.label == "Write the site").click().run()
    app = wait_for_job(app)
    assert not app.error
    assert "Site" in downloads(app) and "Site" in downloads(open_app(model="demo-decoder"))


def test_a_model_of_which_nothing_is_stored_offers_the_job(tiny_folder) -> None:
    app = open_app(model=str(tiny_folder))
    assert not app.error
    assert not app.metric
    assert any(b.label.startswith("Run all") for b in app.button)
    stored = app.dataframe[0].value.set_index("analysis")["stored"]
    assert {stored.pop(name) for name in ("Sink gradients", "Ablation", "Minimal pairs")} == {"no MLM head"}
    assert stored.pop("Next token") == "decoders only"
    assert set(stored) == {"not yet"}
    assert "Not stored yet: 9 analyses" in words(app)


def test_before_anything_is_computed_every_head_answers_a_sentence(tiny_folder) -> None:
    app = open_app(model=str(tiny_folder), sentence="The cat sat.")
    assert "Nothing is computed yet" in words(app) and not app.error
    drawn: dict[str, Any] = {}
    for line in drawn_map(app).splitlines():
        drawn |= json.loads(line)
    assert drawn["picture"].startswith("data:image/png") and drawn["preview"]["tokens"][1:3] == ["the", "cat"]
    (box,) = (each for each in app.text_input if each.value == "The cat sat.")
    box.set_value("\u200b").run()
    assert "There is no token in this text" in words(app) and any(b.label.startswith("Run all") for b in app.button)


def test_the_open_panel_has_ranks_and_links_that_stay_with_the_head() -> None:
    app = open_app("entropy", head="1-5")
    app.session_state["head-panel"] = True
    app.run()
    rows = next(each.value for each in app.dataframe if "rank" in each.value).set_index("quantity")
    assert rows.loc["entropy, nats", "rank"].endswith(f"of {COUNT}")
    assert rows.loc["antecedents found", "baseline"].endswith("(head match)")
    assert "Most similar heads" in words(app)
    linked = {link.proto.page for link in app.main.get("page_link")}
    assert {"surface_patterns", "clustering", "dependency_heads"} <= linked
    assert "entropy" not in linked


def test_pages_on_stored_results_import_neither_torch_nor_transformers() -> None:
    code = """
import sys
from streamlit.testing.v1 import AppTest
from tests.support.driving import switch
from tests.support.navigation import frame_at_every_page
frame_at_every_page()
app = AppTest.from_file("app.py", default_timeout=60).run()
app.session_state["head-panel"] = True
for page in ("overview", "tour", "entropy"):
    switch(app, page)
    assert not app.exception and not app.error and app.title
print(*sorted(name for name in ("torch", "transformers") if name in sys.modules), "looked")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["looked"]
