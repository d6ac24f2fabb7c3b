"""The coreference page: numbers, choices, documents, uploads; last, in a browser."""

import json

import pytest

from bertviz_core.analyses.coreference_heads.baselines import CHANCE, RANDOM
from bertviz_core.engine.store import Store
from bertviz_core.plotting import percent
from tests.support import shipped
from tests.support.bracketed import conll
from tests.support.driving import analyze, open_app, unescaped, uploader, words

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]

PAGE = "coreference_heads"
CHANCES = (CHANCE, RANDOM)


def table_2(app):
    """The table of systems by type of mention."""
    return next(one.value for one in app.dataframe if list(one.value.columns)[:2] == ["system", "all"])


def test_it_opens_on_the_sample_without_the_papers_numbers_of_another_corpus():
    app = open_app(PAGE)
    assert not app.error and "demo on coreference" in words(app)
    chance = ["Chance", "Random candidate"]
    assert [metric.label for metric in app.metric][1:] == [*chance, "Nearest", "Head match", "Rule-based"]
    assert [metric.value for metric in app.metric[1:3]] == [
        percent(shipped.result(PAGE).default_view().of_system(name)[0], 700) for name in CHANCES
    ]
    assert not any(metric.delta for metric in app.metric)
    assert "finds an antecedent of" in words(app) and "head words found by rule" in words(app)
    table = table_2(app)
    assert list(table.columns) == ["system", "all", "pronoun", "proper", "nominal"] and len(table) == 9
    assert "(" not in table.iloc[0]["all"]


def test_the_papers_numbers_stand_beside_its_own_direction_alone():
    """Table 2 is mention -> antecedent, whatever the switch says; the claim, the cards and the rest follow it."""
    app = open_app(PAGE)
    result = shipped.result(PAGE).default_view()
    best, other = result.best(), result.best(direction=1)
    claim, turned = (f"finds an antecedent of {result.row(choice)['accuracy']:.1%}" for choice in (best, other))
    assert f"Head {best.head.label()}, mention → antecedent, {claim}" in words(app)
    assert app.segmented_control(key="direction").value == "mention->antecedent"
    before = [(metric.label, metric.value, metric.delta) for metric in app.metric]
    table = table_2(app)
    assert before[0][0] == f"Best head: {best.head.label()}"
    row = table[table["system"] == f"best head, {best.head.label()}"].iloc[0]
    assert "(" not in row["all"]
    row = table[table["system"] == f"antecedent → mention: best head, {other.head.label()}"].iloc[0]
    assert not any("(" in cell for cell in row)
    assert "paper does not measure this direction" not in words(app)
    app.segmented_control(key="direction").set_value("antecedent->mention").run()
    assert [(metric.label, metric.value, metric.delta) for metric in app.metric][1:] == before[1:]
    assert app.metric[0].label == f"Best head: {other.head.label()}" and table_2(app)[:-1].equals(table[:-1])
    named = f"Head {other.head.label()}, antecedent → mention, {turned}"
    assert named in words(app) and "paper does not measure this direction" in words(app)
    assert not app.error


def test_the_best_head_is_one_click_away():
    app = open_app(PAGE, head="1-1")
    button = next(button for button in app.button if button.label.startswith("Choose head"))
    label = button.label.removeprefix("Choose head ")
    button.click().run()
    assert app.selectbox(key="head").value == label and f"Guesses of head {label}" in words(app)
    assert not any(button.label.startswith("Choose head") for button in app.button)


def passages_of(app) -> list[dict]:
    """What the component draws: titles, and the guesses below each passage."""
    (component,) = [one for one in app.get("bidi_component") if '"notes"' in one.proto.json]
    return json.loads(component.proto.json)


def test_an_upload_is_analyzed_and_one_that_is_broken_names_its_line():
    app = open_app(PAGE)
    text = conll("[1 Ann ] sang . / [1 She ] smiled .", "[1 The cat ] saw [2 the dog ] . / [1 It ] slept .")
    uploader(app).set_value(("mine.conll", text.encode(), "text/plain")).run()
    analyze(app)
    assert not app.error and "demo on mine.conll" in words(app) and "100.0% of 2 mentions" in words(app)
    broken = text.partition("#end document")[0].replace("(1|1)", "(1", 1) + "#end document\n"  # no document is left
    uploader(app).set_value(("broken.conll", broken.encode(), "text/plain")).run()
    assert "never closes" in unescaped(app.error[0].value) and "line 2" in unescaped(app.error[0].value)


def test_a_file_with_one_candidate_each_says_that_this_proves_nothing():
    app = open_app(PAGE)
    text = conll("[1 The cook ] slept because [1 he ] was tired .", "[1 A nurse ] ran because [1 she ] was late .")
    uploader(app).set_value(("one.conll", text.encode(), "text/plain")).run()
    analyze(app)
    assert app.metric[0].value == "100%" and "only one candidate" in app.info[0].value
    app.segmented_control(key="candidates").set_value("words").run()
    assert not app.info and not app.error


def count_of(app) -> str:
    """How many passages there are of how many mentions, as the page says it."""
    return next(each.value for each in app.markdown if each.value.startswith("**Guesses of")).partition(": ")[2]


def test_passages_are_found_by_a_word_and_by_the_name_of_their_document():
    app = open_app(PAGE)
    everything = int(count_of(app).split()[0])
    app.text_input(key="search").set_value("council").run()
    assert 0 < int(count_of(app).split()[0]) < everything
    assert not app.error and not app.exception
    name = passages_of(app)[0]["title"].rpartition(", words")[0]
    app.text_input(key="search").set_value(name).run()
    assert int(count_of(app).split()[0]) == 1 and passages_of(app)[0]["title"].startswith(name)
    app.text_input(key="search").set_value("zyxw").run()
    assert count_of(app) == "0 passages" and not app.error and not app.exception


def test_all_passages_of_a_long_corpus_are_listed_and_a_dropped_part_leaves_the_first(own_store):
    """The second word of each document's name is its number: pages reach the last one, orders begin anywhere."""
    app = open_app(PAGE)
    text = conll(*["[1 Ann ] saw [2 Bo ] . / [1 She ] waved to [2 him ] ."] * 600)
    uploader(app).set_value(("long.conll", text.encode(), "text/plain")).run()
    analyze(app)
    assert count_of(app) == "600 passages"
    app.number_input(key="page").set_value(600).run()
    last = passages_of(app)[-1]
    assert len(last["notes"]) == 2 and all("attention_viewer?" in note["link"] for note in last["notes"])
    link = {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}
    again = open_app(PAGE, **link)
    assert passages_of(again) == passages_of(app)
    Store().delete(*Store().names("detail"))
    app = open_app(PAGE, coreference=link["coreference"])
    assert count_of(app) == "500 passages in the documents of the first 1,000 of 1,200 mentions"
