"""A statement about one run is worded once: report, exports, command and library show the same sentences; pages do so
in test_pages.py."""

import json
import re
from html import unescape

import pytest

from bertviz_core import exports
from bertviz_core.analyses.base.findings import DECIDED, Finding
from bertviz_core.analyses.base.registry import findings
from bertviz_core.analyses.base.result import Results
from bertviz_core.api_results import AnalysisResult
from bertviz_core.overview.summary import behaviors_finding
from bertviz_core.paper_report.pages import contents
from tests.support.wording import repeats_a_number

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(report) -> list[Finding]:
    return [finding for finding in findings(report.results) if finding.state in DECIDED]


def inside(tag: str, block: str) -> list[str]:
    return [unescape(text) for text in re.findall(rf"<{tag}(?: [^>]*)?>(.*?)</{tag}>", block, re.DOTALL)]


def test_the_report_words_nothing_itself(report, found):
    blocks = list(contents(report))
    table = next(block for block in blocks if "<th>section</th>" in block)
    rows = [inside("td", row) for row in re.findall("<tr><td.*?</tr>", table)]
    sentences = {each.sentence for each in [*found, behaviors_finding(report.results)]}
    assert {row[3] for row in rows} == sentences
    texts = [
        text for block in blocks if block.startswith("<p") and "<table" not in block for text in inside("p", block)
    ]
    bullets = [item for block in blocks for item in inside("li", block)]
    assert not [text for text in [*texts, *bullets] if repeats_a_number(text, sentences)]
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
