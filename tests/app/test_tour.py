"""The guided tour: eleven steps, each with its own address, a claim, a live figure and a question; and its end."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core import paper
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import find
from bertviz_core.claims import CLAIMS
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import find as find_model
from bertviz_core.settings import Settings
from bertviz_core.tour.steps import STEPS
from pages.shared.frame import catalogue
from tests.app.driving import open_app, unescaped, wait_for_job, words

pytestmark = pytest.mark.usefixtures("own_store")

LAST = len(STEPS) + 1  # the page at the end


def tour(number: int, **address: str) -> AppTest:
    return open_app("tour", step=str(number), **address)


def test_there_are_eleven_steps_of_pages_that_are_there():
    assert len(STEPS) == 11
    assert len({step.title for step in STEPS}) == 11
    assert {step.page for step in STEPS} <= {entry.name for entry in catalogue.ENTRIES}


@pytest.mark.parametrize("number", range(1, len(STEPS) + 1))
def test_each_step_has_an_address_claim_link_question_and_answer(number: int) -> None:
    app, step = tour(number), STEPS[number - 1]
    assert not app.exception
    assert not app.error
    said = words(app)
    assert f"Step {number} of {LAST}" in said
    for part in (step.title, step.claim, step.look, step.question):
        assert part in said
    [link] = app.main.get("page_link")
    assert link.proto.page == ("" if step.page == catalogue.DEFAULT.name else step.page)
    assert f"tour={number}" in link.proto.query_string
    assert not [button for button in app.main.button if button.label.startswith("Analyze")]
    figures = [*app.main.get("plotly_chart"), *app.main.get("bidi_component")]
    assert len(figures) >= (1 if step.page == "overview" else 2)
    assert any("This model and BERT-base" in info.value for info in app.info)


def test_next_and_back_go_through_all_steps() -> None:
    app = tour(1)
    titles = []
    for _ in range(LAST):
        titles.append(app.subheader[0].value)
        following = next(b for b in app.button if b.label == "Next")
        if not following.disabled:
            following.click().run()
    assert [unescaped(title) for title in titles] == [*(step.title for step in STEPS), "What this model shows"]
    next(b for b in app.button if b.label == "Back").click().run()
    assert app.subheader[0].value == titles[-2]
    address = app.query_params["step"]
    assert address in (str(len(STEPS)), [str(len(STEPS))])


def test_the_answer_is_on_the_page_that_the_step_opens() -> None:
    from bertviz_core.analyses.surface_patterns import ANALYSIS

    name = ANALYSIS.column("previous").short

    number = next(n for n, step in enumerate(STEPS, 1) if step.title == "Neighbors")
    answer = next(m.value for m in tour(number).markdown if re.match(r"Head \d", m.value)).replace("\\", "")
    head, value = re.fullmatch(r"Head (\S+), with (\S+) on average\.", answer).groups()
    app = open_app("surface_patterns", head=head, quantity=name)
    rows = app.dataframe[0].value
    row = rows[rows["quantity"] == name].iloc[0]
    assert float(row["value"].split()[0]) == pytest.approx(float(value), abs=0.006)
    assert row["rank"].startswith("1 of")


def test_heads_of_the_answer_are_counted_as_the_sidebar_counts_them() -> None:
    number = next(n for n, step in enumerate(STEPS, 1) if step.title == "Neighbors")
    named = [
        re.search(r"Head (\d+)\\?-(\d+), with", words(tour(number, **zero))).groups() for zero in ({}, {"zero": "true"})
    ]
    assert [int(part) - 1 for part in named[0]] == [int(part) for part in named[1]]


def test_an_unknown_step_is_the_first() -> None:
    assert f"Step 1 of {LAST}" in words(tour(99))


def test_what_is_missing_is_offered_and_the_figure_comes_with_it(tiny_folder: Path) -> None:
    number = next(n for n, step in enumerate(STEPS, 1) if step.title == "Narrow and broad")
    app = tour(number, model=str(tiny_folder), max_length="32", limit="4")
    assert not app.exception and not app.error and not app.info
    assert STEPS[number - 1].claim in words(app) and "This step needs Entropy" in words(app).replace("*", "")
    assert not app.main.get("plotly_chart")
    next(button for button in app.main.button if button.label.startswith("Analyze")).click().run()
    app = wait_for_job(app)
    assert not app.exception and not app.error
    assert app.main.get("plotly_chart") and app.info
    assert "No clear case in this model" in words(app) or "largest weight" in words(app)


def test_a_step_without_a_clear_case_says_so_with_its_best_value_and_the_rule() -> None:
    class Patterns(dict):
        """Averages, and half their intervals."""

        present = ("previous", "next")

        def interval(self, name: str) -> np.ndarray:
            return np.full((2, 2), 0.01)

        def default_view(self) -> Patterns:
            return self

    patterns = Patterns(dict.fromkeys(Patterns.present, np.array([[0.1, 0.2], [0.3, 0.4]])))
    step = next(step for step in STEPS if step.title == "Neighbors")
    found = step.findings({"surface_patterns": patterns})
    assert "2-2, with 0.40" in found.answer
    assert found.unclear == "The rule for a clear case: one head is above 0.5, with its interval."


def test_the_end_has_every_claim_with_its_state_number_and_link(tmp_path: Path) -> None:
    app = tour(LAST)
    assert not app.exception and not app.error
    said = words(app)
    assert f"Of {len(CLAIMS)} claims of the paper" in said
    results = shipped_results(tmp_path)
    verdicts = [claim.verdict(results) for claim in CLAIMS]
    for claim, verdict in zip(CLAIMS, verdicts, strict=True):
        assert verdict.evidence in said and claim.text in said
    for state, shown in (("holds", "shown"), ("does not hold", "not shown"), ("undecided", "undecided")):
        if count := sum(verdict.state == state for verdict in verdicts):
            assert f"{count} {shown}" in said
    links = [link.proto.page for link in app.main.get("page_link")]
    assert sorted(links) == sorted(claim.analysis for claim in CLAIMS)


def test_the_head_of_each_step_is_its_own_until_the_reader_chooses() -> None:
    app = tour(3)
    first = app.selectbox(key="head").value
    next(b for b in app.button if b.label == "Next").click().run()
    assert app.selectbox(key="head").value != first
    app.selectbox(key="head").set_value("1-1").run()
    next(b for b in app.button if b.label == "Back").click().run()
    assert app.selectbox(key="head").value == first


def test_a_page_opened_from_a_step_leads_back_to_it() -> None:
    app = open_app("surface_patterns", tour="4")
    back = next(link for link in app.main.get("page_link") if link.proto.label.startswith("Tour"))
    assert back.proto.label == "Tour, step 4" and "step=4" in back.proto.query_string
    assert not [link for link in open_app("surface_patterns").main.get("page_link") if "Tour" in link.proto.label]


def shipped_results(folder: Path) -> dict:
    store, demo, results = Store(folder / "store"), find_model("demo"), {}
    for analysis in ANALYSES.values():
        corpus = sample(next(iter(SAMPLES[analysis.corpus])))
        result = find(store, Request(analysis.name, demo, corpus, analysis.relevant(Settings())))
        results |= {} if result is None else {analysis.name: result}
    return results


def test_all_steps_find_an_answer_in_what_ships(tmp_path: Path) -> None:
    findings = shipped_results(tmp_path)
    for step in STEPS:
        answer = step.findings(findings)
        assert answer is not None, step.title
        assert answer.answer
        assert "nan" not in answer.answer + answer.differs
        assert step.findings({}) is None


def test_the_step_of_the_separator_names_the_layers_of_all_three(tmp_path: Path) -> None:
    result = find(Store(tmp_path / "store"), Request("surface_patterns", find_model("demo"), sample("encyclopedia")))
    step = next(step for step in STEPS if step.title == "The separator")
    differs = step.findings({"surface_patterns": result}, base=0).differs
    for quantity, theirs, layer in (("to_punct", "0.58", 12), ("to_cls", "0.26", 2)):
        means = [sum(heads) / len(heads) for heads in result[quantity].tolist()]
        best = max(range(len(means)), key=lambda layer: means[layer])
        assert (
            f"at most {theirs} there, in layer {layer}, and {means[best]:.2f} here, in layer {best};"
            in f"{differs[:-1]};"
        )


def test_the_step_of_the_probes_reads_their_scores() -> None:
    step = next(step for step in STEPS if step.page == "probes")
    answer = step.findings({"probes": probes()})
    assert answer.head == Head(2, 3)
    assert "40.0%" in answer.answer
    assert "10 points" in answer.answer
    assert "61 UAS" in answer.differs
    assert "26%, punctuation included" in step.claim


def probes() -> SimpleNamespace:
    """Scores and weights as the analysis keeps them."""
    weights = np.zeros((2, 4, 5))
    weights[1, 2, 3] = 2.0
    scores = {"attention-only": 0.4, "right-branching": 0.3, "attention-and-words": 0.55}
    result = SimpleNamespace(of=scores.__getitem__, attention=weights, probes=[])
    result.default_view = lambda: result
    return result


def test_the_papers_numbers_are_the_papers() -> None:
    claims = {step.title: step.claim for step in STEPS}
    assert f"{max(paper.LAYER_MEANS['to_sep'])}" in claims["The separator"]
    assert "86.8%" in claims["Heads that know syntax"]
    assert "65%" in claims["A head that knows who is who"]


def test_the_step_of_the_no_op_says_what_norms_change() -> None:
    number = next(n for n, step in enumerate(STEPS, 1) if step.title == "A no-op")
    for weights in ("attention", "norms"):
        app = tour(number, weights=weights)
        said = unescaped("".join(info.value for info in app.info))
        assert re.search(r"\[SEP\] receives \d+% of the weights and \d+% of the norms", said)


def test_without_a_result_every_step_offers_to_compute_it_and_the_end_all_of_them(tiny_folder: Path) -> None:
    for number in range(1, LAST + 1):
        app = tour(number, model=str(tiny_folder), max_length="32", limit="4")
        assert not app.exception, number
        if app.error:  # the model was saved without the head that gradients and ablation need
            assert STEPS[number - 1].page in ("sep_gradients", "ablation") and "masked-word head" in words(app)
            continue
        offers = [button for button in app.main.button if button.label.startswith(("Analyze", "Run all"))]
        assert len(offers) == 1, number
        assert not app.main.get("plotly_chart")
    assert f"Of {len(CLAIMS)} claims of the paper: {len(CLAIMS)} not computed." in words(app)
