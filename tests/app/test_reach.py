"""The page of reach: the tokens that a head looks at and from, with a search for those that are words."""

import pytest

from bertviz_core.analyses.reach.result import SHARES
from bertviz_core.heads import Head
from tests.support import shipped
from tests.support.driving import open_app, words

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


def test_tokens_are_those_of_the_result_and_words_lead_to_their_sentences():
    app = open_app("reach", head="3-4")
    result = shipped.result("reach")
    assert not app.exception
    tables = [each.value for each in app.dataframe if "times uniform" in each.value]
    assert len(tables) == len(SHARES)
    for share, table in zip(SHARES, tables, strict=True):
        top = result.top_tokens(share, Head(2, 3))
        assert table["token"].tolist() == [each.token for each in top]
        for each, link in zip(top, table["sentences"], strict=True):
            assert (f"find={each.word}" in link) if each.word else not link
    assert result.about_tokens in words(app)
