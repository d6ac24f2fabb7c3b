import errno
import json
import math
import os
import re
import shutil
import subprocess
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from bertviz_core import exports
from bertviz_core.analyses.base.block_contents import flat, tables
from bertviz_core.analyses.base.blocks import Chart, Map
from bertviz_core.analyses.base.registry import BUILT_IN
from bertviz_core.analyses.base.table_blocks import Inputs
from bertviz_core.analyses.coreference_heads.groups import BIN_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import DIRECTIONS as DIRECTIONS_OF_COREFERENCE
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.result import RelationFilter
from bertviz_core.emergence.series import shipped
from bertviz_core.errors import SettingsError
from bertviz_core.plotting.drawing import to_svg
from bertviz_core.plotting.html import element
from tests.support.shipped import OF_DECODERS
from tests.support.shipped import result as shipped_result

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def results(results):
    return results | {"emergence": shipped()} | {name: shipped_result(name) for name in OF_DECODERS}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BUILT_IN, "emergence"])
def test_every_result_as_every_file(results, name):
    result = results[name]
    builders = exports.builders(result)
    assert tuple(sorted(builders)) == tuple(sorted(exports.suffixes(name)))
    zipped = builders[".zip"]()
    assert zipped == builders[".zip"]()  # whatever the time of day
    with ZipFile(BytesIO(zipped)) as archive:
        assert archive.namelist() == [f"{table}.csv" for table in ("table", *result.default_view().tables())]
        assert archive.read("table.csv") == builders[".csv"]()
        for file in archive.namelist():
            frame = pd.read_csv(archive.open(file))
            assert len(frame) and {"model", "corpus", "citation"} <= set(frame.columns), file
    page = builders[".html"]().decode()
    for part in ("<h1>", "<table", 'class="dataframe"', "arXiv:1906.04341", "plotly-graph-div"):
        assert part in page
    assert re.search("</h1><ul>((?!</ul>).)*[0-9]", page)
    page_blocks = list(flat(exports.blocks_of(result)))
    assert page.count('<div class="plotly-graph-div"') == sum(isinstance(block, Chart | Map) for block in page_blocks)
    text = exports.to_text(result)
    assert all(sentence in text for sentence in exports.chosen_sentences(page_blocks))
    for of_page in tables(page_blocks):
        assert element("h2", of_page.title) in page
        examples = of_page.examples if isinstance(of_page, Inputs) else ()
        assert all((each.svg or element("p dir=auto", each.text)) in page for each in examples), of_page.title
    limit = {"ablation": "64", "induction": "100", "weights": "500"}.get(name, "all inputs")
    assert "limit: None" not in page and f"limit: {limit}" in page and 'src="http' not in page
    file_name = exports.slug(*result.file_parts())
    assert file_name.startswith(f"{name}-") and "/" not in file_name


def test_a_figure_as_svg_says_what_it_was_made_from(results, tmp_path):
    pytest.importorskip("kaleido")
    (tmp_path / "x.svg").write_bytes(exports.to_svg(results["entropy"]))
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    texts = [" ".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert float(root.get("width")) == 900 and "entropy, nats" in texts
    assert any("Entropy: demo on encyclopedia" in text and "Clark et al. 2019" in text for text in texts)


def test_the_table_of_heads_by_relation_holds_every_count(results):
    result = results["dependency_heads"].show(RelationFilter("function-heads", 20))
    rows = {(r.direction, r.relation, r.head): r for r in result.tables()["heads"].itertuples()}
    folds, directions, relations, layers, heads = result.correct.shape
    assert len(rows) == directions * relations * layers * heads
    for d, r, layer, head in np.ndindex(directions, relations, layers, heads):
        row = rows[DIRECTIONS[d], result.relations[r], f"{layer + 1}-{head + 1}"]
        right = sum(int(result.correct[f, d, r, layer, head]) for f in range(folds))
        n = sum(int(result.n[f, r]) for f in range(folds))
        assert (row.right, row.n) == (right, n)
        assert row.accuracy == pytest.approx(right / n)


def test_the_coreference_table_holds_every_head_and_the_best_is_in_table_2(results):
    result = results["coreference_heads"].default_view()
    heads = result.tables()["heads"].set_index(["direction", "type", "head"])["accuracy"]
    best = result.best()
    assert heads[DIRECTIONS_OF_COREFERENCE[0], "pronoun"].max() == pytest.approx(result.accuracy[0, 1].max())
    assert heads[DIRECTIONS_OF_COREFERENCE[0], "all", best.head.label()] == pytest.approx(result.row(best)["accuracy"])
    groups = result.tables()["groups"]
    is_best = (groups["system"] == f"head {best.head.label()}") & (groups["direction"] == DIRECTIONS_OF_COREFERENCE[0])
    is_distance = groups["group"].isin(BIN_NAMES)
    for rows, at in ((is_best, best), (groups["system"] == "nearest", "nearest")):
        for kind in TYPE_ROWS:
            part = groups[rows & is_distance & (groups["type"] == kind)]
            scores = result.scores(at).of("distance", kind)
            assert part["group"].tolist() == list(BIN_NAMES)
            assert (part["right"].tolist(), part["n"].tolist()) == (scores.right.tolist(), scores.n.tolist())


@pytest.mark.parametrize("attention, root, rows", [(2, 0, 2), (0, 0, 0)])
def test_the_table_of_weights_has_the_weights_that_there_are(results, attention, root, rows):
    """Mode paper has none for the root, and without the probe on attention only there are none at all."""
    result = results["probes"]
    result = replace(result, attention=result.attention[:attention], root=result.root[:root])
    table = result.tables()["weights"]
    assert len(table) == rows * math.prod(result.attention.shape[1:])
    assert table["value"].tolist() == pytest.approx(result.attention.ravel().tolist())


def check_document(lines):
    """Lines of LaTeX are a document of their own, and a table alone where booktabs is loaded: what opens is closed, in
    the document and within the conditionals, of which the first is the only one with an alternative."""
    first = next(place for place, line in enumerate(lines) if line.startswith(r"\begin{tabular}"))
    last = lines.index(r"\end{tabular}")
    before, after = "".join(lines[:first]), "".join(lines[last + 1 :])
    assert before.startswith(r"\ifdefined\toprule\else\documentclass") and before.endswith(r"\fi")
    assert before.index(r"\usepackage{booktabs}") < before.index(r"\begin{document}") and before.count(r"\if") == 1
    assert r"\def\bertvizend{\end{document}}" in before and before.count("{") == before.count("}")
    assert after == r"\ifdefined\bertvizend\expandafter\bertvizend\fi"
    columns = re.fullmatch(r"\\begin{tabular}{([lr]+)}", lines[first])[1]
    rules = [line for line in lines[first:last] if line in (r"\toprule", r"\midrule", r"\bottomrule")]
    rows = [line for line in lines[first:last] if line.endswith(r"\\")]
    assert len(rules) == 3 and {line.count(" & ") for line in rows} == {len(columns) - 1}


def test_latex_where_the_paper_has_a_table(results):
    for name, result in results.items():
        latex = exports.builders(result).get(".tex")
        assert (latex is not None) == (name in ("dependency_heads", "coreference_heads", "probes"))
        assert latex is None or "->" not in latex().decode()
        if name == "dependency_heads":
            assert "Trees: function words as governors." in latex().decode() and " & +1 " in latex().decode()
        if latex:
            written = latex().decode().splitlines()
            comments = [line.removeprefix("% ") for line in written if line.startswith("%")]
            lines = written[len(comments) :]
            assert set(exports.described_origin(result.provenance)) <= {*comments}
            check_document(lines)
            assert re.search(r"\d\d\.\d--\d\d\.\d", latex().decode()), "intervals"
            assert ("Paper" in latex().decode()) == (name != "coreference_heads"), "of the same corpus alone"
            assert latex().decode().partition(r"\begin{tabular}")[2].isascii()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX")
@pytest.mark.parametrize("name", ["dependency_heads", "coreference_heads", "probes"])
def test_latex_compiles_as_it_is_and_fits_its_page(results, name, tmp_path):
    (tmp_path / "table.tex").write_bytes(exports.builders(results[name])[".tex"]())
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    printed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "Overfull" not in printed and "(1 page" in printed


def test_a_path_is_checked_by_its_ending_and_without_kaleido_ahead_of_any_work(tmp_path, monkeypatch):
    assert exports.check_path(tmp_path / "x.heads.CSV", exports.suffixes("dependency_heads")) == ".csv"
    with pytest.raises(SettingsError, match=r"\.tex"):
        exports.check_path(tmp_path / "x.tex", exports.suffixes("entropy"))
    monkeypatch.setattr("bertviz_core.plotting.drawing.find_spec", lambda name: None)
    for path in ("x.svg", "x.SVG"):
        with pytest.raises(SettingsError, match="pip install kaleido"):
            exports.check_path(tmp_path / path, exports.SUFFIXES)


@pytest.mark.parametrize(
    "records", [[], [{"a": ["line\u2028sep\x85 \n", {}], "b": []}], [1, "zwei", [None, {"c": [[]]}]]]
)
def test_records_are_written_as_json_writes_a_whole_list(records, tmp_path):
    exports.write_bytes(tmp_path / "x.json", exports.json_pieces(iter(records)))
    assert (tmp_path / "x.json").read_text("utf-8") == json.dumps(records, ensure_ascii=False, indent=1)


def test_records_that_end_in_an_error_leave_what_stood_there(tmp_path):
    def broken():
        yield {}
        raise SettingsError("half way")

    (tmp_path / "x.json").write_text("before")
    with pytest.raises(SettingsError, match="half way"):
        exports.write_bytes(tmp_path / "x.json", exports.json_pieces(broken()))
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_a_read_only_disk_gets_a_message(monkeypatch, tmp_path):
    def refuse(*arguments, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(SettingsError, match="Read-only") as error:
        exports.write_bytes(tmp_path / "x.json", b"")
    assert "can be written" in error.value.hint


def test_without_a_browser_a_message_says_what_is_missing(monkeypatch, tmp_path):
    pytest.importorskip("kaleido")
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "none"))
    with pytest.raises(SettingsError, match="BROWSER_PATH"):
        to_svg(go.Figure())
