"""Every page, once, as it opens on what ships: the quick test of the whole app."""

import pytest

from bertviz_core.analyses.registry import ANALYSES, findings
from bertviz_core.overview.findings import behaviors_finding
from bertviz_core.paper_report.request import Report
from pages.shared.frame import catalogue
from tests.app.driving import open_app, unescaped
from tests.shipped import clearest

pytestmark = pytest.mark.usefixtures("own_store")
WITHOUT_HEADLINE = ("attention_viewer", "compare", "emergence", "tour", "ablation")
WITH_PANEL = ("surface_patterns", "sep_gradients", "entropy", "dependency_heads", "clustering")


@pytest.fixture(scope="module")
def sentences(report: Report) -> set[str]:
    """All that the findings of the shipped results say."""
    found = [behaviors_finding(report.results), *findings(report.results)]
    columns = [
        ANALYSES[name].column_finding(column, result)
        for name, result in report.results.items()
        for column in ANALYSES[name].columns
        if column.read(result) is not None
    ]
    return {each.sentence for each in [*found, *columns]}


@pytest.mark.parametrize("entry", catalogue.ENTRIES, ids=lambda entry: entry.name)
def test_a_page_opens_on_what_ships(entry: catalogue.Page, sentences: set[str]) -> None:
    """Its headlines, which begin with the icon of a state, are findings; the head of the address is in its panel."""
    head = clearest("previous")
    app = open_app(entry.name, head=head)
    assert [title.value for title in app.title] == [entry.title]
    assert not app.error and "Analyze" not in " ".join(button.label for button in app.button)
    headlines = [text for one in app.main.get("markdown") if (text := unescaped(one.value)).startswith(":")]
    assert headlines or entry.name in WITHOUT_HEADLINE
    assert all(any(sentence in text for sentence in sentences) for text in headlines)
    if entry.name in WITH_PANEL:
        assert app.selectbox(key="head").value == head
        assert app.main.get("popover")[0].proto.popover.label.replace("\\", "") == "previous token"
