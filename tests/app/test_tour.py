"""The guided tour: slides, each with its own address, a live figure, a question and its answer; and its end."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute_all
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import find_checkpoint as find_model
from bertviz_core.overview.summary import every_finding
from bertviz_core.settings import Settings
from bertviz_core.tour import END, OWN, STEPS, TERMS, answers, head_roles
from pages.shared.frame import links
from tests.support import predicting
from tests.support.driving import open_app, unescaped, wait_for_job, words
from tests.support.shipped import COUNT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


def tour(number: int, **address: str) -> AppTest:
    return open_app("tour", step=str(number), **address)


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()


def test_the_slides_one_after_the_other(results: dict) -> None:
    """Each has an address, a figure, a question, and its answer when asked for; Next leads on, Back leads back."""
    app, pages = open_app("tour"), {entry.name for entry in links.ENTRIES}
    assert all(term in words(app) for term in TERMS) and app.main.get("bidi_component")
    for number, step in enumerate(STEPS, 1):
        press(app, "Next")
        assert not app.exception and not app.error
        text, findings = words(app), answers(step.select(results))
        assert f"Slide {number} of {OWN}" in text
        assert all(part in text for part in (step.title, step.background, step.look, step.question))
        assert step.notes.strip() not in text and step.short_answer(findings) not in text
        assert not any(part in text for each in findings for part in (each.sentence, each.statement) if part)
        figures = [chart.proto.spec for chart in app.main.get("plotly_chart")]
        assert [*figures, *app.main.get("bidi_component")]
        numbers = [" ".join(each.number.split()[:2]) for each in step.asked(findings) if each.number]
        assert not [number for number in numbers if any(number in figure for figure in figures)]
        assert not [button for button in app.main.button if button.label.startswith("Analyze")]
        press(app, "Show answer")
        assert not app.exception and not app.error
        assert unescaped(app.subheader[0].value) == step.short_answer(findings)
        assert findings and all(each.sentence in words(app) and each.statement in words(app) for each in findings)
        assert "nan" not in " ".join(finding.sentence for finding in findings)
        [link] = app.main.get("page_link")
        assert step.page in pages
        assert link.proto.page == ("" if step.page == links.DEFAULT.name else step.page)
        assert f"tour={number}" in link.proto.query_string
        assert app.query_params["answer"] in ("shown", ["shown"])
    press(app, "Next")
    assert unescaped(app.header[0].value) == "What this model shows"
    press(app, "Back")
    assert unescaped(app.header[0].value) == STEPS[-1].title and "answer" not in app.query_params
    assert app.query_params["step"] in (str(len(STEPS)), [str(len(STEPS))])


def test_an_own_sentence_is_read_by_the_heads_that_the_tour_has_found(results: dict) -> None:
    app = tour(OWN)
    assert not app.exception and not app.error
    app.text_input(key="sentence").set_value("A cat slept.").run()
    heads = head_roles(results)
    assert len(heads) > 3
    for head, does in heads.items():
        press(app, f"{head.label()}: {does}")
        assert not app.exception and app.selectbox(key="head").value == head.label()
        claim = rf"Head {head.label()} (attends most strongly from|gives [\d.]+% of its attention to special tokens)"
        assert re.search(claim, words(app))
    (link,) = app.main.get("page_link")
    assert "text=A+cat+slept." in link.proto.query_string
    app.text_input(key="sentence").set_value(" ").run()
    assert not app.exception and not app.error


def test_what_is_missing_is_offered_and_the_figure_comes_with_it(tiny_folder: Path) -> None:
    number = next(n for n, step in enumerate(STEPS, 1) if step.title == "Narrow and broad")
    app = tour(number, model=str(tiny_folder), max_length="32", limit="4")
    assert not app.exception and not app.error
    assert "This step needs Entropy" in words(app).replace("*", "")
    assert not app.main.get("plotly_chart")
    next(button for button in app.main.button if button.label.startswith("Analyze")).click().run()
    app = wait_for_job(app)
    assert not app.exception and not app.error
    press(app, "Show answer")
    assert app.main.get("plotly_chart") and "largest weight" in words(app)


def test_the_end_has_every_statement_with_its_state_number_and_link(results: dict) -> None:
    app = tour(END)
    assert not app.exception and not app.error
    text, found = words(app), every_finding(results)
    of_paper = [finding for finding in found if finding.statement]
    assert f"Of {len(of_paper)} statements of the paper" in text
    assert all(finding.sentence in text and finding.statement in text for finding in found)
    assert f"Of {len(found) - len(of_paper)} statements beyond it" in text
    for group in (of_paper, [finding for finding in found if not finding.statement]):
        for (analysis, state), count in Counter((finding.analysis, finding.state) for finding in group).items():
            title = links.entry(analysis).title
            assert any(each.value.startswith(title) and f": {count} {state}" in each.value for each in app.markdown)
    linked = [link.proto.page or "overview" for link in app.main.get("page_link")]
    assert sorted(linked) == sorted(finding.analysis for finding in found)


def test_the_head_of_each_step_is_its_own_until_the_reader_chooses() -> None:
    app = tour(3)
    assert app.selectbox(key="head").value == "1-1"  # the head is the answer
    press(app, "Show answer")
    first = app.selectbox(key="head").value
    press(app, "Next")
    assert app.selectbox(key="head").value != first
    app.selectbox(key="head").set_value("1-1").run()
    press(app, "Back")
    press(app, "Show answer")
    assert app.selectbox(key="head").value == first


def test_a_page_opened_from_a_step_leads_back_to_it() -> None:
    app = open_app("surface_patterns", tour="4")
    back = next(link for link in app.main.get("page_link") if link.proto.label.startswith("Tour"))
    assert back.proto.label == "Tour, slide 4" and "step=4" in back.proto.query_string
    assert not [link for link in open_app("surface_patterns").main.get("page_link") if "Tour" in link.proto.label]


def test_without_a_result_every_step_offers_to_compute_it_and_the_end_all_of_them(tiny_folder: Path) -> None:
    for number in range(1, END + 1):
        app = tour(number, model=str(tiny_folder), max_length="32", limit="4")
        assert not app.exception, number
        assert not app.error, number
        if app.info:  # the model was saved without the head that gradients and ablation need
            assert STEPS[number - 1].page in (
                "sep_gradients",
                "ablation",
                "minimal_pairs",
            ) and "has no head that predicts" in words(app)
            continue
        offers = [button for button in app.main.button if button.label.startswith(("Analyze", "Run all"))]
        assert len(offers) == 1, number
        assert not app.main.get("plotly_chart")
    count = sum(bool(finding.statement) for finding in every_finding({}))
    assert f"Of {count} statements of the paper: {count} not computed." in words(app)


def test_a_decoder_answers_every_step_and_says_what_its_mask_leaves(tmp_path: Path) -> None:
    model, settings = find_model(str(predicting.save("llama", tmp_path / "llama"))), Settings(max_length=48, limit=12)
    computed = [analysis for analysis in ANALYSES.values() if analysis.name != "probes"]
    corpora = {analysis.name: sample(next(iter(SAMPLES[analysis.corpus]))) for analysis in computed}
    requests = [Request(each.name, model, corpora[each.name], each.relevant(settings)) for each in computed]
    compute_all(requests, Store(tmp_path / "store"))
    expected = {
        "surface_patterns": "The inputs have no [CLS] and no [SEP], and no token sees the next one",
        "sep_gradients": "first token",
        "ablation": "next-word loss",
        "dependency_heads": "heads, fixed offsets and random words alike",
        "coreference_heads": "only mentions with an antecedent whose head word comes earlier count",
    }
    for number in range(OWN + 1):
        app = tour(number, model=model.name, max_length="48", limit="12", answer="shown")
        assert not app.exception and not app.error, number
        page = STEPS[number - 1].page if 0 < number < END else ""
        if page not in ("", "probes"):
            assert "The paper" in words(app) or "Beyond the paper" in words(app), number
        assert expected.get(page, "") in words(app), number


def test_a_slide_alone_says_how_to_read_its_figure_and_never_has_the_notes() -> None:
    for number, step in enumerate(STEPS, 1):
        if number > 1 and not step.look_at_answer:
            continue
        for answer in ("", "shown"):
            app = tour(number, present="true", notes="true", answer=answer)
            assert not app.exception and step.reading(answer == "shown").strip() in words(app), number
            assert step.notes.strip() not in words(app)
    assert STEPS[0].notes.strip() in words(tour(1, notes="true"))


def test_the_legend_of_the_first_slide_counts_what_its_answer_counts(results: dict) -> None:
    app = tour(1, answer="shown")
    parts = [each.proto.bytes for each in app.main.get("bidi_component") if each.proto.bytes]
    (groups,) = [each["groups"] for each in map(json.loads, parts[0].splitlines()) if "groups" in each]
    named = {head for group in groups if group["name"] for head in group["heads"]}
    assert unescaped(app.subheader[0].value) == f"{len(named)} of {COUNT} heads."
    assert not any("broad" in group["name"] for group in groups)


def test_the_lecturers_window_has_each_slide_with_its_notes_and_the_next_question() -> None:
    app = tour(1)
    parts = [json.loads(each.proto.json) for each in app.main.get("bidi_component") if each.proto.json]
    (speaker,) = [part for part in parts if "slides" in part]
    assert speaker["here"] == 1 and len(speaker["slides"]) == OWN + 1
    assert [slide["question"] for slide in speaker["slides"][1:END]] == [step.question for step in STEPS]
    assert all(slide["title"] and slide["notes"] for slide in speaker["slides"])
