"""The page of ablation: the stored result, its figures and words, and the offer to compute another."""

import pytest

from bertviz_core.heads import Head
from tests.support import shipped
from tests.support.driving import metrics, open_app, words

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


def test_the_page_opens_on_the_stored_result() -> None:
    app, result = open_app("ablation", head="1-5"), shipped.result("ablation")
    assert not app.error
    assert metrics(app)["Loss of the full model"] == f"{result.loss:.2f} nats"
    assert metrics(app)["Gradient estimate"] == f"{result.correlation():.2f}"
    page_text = words(app)
    for word in result.words(Head(0, 4)):
        assert f"+{word['loss_after'] - word['loss_before']:.2f}" in page_text


def test_means_in_place_of_zeros_are_another_analysis() -> None:
    app = open_app("ablation", mean="true")  # as links of earlier versions have it
    assert app.selectbox(key="replace").value == "mean"
    assert any(button.label.startswith("Analyze") for button in app.button)
