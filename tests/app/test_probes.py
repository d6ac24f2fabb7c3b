"""The page of the probes: the stored result, and another training with other settings."""

import re

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.support.driving import analyze, metrics, open_app, unescaped, uploader, words

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
BANK = "\n\n".join(
    f"The 2-det\n{noun} 3-nsubj\n{verb} 0-root\n. 3-punct"
    for noun in ("cat", "dog", "man", "boy")
    for verb in ("sat", "ran", "ate", "lay")
)


def table_3(app: AppTest) -> pd.DataFrame:
    """Scores, by the names of the probes."""
    (table,) = (each.value for each in app.dataframe if "probe" in each.value)
    return table.set_index("probe")


def test_the_page_opens_on_the_stored_result_with_the_papers_numbers() -> None:
    app = open_app("probes")
    assert not app.error
    table = table_3(app)
    assert table.loc["Attention only", "paper"] == 61 and table.loc["Structural", "metric"] == "UUAS"
    assert metrics(app)["Attention only"] == f"{table.loc['Attention only', 'score']:.1f}%"
    assert table.loc["Right-branching (last word to ROOT)", "paper, with punctuation"] == 26
    right_branching = table.loc["Right-branching (last word to ROOT)", "score"]
    scores = rf"{metrics(app)['Attention only']} \(.*?\) of the governors, “right branching” {right_branching:.1f}%"
    assert (
        re.search(f"The probe “attention only” finds {scores}", words(app))
        and "violet-badge" in words(app)
        and "a demonstration, not a finding" in words(app)
    )


def test_mode_paper_shows_both_rows_of_each_probe_with_words_and_the_papers_score_as_released() -> None:
    app = open_app("probes", mode="paper")
    assert not app.error and not app.exception
    table = table_3(app)
    for name, score in (("Distances and words", 58), ("Random attention and words", 30), ("Attention and words", 77)):
        assert table.loc[f"{name}, as released", "paper"] == score and not table.loc[f"{name}, aligned", "paper"] > 0
    released = table.loc["Attention and words, as released", "score"]
    assert metrics(app)["Attention and words"] == f"{released:.1f}%"


def test_an_uploaded_treebank_is_trained_on_with_the_settings_chosen() -> None:
    app = open_app("probes")
    uploader(app).set_value(("mine.txt", BANK.encode(), "text/plain")).run()
    app.multiselect(key="probes").set_value(["right-branching", "attention-only"]).run()
    app.number_input(key="epochs").set_value(1).run()
    app.file_uploader(key="vectors").set_value(("v.txt", b"the 1 2\ncat 2 3\n", "text/plain")).run()
    analyze(app)
    assert not app.error and not app.exception
    table = table_3(app)
    assert list(table.index) == ["Right-branching (last word to ROOT)", "Attention only"]
    app.number_input(key="rank").set_value(8).run()
    assert any(button.label.startswith("Analyze") for button in app.button)


def test_sentences_of_all_pages_are_searched() -> None:
    app = open_app("probes")
    caption = next(caption.value for caption in app.caption if "sentences. Above" in unescaped(caption.value))
    assert " of all " in caption
    app.text_input(key="search").set_value("zyxw").run()
    assert any(caption.value.startswith("0 of all") for caption in app.caption) and not app.exception
