"""The page of the dependency heads: an uploaded treebank, choices that compute nothing, and clicks in a browser."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.driving import analyze, metrics, open_app, switch, uploader, words

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
BANK = "The 2-det\ncat 3-nsubj\nsat 0-root\n\nA 2-det\ndog 3-nsubj\nstood 0-root\n\n<b>x</b> 2-dep\n$y$ 0-root\n"


def test_the_page_opens_on_the_stored_result_with_the_papers_labels() -> None:
    app = open_app("dependency_heads", relation="det", head="1-2")
    assert not app.error
    table = app.dataframe[0].value.set_index("relation")
    assert table.loc["det", "paper"] == 94.3
    assert metrics(app)["Best head"] == f"{table.loc['det', 'accuracy']:.0f}%"
    assert "Trees: function words as governors; read as CoNLL-U" in words(app)
    assert re.search(r"\*\*Head 1-2\*\* in [\d,]+ of all 160 sentences with det", words(app))
    offset, accuracy = int(table.loc["det", "offset"]), table.loc["det", "by offset"]
    found = re.search(r"the best fixed offset, (\S+), finds ([\d.]+)%", words(app))
    assert found[1] == f"{offset:+d}" and float(found[2]) == pytest.approx(accuracy, abs=0.5)
    assert metrics(app)[f"Best fixed offset, offset {offset:+d} (last word to itself)"] == f"{accuracy:.0f}%"
    assert "UAS with punctuation" in words(app) and "the last word to itself" in words(app)


def test_choices_compute_nothing_anew() -> None:
    app = open_app("dependency_heads")
    app.segmented_control(key="view").set_value("as-is").run()
    assert "Trees: as annotated" in words(app)
    assert "nmod:poss" in set(app.dataframe[0].value["relation"])
    app.toggle(key="merge_subtypes").set_value(True).run()
    assert not any(":" in relation for relation in app.dataframe[0].value["relation"])
    app.number_input(key="min_count").set_value(100).run()
    assert app.dataframe[0].value["n"].min() >= 100
    assert not app.exception and not app.error
    assert "Analyze" not in " ".join(button.label for button in app.button)
    app = open_app("dependency_heads", mode="paper")
    assert not app.exception and "Best head, held out" in metrics(app)


def test_the_best_head_of_a_relation_is_taken_with_its_direction() -> None:
    app = open_app("dependency_heads", relation="pobj", head="1-1")
    row = app.dataframe[0].value.set_index("relation").loc["pobj"]
    next(button for button in app.button if button.label == f"Choose {row['head']}").click().run()
    assert app.selectbox(key="head").value == row["head"]
    assert metrics(app)[f"Chosen head {row['head']}"] == metrics(app)["Best head"]


def test_an_uploaded_treebank_is_analyzed_and_a_text_page_keeps_its_own_corpus() -> None:
    app = open_app("dependency_heads")
    uploader(app).set_value(("mine.conllu", BANK.encode(), "text/plain")).run()
    assert "demo on mine.conllu" in words(app)
    analyze(app)
    app.number_input(key="min_count").set_value(1).run()
    assert not app.error and not app.exception
    table = app.dataframe[0].value.set_index("relation")
    assert table["n"].to_dict() == {"all": 8, "UAS": 8, "det": 2, "nsubj": 2, "dep": 1}
    assert "read as word head-label" in words(app)
    switch(app, "entropy")
    assert app.selectbox(key="corpus").value == "encyclopedia"
    switch(app, "dependency_heads")
    assert app.selectbox(key="treebank").value.startswith("upload-")
    assert not app.exception


def sentence_count(app: AppTest) -> int:
    """How many sentences the list has."""
    return int(re.search(r"\*\* in ([\d,]+) of all", words(app))[1].replace(",", ""))


def test_sentences_are_found_by_their_guesses_and_their_words() -> None:
    app = open_app("dependency_heads", relation="det", head="1-2")
    everything = sentence_count(app)
    app.segmented_control(key="guesses").set_value("right").run()
    right = sentence_count(app)
    app.segmented_control(key="guesses").set_value("wrong").run()
    assert 0 < right < everything and right + sentence_count(app) >= everything
    app.text_input(key="search").set_value("the").run()
    assert 0 < sentence_count(app) < everything
    assert "Most confident first, guesses that are wrong, with “the”." in words(app)
    app.text_input(key="search").set_value("no such word").run()
    assert sentence_count(app) == 0 and not app.exception
