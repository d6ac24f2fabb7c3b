"""A statement about one run is worded once: report, exports, command, library, and pages show the same sentences."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from bertviz_core import exports
from bertviz_core.analyses.findings import DECIDED, Finding
from bertviz_core.analyses.registry import ANALYSES, findings
from bertviz_core.analyses.results import Results
from bertviz_core.api_results import AnalysisResult
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import find
from bertviz_core.overview.findings import behaviors_finding
from bertviz_core.paper_report.pages import contents
from bertviz_core.paper_report.request import Report, ReportRequest
from tests.app.driving import open_app, unescaped

OF_A_HEAD = re.compile(r"[Hh]ead \d+-\d+[^.]* \d+\.\d")  # a sentence that says a number of a head
PAGES = ("overview", "surface_patterns", "entropy", "sep_gradients", "dependency_heads", "coreference_heads", "probes",
         "clustering")  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Report:
    """On the results that ship, with nothing computed."""
    corpora = {kind: sample(next(iter(names))) for kind, names in SAMPLES.items()}
    return ReportRequest(find("demo"), corpora).read(Store(tmp_path_factory.mktemp("report")))


@pytest.fixture(scope="module")
def found(report) -> list[Finding]:
    return [finding for finding in findings(report.results) if finding.state in DECIDED]


def inside(tag: str, block: str) -> list[str]:
    return [unescape(text) for text in re.findall(rf"<{tag}(?: [^>]*)?>(.*?)</{tag}>", block, re.DOTALL)]


def test_the_report_words_nothing_itself(report, found):
    blocks = list(contents(report))
    table = next(block for block in blocks if "<th>section</th>" in block)
    rows = [inside("td", row) for row in re.findall("<tr><td.*?</tr>", table)]
    assert {row[3] for row in rows} == {each.sentence for each in [*found, behaviors_finding(report.results)]}
    texts = [
        text for block in blocks if block.startswith("<p") and "<table" not in block for text in inside("p", block)
    ]
    bullets = [item for block in blocks for item in inside("li", block)]
    for text in [*texts, *bullets]:
        if OF_A_HEAD.search(text):
            assert any(each.text in text for each in found), text
    assert all(any(each.text in item for item in bullets) for each in found)


def test_exports_command_and_library_show_the_same(report, found):
    results: Results = report.results
    for name, result in results.items():
        sentences = [each.sentence for each in found if each.analysis == name]
        table, page = exports.to_text(result), exports.to_html(result).decode()
        written = json.loads(exports.to_json(result))["findings"]
        library = AnalysisResult(result)
        for sentence in sentences:
            assert sentence in table
            assert sentence.replace("<", "&lt;") in page.replace("&#x27;", "'")
            assert sentence in [each["sentence"] for each in written]
            assert sentence in [each.sentence for each in library.findings()]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("own_store")
def test_the_headline_of_a_page_is_a_finding(page, report):
    app = open_app(page)
    assert not app.exception
    everywhere = [behaviors_finding(report.results), *findings(report.results)]
    sentences = {each.sentence for each in everywhere} | {
        ANALYSES[name].column_finding(column, result).sentence
        for name, result in report.results.items()
        for column in ANALYSES[name].columns
        if column.read(result) is not None
    }
    shown = [unescaped(markdown.value) for markdown in app.main.get("markdown")]
    headlines = [text for text in shown if text.startswith(":")]  # the icon of a state
    assert headlines
    assert all(any(sentence in text for sentence in sentences) for text in headlines)
