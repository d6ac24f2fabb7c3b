"""Every page, driven as a reader would, without a browser: the numbers on the screen, the controls, bad input."""

import time
from pathlib import Path

import numpy as np
import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import short_names
from tests.support.driving import analyze, open_app, paste, shown, unescaped, wait_for_job, words
from tests.support.shipped import values

TOO_FEW = ["(too", "few", "passages", "to", "say)"]
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


def test_the_head_of_the_address_is_the_head_on_the_page() -> None:
    app = open_app("surface_patterns", head="2-3")
    assert "Head 2-3" in words(app)
    app.button(key="step-next").click().run()
    assert app.selectbox(key="head").value == "2-4"
    assert "Head 2-4" in words(app)
    app.toggle(key="zero").set_value(True).run()
    assert "Head 1-3" in words(app)  # the same head, counted from 0


def test_a_head_that_the_model_lacks_is_named_and_the_page_opens_on_its_own() -> None:
    app, plain = open_app("surface_patterns", head="99-1"), open_app("surface_patterns")
    assert "Head: “99-1” is not available here." in unescaped(app.warning[0].value)
    assert app.selectbox(key="head").value == plain.selectbox(key="head").value
    assert "head" not in app.query_params and not plain.warning


@pytest.mark.parametrize(("length", "words_of_it"), [("64", " · at most 64 tokens"), ("128", ""), ("99999", "")])
def test_the_line_under_the_title_says_a_length_that_is_used_and_not_usual(length: str, words_of_it: str) -> None:
    assert shown(open_app("entropy", max_length=length)) == f"demo on encyclopedia{words_of_it}"


def test_norms_of_the_address_are_read_and_compared_with_the_weights() -> None:
    app, plain = open_app("surface_patterns", weights="norms"), open_app("surface_patterns")
    message = words(app)
    assert app.selectbox(key="weights").value == "norms"
    assert "rank correlation of a token's vector length" in message
    assert plain.toggle(key="both").label == "Add the other measure" and "rank correlation" not in words(plain)
    assert app.metric[2].value != plain.metric[2].value
    app.toggle(key="both").set_value(True).run()
    assert not app.exception
    gradients = open_app("sep_gradients", weights="norms")
    assert "weights" not in [box.key for box in gradients.selectbox] and len(gradients.metric) == 4


def test_a_hub_model_is_fetched_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from bertviz_core.models import checkpoint, model_sources

    fetched: list[str] = []
    monkeypatch.setattr(model_sources, "download_size", lambda *_: 440_000_000)
    monkeypatch.setattr(checkpoint, "download", lambda name, access: fetched.append(name))
    app = open_app(model="someone/some-model")
    assert [element.value for element in app.header] == ["Download required"]
    assert "440 MB" in words(app)
    assert fetched == []
    next(b for b in app.button if b.label == "Download 440 MB").click().run()
    for _ in range(100):
        if fetched:
            break
        time.sleep(0.05)
    assert fetched == ["someone/some-model"]


def test_threshold_lists_heads_without_a_new_analysis() -> None:
    app, shares = open_app("surface_patterns"), values("previous")
    for over in (0.1, 0.5, 0.9, 0.95):
        app.number_input(key="over").set_value(over).run()
        heads = [Head(*map(int, place)).label() for place in np.argwhere(shares > over)]
        heads.sort(key=lambda label: -shares[Head.parse(label).layer, Head.parse(label).head])
        message = next(c.value for c in app.caption if c.value.startswith("Over")).replace("\\", "")
        assert (
            f"Over {over:.0%} of the attention on the previous token: {', '.join(heads[:10]) or 'no head'}" in message
        )


def test_pasted_text_is_analyzed_kept_and_reopened_by_its_link() -> None:
    app = open_app("surface_patterns")
    paste(app, "The cat sat on the mat.\nIt was warm, and the cat slept.\n")
    assert "demo on pasted text" in words(app)
    analyze(app)
    assert not app.error
    assert len(app.metric) == 3
    link = app.query_params["corpus"]
    link = link if isinstance(link, str) else link[0]
    assert link.startswith("upload-")
    again = open_app("surface_patterns", corpus=link)
    assert "demo on pasted text" in words(again)
    assert len(again.metric) == 3


def test_the_servers_limit_of_an_upload_holds_for_a_paste_too() -> None:
    before = config.get_option("server.maxUploadSize")
    config.set_option("server.maxUploadSize", 1)
    try:
        app = open_app()
        paste(app, "wört " * 190_000)
    finally:
        config.set_option("server.maxUploadSize", before)
    assert "over 1 MB" in app.error[0].value
    assert shown(app).startswith("demo on encyclopedia")


def test_an_unknown_model_is_refused_and_the_app_stays() -> None:
    app = open_app("surface_patterns", model="no/such/folder")
    assert "no folder" in unescaped(app.error[0].value)
    app.selectbox(key="model").set_value("demo").run()
    assert not app.error
    assert len(app.metric) == 3


def test_gradients_say_what_this_run_shows() -> None:
    app = open_app("sep_gradients", head="2-3")
    assert app.title[0].value == "Sink gradients"
    assert [metric.label for metric in app.metric][:2] == ["Masked-word loss", "Words right"]
    assert app.selectbox(key="gradient").value == "to_cls"  # this model's sink, which the paper's statement is about
    attention, ratio = (metric.value for metric in app.metric[2:4])
    share = f"puts {float(attention):.0%} of its attention on [CLS]"
    assert share in words(app) and f"the gradient there is {ratio} times that to other tokens" in words(app)
    app.selectbox(key="gradient").set_value("to_cls_times_attention").run()
    assert "Head map: attention × gradient to [CLS]" in words(app).replace("*", "")


@pytest.mark.parametrize(("folder", "message"), [("tiny_folder", "no head that predicts"), ("masked_folder", "")])
def test_gradients_need_a_model_that_predicts_words(folder: str, message: str, request: pytest.FixtureRequest) -> None:
    app = open_app("sep_gradients", model=str(request.getfixturevalue(folder)))
    paste(app, "the cat sat .\nthe dog ran near the mill\n")
    offers = [b for b in app.button if b.label.startswith("Analyze")]
    assert len(offers) == (0 if message else 1)
    if offers:
        offers[0].click().run()
        app = wait_for_job(app)
    assert len(app.metric) == (0 if message else 4)
    is_the_papers = "Is attention to [SEP] a no-op?" in unescaped(" ".join(header.value for header in app.header))
    assert unescaped(app.title[0].value) == ("[SEP] gradients" if is_the_papers else "Sink gradients")
    assert not app.error
    assert [message in note.value for note in app.info] == ([True] if message else [])


def test_a_single_segment_has_no_interval_on_its_page(tiny_folder: Path) -> None:
    app = open_app("surface_patterns", model=str(tiny_folder), max_length="32", limit="1")
    analyze(app)
    assert not app.error and not app.exception
    values = [value.split() for table in app.table if "value" in table.value for value in table.value["value"]]
    assert values and all(value == ["–"] or value[1:] in (["±", "–"], TOO_FEW) for value in values)


@pytest.mark.parametrize("number", ["1e400", "9" * 5000, "²"])
def test_numbers_that_are_none_in_the_address_are_left_aside(number: str) -> None:
    app = open_app(limit=number, seed=number, max_length=number)
    assert not app.error
    assert {box.key: box.value for box in app.number_input} == {"limit": None, "seed": 0, "max_length": 128}


def test_pickers_show_the_folders_name_and_what_tells_it_from_another() -> None:
    names = ["demo", "/a/steps/step-1", "owner/model", "/b/steps/step-1", "/c/encoder/model", "/b/steps/step-1/"]
    shown = short_names(names)
    assert list(shown.values())[:5] == ["demo", "step-1", "owner/model", "steps/step-1", "encoder"]
    assert len(set(shown.values())) == len(names)


def test_a_models_path_is_in_its_help_alone(tiny_folder: Path) -> None:
    app = open_app("attention_viewer", model=str(tiny_folder))
    box = app.selectbox(key="model")
    assert box.value == str(tiny_folder) and tiny_folder.name in box.options and str(tiny_folder) in box.help
    assert str(tiny_folder) not in words(app)


def test_the_maximum_length_is_that_of_the_model_until_it_is_chosen(tiny_folder: Path) -> None:
    app = open_app("surface_patterns", model=str(tiny_folder))
    assert app.number_input(key="max_length").value == 64
    tiny = next(option for option in app.selectbox(key="model").options if option != "demo")
    app.selectbox(key="model").set_value("demo").run()
    assert app.number_input(key="max_length").value == 128
    assert "max_length" not in app.query_params
    app.number_input(key="max_length").set_value(32).run()
    app.selectbox(key="model").set_value(tiny).run()
    assert app.number_input(key="max_length").value == 32


def test_an_error_of_a_fragment_that_runs_alone_is_drawn_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def script() -> None:
        from bertviz_core.errors import StoreError
        from pages.shared.state import session

        @session.fragment
        def part() -> None:
            raise StoreError("The store is full.")

        part()

    app = AppTest.from_function(script).run()
    assert app.exception and not app.error  # the frame draws it
    monkeypatch.setattr("pages.shared.streamlit_internals.is_fragment_run", lambda: True)
    app = AppTest.from_function(script).run()
    assert not app.exception
    assert "The store is full" in app.error[0].value.replace("\\", "")
