"""Reports: what is in them, that nothing in them leads to a network, and that text stays text."""

import re
from dataclasses import replace
from html import escape

import pytest
from plotly.offline import get_plotlyjs

import bertviz_core as bv
from bertviz_core.analyses.base.block_contents import flat
from bertviz_core.analyses.base.blocks import Chart
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.cli.commands import app
from bertviz_core.errors import SettingsError
from bertviz_core.heads import counting_from
from bertviz_core.overview.summary import count_states, every_finding
from bertviz_core.paper_report.pages import to_html
from bertviz_core.paper_report.report import ReportRequest
from bertviz_core.plotting.html import bullets, element, table
from tests.support.shipped import OF_DECODERS

HOSTILE = "</td><script>alert(1)</script> | `x` *y* [z](http://q) \n# h $a$ &amp; \u202e"


@pytest.fixture(scope="module")
def page(report) -> str:
    return to_html(report).decode()


def test_it_has_every_analysis_figure_and_finding(report, page):
    for name, result in report.results.items():
        assert ANALYSES[name].title in page
        charts = [each for each in flat(ANALYSES[name].shown(result)) if isinstance(each, Chart) and not each.follows]
        captions = [text for chart in charts for text in (chart.title, chart.note)]
        assert charts and all(escape(text) in page for text in captions)
    assert set(report.results) >= set(ANALYSES) - {"ablation", *OF_DECODERS}
    assert page.count("plotly-graph-div") >= 10 and "95%" in page and "94.3" in page  # of Table 1 in the paper
    assert page.count("<td>✓ shown</td>") >= 5
    assert "What was skipped" in page and "url = {https://arxiv.org/abs/1906.04341}" in page
    assert len(page) < 15_000_000


@pytest.mark.parametrize("name", ["dependency_heads", "coreference_heads", "probes"])
def test_a_table_of_the_paper_is_that_of_its_page_and_counts_heads_from_1(report, name):
    result = report.results[name]
    (block,) = [block for block in flat(ANALYSES[name].shown(result)) if isinstance(block, Table) and block.in_report]
    with counting_from(0):
        page = to_html(replace(report, results={name: result}, lines=[])).decode()
    rows = [f"<tr><td>{escape(str(row[0]))}</td>" for row in block.table.to_numpy()]
    assert all(text in page for text in (escape(block.title), escape(block.note), *rows))


def test_no_address_in_it_leads_anywhere(page):
    assert page.count(get_plotlyjs()) == 1
    page = page.replace(get_plotlyjs(), "")
    assert not re.search(r"""(src|href|url\()=?\s*["']?(https?:)?//""", page)
    assert "<link" not in page and "@import" not in page


def test_it_opens_with_a_paragraph_and_three_figures_each_of_which_stands_once(report, page):
    opening, _, rest = page.partition("<h2>")
    assert opening.count("<figure>") == 3 and opening.count("<p>") == 1
    assert count_states(every_finding(report.results)) in opening
    charts = [each for result in report.results.values() for each in flat(ANALYSES[result.analysis].shown(result))]
    drawn = sum(isinstance(each, Chart) and not each.follows for each in charts)
    assert (page.count("<figure>") - page.count(" of the paper, for this model: ")) == drawn
    assert rest.count("Its first figure stands at the beginning") == 3


def test_text_stays_text():
    for block in (element("p", HOSTILE), bullets([HOSTILE]), table(HOSTILE, [HOSTILE], [[HOSTILE]])):
        assert "<script" not in block and "&lt;script&gt;" in block


def test_a_hostile_name_of_a_corpus(report):
    result = report.results["entropy"]
    renamed = result.provenance | {"corpus": result.provenance["corpus"] | {"name": HOSTILE}}
    page = to_html(replace(report, results={"entropy": replace(result, provenance=renamed)})).decode()
    assert "<script>alert" not in page and "&lt;script&gt;" in page


def test_the_command_computes_what_is_missing_and_says_so(tiny_folder, tmp_path, capsys):
    text = tmp_path / "t.txt"
    text.write_text("the cat sat .\nthe dog slept .\n\n")
    (tmp_path / "more.txt").write_text("a cat ran .\n")
    out = tmp_path / "report.html"
    arguments = ["report", "--model", str(tiny_folder), "--text", str(text), "--text", str(tmp_path / "m*.txt")]
    more = ["--treebank", "none", "--coreference", "none", "--max-length", "32", "--store", str(tmp_path / "store")]
    app([*arguments, *more, "--out", str(out)], standalone_mode=False)
    announcement = capsys.readouterr().err
    assert re.search(r"Not stored yet: \d+ analyses \(.*Entropy.*\)\.", announcement)
    page = out.read_text("utf-8")
    assert "has no head that predicts" in page and "No treebank was given." in page
    assert "t.txt and 1 more" in page
    app([*arguments, *more, "--out", str(out)], standalone_mode=False)
    assert "not stored yet" not in capsys.readouterr().err


def test_the_command_says_what_is_left_out_also_where_it_is_to_be_quiet(tiny_folder, tmp_path, capsys):
    (tmp_path / "empty.txt").touch()
    others = [part for kind in ("treebank", "coreference", "pairs") for part in (f"--{kind}", "none")]
    command = ["report", "--model", str(tiny_folder), "--text", str(tmp_path / "empty.txt"), *others]
    app(
        [*command, "--max-length", "32", "--no-store", "--quiet", "--out", str(tmp_path / "x.html")],
        standalone_mode=False,
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: without Surface patterns, Entropy") and "The file is empty." in line


def test_the_library_reports_on_a_model_in_memory(planted_folder, tmp_path):
    from transformers import AutoTokenizer, BertForMaskedLM

    model = BertForMaskedLM.from_pretrained(planted_folder).train()
    pair = model, AutoTokenizer.from_pretrained(planted_folder)
    asked = {"text": ["the cat sat .\nthe dog slept ."], "treebank": False, "coreference": False, "max_length": 32}
    written = bv.report(tmp_path / "x.html", model=pair, store=False, **asked)
    page = written.read_text("utf-8")
    assert "BertForMaskedLM in memory" in page and "gradients" in page and model.training
    assert "Head 1-1 puts" in page  # planted: to the previous token


def test_without_a_store_no_result_is_read_not_even_of_those_that_ship(tmp_path, monkeypatch):
    def stored(request, store):
        raise LookupError(len(list(store.headers())))

    monkeypatch.setattr(ReportRequest, "announcement", stored)
    with pytest.raises(LookupError, match=r"^0$"):
        bv.report(tmp_path / "x.html", store=False)
    with pytest.raises(LookupError, match=r"^0$"):
        app(["report", "--no-store", "--out", str(tmp_path / "x.html")], standalone_mode=False)


@pytest.mark.parametrize("name", ["x.pdf", "folder", "nowhere/x.html"])
def test_paths_that_cannot_be_written_are_refused_before_any_work(name, tmp_path):
    with pytest.raises(SettingsError):
        bv.report(tmp_path / name)
    with pytest.raises(SettingsError, match="written to a file"):
        app(["report"], standalone_mode=False)
