"""Documents that people open from a disk or frame in a page of theirs, in a real browser."""

from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from bertviz_core.plotting.drawing import figure_html, html_page
from bertviz_core.plotting.html import bullets, document, element, table
from tests.support.chromium import browser


def test_every_text_is_escaped() -> None:
    for html in (element("p", "<b>"), bullets(["<b>"]), table("<b>", ["<b>"], [["<b>"]]), document("<b>", style="")):
        assert "<b>" not in html and "&lt;b&gt;" in html
    assert "class=number>1,234.5%<" in table("", ["a"], [["1,234.5%"]]) and bullets([]) == ""


@pytest.fixture(scope="module")
def page() -> Any:
    with browser() as chromium:
        opened = chromium.new_page()
        opened.problems = []
        opened.on("console", lambda message: opened.problems.append(message.text))
        opened.on("request", lambda request: opened.problems.append(request.url))
        yield opened


def show(page: Any, path: Path, text: str) -> list[str]:
    """What was asked of a server or refused while the document was shown, without the document itself."""
    path.write_text(text, "utf-8")
    page.problems.clear()
    page.goto(path.as_uri())
    return [problem for problem in page.problems if problem != path.as_uri() and not problem.startswith("data:")]


@pytest.mark.browser
def test_scripts_run_only_in_a_document_that_says_so_and_nothing_is_loaded(page: Any, tmp_path: Path) -> None:
    body = "<p>still</p><script>document.querySelector('p').textContent = 'changed'</script>"
    for runs, found in ((False, "still"), (True, "changed")):
        show(page, tmp_path / "a.html", document("A", body, style="", runs_scripts=runs))
        assert page.locator("p").inner_text() == found
        image = '<img src="http://127.0.0.1:9/secret.png">'
        problems = show(page, tmp_path / "b.html", document("B", image, style="", runs_scripts=runs))
        assert any("Content Security Policy" in problem for problem in problems)


@pytest.mark.browser
def test_a_figure_is_drawn_under_the_policy_and_saved_as_svg(page: Any, tmp_path: Path) -> None:
    figure = go.Figure(go.Heatmap(z=[[1, 2], [3, 4]])).add_scatter(x=[0, 1], y=[0, 1])
    assert show(page, tmp_path / "figure.html", html_page("F", "<h1>F</h1>", figure_html(figure))) == []
    page.wait_for_selector(".js-plotly-plot .xtick text")
    page.wait_for_function("document.querySelector('.hm image')?.href.baseVal.startsWith('data:image/png')")
    with page.expect_download() as download:
        page.locator(".modebar-btn").first.click(force=True)
    assert download.value.suggested_filename.endswith(".svg")
    assert page.problems == [] or all(problem.startswith(("data:", "blob:", "file:")) for problem in page.problems)
