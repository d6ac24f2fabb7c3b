"""The end of a page says what of a model's files its numbers do not depend on."""

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.slow


def page() -> None:
    from dataclasses import replace

    from bertviz_core.analyses.base.registry import ANALYSES
    from pages.shared import endnotes
    from tests.support import shipped

    result = shipped.result("entropy")
    notice = "Saved as BertForSequenceClassification: its weights [a]_b_ change no map."
    endnotes.ending(replace(result, provenance=result.provenance | {"notices": [notice]}), ANALYSES["entropy"])


def test_notices_are_said_once_above_the_provenance():
    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception
    captions = [caption.value for caption in at.caption if "Saved as BertForSequenceClassification" in caption.value]
    assert len(captions) == 1
