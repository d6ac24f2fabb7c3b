"""The page of emergence: the shipped training, the slider, other trainings, a local folder as a job; in Chromium."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bertviz_core.analyses.base.request import Request
from bertviz_core.corpora.source import from_bytes
from bertviz_core.emergence.series import shipped
from bertviz_core.exports import to_json
from bertviz_core.models.checkpoint import DEMO_DECODER, find_checkpoint
from pages.shared import services
from tests.support import families
from tests.support.driving import analyze, metrics, open_app, parameter, paste, unescaped, wait_for_job, words
from tests.support.hub import NAME, ask_here, serving

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]

TEXT = "the cat sat on the mat .\nthe dog slept , and slept\n"


def open_own(folder: Path, **address: str):
    """The page on a local training and a pasted text."""
    app = open_app("emergence", training=str(folder), max_length="64", limit="60", **address)
    paste(app, TEXT)
    return app


def test_it_opens_at_the_end_of_the_shipped_training() -> None:
    app, result = open_app("emergence"), shipped()
    assert [title.value for title in app.title] == ["Emergence"]
    assert not app.error and len(app.metric) == 4
    assert metrics(app)["Training step"] == f"{result.steps[-1]:,}"
    assert metrics(app)["Next-word loss"] == f"{result.loss[-1]:.2f} nats"
    assert f"Steps {result.steps[0]:,} to {result.steps[-1]:,}: the next-word loss" in words(app)
    assert "The training of demo-decoder (4 × 8 heads) from random weights" in words(app).replace("`", "")
    assert list(app.dataframe[-1].value["step"]) == result.steps.tolist()


def test_the_slider_moves_every_number_and_the_address_holds_it() -> None:
    result = shipped()
    step = int(result.steps[2])
    app = open_app("emergence", step=str(step))
    assert app.select_slider(key="step").value == step
    labels = result.behaviors()
    for place in (2, 0, len(result.steps) - 1):
        app.select_slider(key="step").set_value(int(result.steps[place])).run()
        found = metrics(app)
        assert found["Training step"] == f"{result.steps[place]:,}"
        assert found["Next-word loss"] == f"{result.loss[place]:.2f} nats"
        learned = (~np.isin(labels[place], ["broad", "other"])).sum()
        assert found["Heads with a behavior"] == f"{learned} of {labels[place].size}"


def test_a_local_folder_is_a_job_and_what_it_lacks_later_is_offered(tmp_path: Path) -> None:
    folder = families.save_training(tmp_path / "mine" / "steps", steps=(3, 30))
    broken = shutil.copytree(folder / "step-0000030", folder / "step-0000077") / "model.safetensors"
    broken.write_bytes(broken.read_bytes()[:1000])
    app = open_own(folder)
    assert "2 checkpoints, steps 3 to 30" in words(app)
    analyze(app)
    assert not app.error and len(app.metric) == 4
    assert words(app).count("Left out of these numbers: 1 × a checkpoint that cannot be used") == 1
    assert "mine/steps on pasted text and treebank" in words(app)
    assert app.select_slider(key="step").options == ["3", "30"]
    assert "not one of this training's 2 × 2" not in words(app)  # the chosen head, 1-1, is
    app.selectbox(key="head").set_value("4-5").run()
    assert "not one of this training's 2 × 2" in words(app)
    families.save_training(folder, steps=(300,))
    app.run()
    assert "6 of 18 analyses are missing" in words(app)
    assert app.select_slider(key="step").options == ["3", "30"]
    analyze(app)
    assert app.select_slider(key="step").options == ["3", "30", "300"]
    assert "analyses are missing" not in words(app)


def test_one_training_on_two_corpora_is_two_series() -> None:
    for text in (b"the cat", b"the dog"):
        request = Request("entropy", find_checkpoint("demo"), from_bytes(text, "mine.txt"))
        series = SimpleNamespace(training="mine", requests=lambda: [request], assemble=lambda _: text)  # noqa: B023
        assert services.emergence(series) == (text, [request])  # type: ignore[arg-type, comparison-overlap]


@pytest.mark.parametrize(("name", "message"), [("missing", "There is no folder"), ("empty", "No checkpoint is in")])
def test_a_folder_that_holds_no_training_is_refused_and_the_choice_stays(
    tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    app = open_app("emergence", training=str(tmp_path / name))
    assert message in unescaped(app.error[0].value)
    assert [title.value for title in app.title] == ["Emergence"]
    app.selectbox(key="training").set_value(DEMO_DECODER).run()
    assert not app.error and len(app.metric) == 4


def test_a_training_without_a_masked_word_head_says_why_it_has_no_loss(tmp_path: Path) -> None:
    app = open_own(families.save_training(tmp_path / "mine", steps=(3, 30), auto="AutoModel"))
    analyze(app)
    assert "Masked-word loss" not in metrics(app) and len(app.metric) == 3
    assert "no masked-word loss" in words(app)


def test_the_table_is_that_of_the_file_and_its_columns_have_names_in_words() -> None:
    table, shown = json.loads(to_json(shipped()))["table"], open_app("emergence").dataframe[-1]
    for name in ("loss", "UAS", "UAS_heldout", "previous_heads"):
        assert [row[name] for row in table] == pytest.approx(shown.value[name].tolist(), abs=1e-14)
    looks = json.loads(shown.proto.columns)
    titles = {name: look["label"] for name, look in looks.items() if "label" in look}
    assert titles["to_first"].startswith("mean attention") and titles["masked_right"] == "next words right"
    assert titles["UAS_heldout"] == "UAS, held out" and not any("_" in title for title in titles.values())


def test_a_step_that_this_training_has_not_is_its_last() -> None:
    app = open_app("emergence", step="123456789")
    assert not app.error
    assert metrics(app)["Training step"] == f"{shipped().steps[-1]:,}"


def test_revisions_of_a_hub_model_are_downloaded_when_asked_and_analyzed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = families.save_training(tmp_path / "steps", steps=(3, 30))
    with serving({f"step{step}": folder / f"step-{step:07d}" for step in (3, 30)}) as hub:
        ask_here(hub, tmp_path / "cache", monkeypatch)
        app = open_app("emergence", training=f"{NAME}@step*", max_length="64", limit="60")
        assert [header.value for header in app.header] == ["Download required"]
        assert "2 revisions of" in words(app) and hub.fetched(".safetensors") == 0
        next(button for button in app.button if button.label.startswith("Download")).click().run()
        wait_for_job(app)
        assert "2 checkpoints, steps 3 to 30" in words(app)
        paste(app, TEXT)
        analyze(app)
        assert not app.error and app.select_slider(key="step").options == ["3", "30"]
        assert f"{NAME}@step* on pasted text and treebank" in words(app)
        one = open_app("entropy", model=f"{NAME}@step30")
        assert one.selectbox(key="model").value == f"{NAME}@step30" == parameter(one, "model")
    offline = open_app("emergence", training="owner/other@step*")
    assert "cannot be listed: the hub cannot be reached" in unescaped(offline.error[0].value)
