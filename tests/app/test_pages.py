"""Every page, once, as it opens on what ships: the quick test of the whole app."""

from unittest.mock import patch

import pytest

from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.registry import ANALYSES, findings
from bertviz_core.analyses.dependency_heads.statements import relation_finding
from bertviz_core.analyses.surface_patterns.result import BY_QUANTITY, sinks
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import DEMO_DECODER
from bertviz_core.overview.summary import behaviors_finding
from bertviz_core.paper_report.report import Report
from pages.shared import page
from pages.shared.frame import links
from tests.support.driving import metrics, open_app, unescaped, words
from tests.support.shipped import OF_DECODERS, clearest, result
from tests.support.wording import repeats_a_number

pytestmark = pytest.mark.usefixtures("own_store")
WITHOUT_HEADLINE = ("attention_viewer", "compare", "emergence", "tour")
WITH_PANEL = ("surface_patterns", "sep_gradients", "entropy", "dependency_heads", "clustering")


@pytest.fixture(scope="module")
def sentences(report: Report) -> set[str]:
    """All that the findings of the shipped results say."""
    found = [behaviors_finding(report.results), *findings(report.results)]
    columns = [
        ANALYSES[name].claim(result, ANALYSES[name].view(quantity=column.quantity))
        for name, result in report.results.items()
        for column in ANALYSES[name].columns
        if column.read(result) is not None and issubclass(ANALYSES[name].view, ColumnView)
    ]
    counts = report.results["dependency_heads"].default_view()
    relations = [relation_finding(counts, relation) for relation in counts.relations]
    of_decoders = [each for name in OF_DECODERS for each in ANALYSES[name].findings(result(name))]
    shown = [*found, *columns, *relations, *of_decoders]
    return {each.sentence for each in shown} | {each.claim for each in shown if each.claim}


@pytest.mark.parametrize("entry", links.ENTRIES, ids=lambda entry: entry.name)
def test_a_page_opens_on_what_ships(entry: links.PageEntry, sentences: set[str]) -> None:
    """Its headlines, which begin with the icon of a state, are findings, and no other text has a number of theirs; the
    head of the address is in its panel."""
    head = clearest("previous")
    model = {"model": DEMO_DECODER} if entry.name in OF_DECODERS else {}
    app = open_app(entry.name, head=head, **model)
    title = f"Head {Head.parse(head).full_label()}" if entry.name == "head" else entry.title
    assert [unescaped(title.value) for title in app.title] == [title]
    assert not app.error and "Analyze" not in " ".join(button.label for button in app.button)
    texts = [unescaped(each.value).replace("**", "") for each in app.main.get("markdown")]
    headlines = [text for text in texts if text.startswith(":")]
    assert headlines or entry.name in WITHOUT_HEADLINE, "begin the page with a finding, or list it in WITHOUT_HEADLINE"
    assert all(any(sentence in text for sentence in sentences) for text in headlines)
    if entry.name not in ("emergence", "head"):  # One is about another model, the other ranks the same numbers.
        captions = [unescaped(each.value) for each in app.main.get("caption")]
        about = [text for text in [*texts, *captions] if not text.startswith("####")]  # which begins the methods
        assert not [text for text in about if repeats_a_number(text, sentences)]
    if entry.name in WITH_PANEL:
        assert app.selectbox(key="head").value == head
        assert app.main.get("popover")[0].proto.popover.label.replace("\\", "") == "previous token"


def test_tiles_and_the_strongest_heads_are_about_the_sink_and_no_other_special_token() -> None:
    patterns = result("surface_patterns")
    sink, *others = (BY_QUANTITY[name].short for name in sinks(patterns))
    mean = patterns[sinks(patterns)[0]].mean(1)
    named = {page: metrics(open_app(page)) for page in ("overview", "surface_patterns", "sep_gradients")}
    assert named["overview"][f"To {sink}, highest layer"] == f"{mean.max():.2f}"
    assert named["surface_patterns"][f"To {sink}, max: layer {mean.argmax() + 1}"] == f"{mean.max():.2f}"
    assert any(label.startswith(f"Attention to {sink}") for label in named["sep_gradients"])
    assert not [label for labels in named.values() for label in labels for other in others if other in label]
    cards = words(open_app("overview"))
    assert f"**{sink}: head {clearest(sinks(patterns)[0])}**" in cards
    assert not [other for other in others if f"**{other}: head" in cards]


def test_only_passages_of_a_text_are_listed_each_on_one_line() -> None:
    """A random sequence has no place in the text that the viewer would open."""
    app = open_app("surface_patterns")
    lines = [each.value for each in app.markdown if " passage " in each.value and each.value.endswith(" …]")]
    assert len(lines) == 5 and all(len(line) < 200 for line in lines)
    app = open_app("induction")
    assert not app.exception and not any("shows it most" in each.value for each in app.header)


@pytest.mark.parametrize("name", ["entropy", "surface_patterns"])
def test_another_head_shares_the_figures(name: str) -> None:
    """The page gives figures the result that all heads share, so that each is built once for all of them."""
    open_app(name, head="1-2")
    with patch.object(page.FigureSpec, "of", side_effect=page.FigureSpec.of) as built:
        app = open_app(name, head="3-4")
    assert not app.exception and not built.called
