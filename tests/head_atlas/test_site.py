"""The site as a reader gets it: every link works, texts are escaped, numbers are the library's."""

import gzip
import io
import json
import re
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

import bertviz_core as bv
from bertviz_core.corpora.files import sample
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import Cancelled, InputError, SettingsError
from bertviz_core.head_atlas import headvis, numbers, site
from bertviz_core.head_atlas.analysis_pages import head_page
from bertviz_core.head_atlas.contents import ModelContents, requested_contents, stored_contents
from bertviz_core.head_atlas.page_frame import with_links
from bertviz_core.heads import Head, all_heads
from bertviz_core.models.checkpoint import DEMO_DECODER, find_checkpoint
from bertviz_core.overview.head_columns import columns
from bertviz_core.paper_report.report import ReportRequest
from bertviz_core.settings import Settings
from tests.head_atlas.conftest import HOSTILE
from tests.support import links
from tests.support.running import run

MODEL = "demo-decoder"


def test_every_link_leads_to_a_file_and_each_head_is_reached(folder, contents):
    assert links.broken(folder) == [] and (folder / ".nojekyll").exists()
    pages = {path.stem for path in (folder / MODEL / "heads").iterdir()}
    assert pages == {head.key() for head in contents.heads}
    overview = links.Links((folder / MODEL / "index.html").read_text("utf-8"))
    assert {f"heads/{key}.html" for key in pages} <= set(overview.targets)


def test_no_page_runs_a_script_of_its_own_or_asks_another_machine(folder, read):
    for path in folder.rglob("*.html"):
        text = path.read_text("utf-8")
        policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
        assert "script-src 'self' file:;" in policy and "unsafe-inline" not in policy.partition("script-src")[2], path
        kinds = re.findall(r"<script ([^>]*)>", text)
        assert all(kind.startswith(("src=", 'type="application/json"')) for kind in kinds)
        assert "<script>" not in text and not re.search(r'(?:src|href)="(?:https?:)?//', text), path
    assert escape(HOSTILE) in read(f"{MODEL}/index.html")


def test_the_page_and_the_table_of_a_head_have_the_numbers_of_the_library(tmp_path):
    store = Store(tmp_path)  # with the results that ship
    contents = stored_contents(store, find_checkpoint(DEMO_DECODER), Settings(), None)
    for key in ("2-1", "4-8"):
        expected = bv.head(DEMO_DECODER, key, store=store.folder)
        shown = contents.describe(Head.parse(key))
        page = unescape(head_page(contents, shown, None).decode())
        assert expected.shown.claim in re.sub(r"<[^>]*>", "", page)
        frame = expected.to_frame()
        assert all(text in page for text in frame["text"])  # each number with its interval, rank, median, baseline
        table = numbers.table_of(shown).set_index(["analysis", "figure", "name"])
        assert len(table) >= len(frame)
        for row in frame.to_dict("records"):
            own = table.loc[(row["analysis"], row["figure"], row["name"])]
            for column in ("value", "low", "high", "rank", "baseline", "score"):
                assert own[column] == row[column] or (np.isnan(own[column]) and np.isnan(row[column]))


def test_the_table_and_its_card(folder, contents):
    model = folder / MODEL
    table = pd.read_parquet(model / numbers.PARQUET)
    assert table["label"].nunique() == len(contents.heads)
    described = {name for names in numbers.COLUMNS for name in names.split(", ")}
    assert described == set(table.columns)
    card = (model / numbers.CARD).read_text("utf-8")
    assert json.loads(re.search(r"configs: (.*)", card)[1])[0]["data_files"] == numbers.PARQUET
    assert "<script>" not in card and "alert" in card


def test_without_pyarrow_the_table_is_csv(contents, monkeypatch):
    monkeypatch.setattr(numbers, "find_spec", lambda name: None)
    tables = [numbers.table_of(contents.describe(head)) for head in contents.heads[:2]]
    packed = dict(numbers.files(contents, tables))[numbers.CSV]
    assert len(pd.read_csv(io.BytesIO(gzip.decompress(packed)))) == sum(map(len, tables))


def test_headvis_gets_every_number_of_each_head(folder, contents):
    data = folder / MODEL / headvis.FOLDER
    config = json.loads((data / "config.json").read_text("utf-8"))
    rows = json.loads((data / "scatter_data.json").read_text("utf-8"))
    assert sorted(config["heads"]) == sorted([row["layer"], row["head"]] for row in rows)
    # The viewer offers the numbers of the first row alone.
    assert {name for row in rows for name in row} == {*rows[0]} == {"layer", "head", *config["metrics"]}
    assert config["n_layers"] * config["n_heads"] == len(rows) == len([*(data / "heads").iterdir()])
    for column in columns(contents.results):
        name = headvis.name_of(column)
        assert name in config["metrics"] and config["metric_descriptions"][name]
        for row in rows:
            value = column.values[row["layer"], row["head"]]
            assert row[name] == value if name in row else np.isnan(value)
    first = json.loads((data / "heads" / config["head_data_pattern"].format(layer=0, head=0)).read_text("utf-8"))
    assert first["sequences"] == [] == first["top_key_tokens"] and first["qk_distance_histogram"] == {}


def test_what_is_kept_of_attention():
    """Of two queries the KEPT highest keys that have LEAST; distances 1 and 0, with their weights."""
    weights = np.array([[0.5, 0.1, 0.1, 0.1, 0.1, 0.06, 0.03, 0.01], [0.001, 0.9, 0.099, 0, 0, 0, 0, 0]])
    queries, keys = headvis.highest_weights(weights)
    assert list(zip(queries.tolist(), keys.tolist(), strict=True)) == [*((0, key) for key in range(6)), (1, 1), (1, 2)]
    sampled = [{"tokens": ["a", "b", "a"], "attention_indices": [1, 5], "attention_values": [0.3, 0.4], "seq_len": 3}]
    assert headvis.distances(sampled)["bin_values"][:2] == [0.0, 0.7]
    assert headvis.top_tokens(sampled, of_keys=False) == [{"token": "b", "weight": 0.4}, {"token": "a", "weight": 0.3}]
    assert headvis.top_tokens(sampled, of_keys=True) == [{"token": "a", "weight": 0.4}, {"token": "b", "weight": 0.3}]


def test_heads_in_sentences_are_links_and_nothing_else_is():
    page = "<h1>Head 3-1</h1><p>Heads 3-1 and 9-9, not 3-1.</p><svg><title>head 3-1</title></svg>"
    assert with_links(page, {"3-1"}, "heads/") == page.replace("Heads 3-1", 'Heads <a href="heads/3-1.html">3-1</a>')


def test_two_models_of_one_folder_are_refused_and_a_cancel_ends_it(contents):
    with pytest.raises(SettingsError, match="same folder"):
        next(site.files([contents, contents], Progress()))
    progress = Progress()
    progress.cancelled.set()
    with pytest.raises(Cancelled):
        list(site.files([contents], progress))


@pytest.mark.parametrize("address", ["../index.html", "https://example.org/a?b=1&c=2"])
def test_every_page_leads_home(contents, tmp_path, address):
    (tmp_path / "index.html").write_text("<a href=atlas/index.html>Atlas</a>")
    one = replace(contents, results={"entropy": contents.results["entropy"]})
    site.check_home(address)
    site.write(tmp_path / "atlas", site.files([one], Progress(), home=address))
    wrong = links.broken(tmp_path)
    pages = [path for path in tmp_path.rglob("*.html") if path.parent != tmp_path]
    assert len(wrong) == (len(pages) if "://" in address else 0)
    for path in pages:
        first = links.Links(path.read_text("utf-8").partition("<nav")[2]).targets[0]
        assert first == address or (path.parent / first).resolve() == tmp_path / "index.html"


@pytest.mark.parametrize("address", ["javascript:alert(1)", "/index.html", "file:///etc", "\\\\a"])
def test_a_home_that_is_no_page_of_the_web_is_refused(address):
    with pytest.raises(SettingsError, match="cannot lead"):
        site.check_home(address)


def test_equal_files_make_equal_archives(folder):
    pages = [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.html"))]
    packed = site.zipped(pages)
    assert packed == site.zipped(pages) and ZipFile(io.BytesIO(packed)).namelist() == ["atlas/index.html"]


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    ended = run("atlas", "demo", "--out", tmp_path)
    assert ended.returncode == 2 and "other files" in ended.stderr and len([*tmp_path.iterdir()]) == 1
    ended = run("atlas", "demo", "--out", tmp_path / "new", "--text", "encyclopedia")
    assert ended.returncode == 2 and "--compute" in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("place", [0, 1])
def test_a_full_disk_says_that_the_site_is_not_whole_and_a_second_try_completes_it(tmp_path, place):
    pages = [(site.MARK, b"a"), ("demo/index.html", b"b")]
    unfinished = tmp_path / (pages[place][0] + ".partial")
    unfinished.parent.mkdir()
    unfinished.symlink_to("/dev/full")
    with pytest.raises(SettingsError, match="No space left") as error:
        site.write(tmp_path, pages)
    assert "not whole" in error.value.hint and "again" in error.value.hint
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == place
    site.check_folder(tmp_path)
    assert site.write(tmp_path, pages) == 2 and (tmp_path / "demo" / "index.html").read_bytes() == b"b"


def test_a_folder_that_cannot_be_written_is_refused_ahead_of_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(site.os, "access", lambda folder, mode: folder != tmp_path)
    for folder in (tmp_path, tmp_path / "new"):
        with pytest.raises(SettingsError, match="cannot be written"):
            site.check_folder(folder)


def test_a_model_without_stored_results_is_an_error_that_says_what_to_do(tmp_path):
    empty = Store(tmp_path / "store", shipped=tmp_path)
    with pytest.raises(InputError, match="No values of heads") as error:
        stored_contents(empty, find_checkpoint(MODEL), Settings(), None)
    assert "Run an analysis" in error.value.hint
    request = ReportRequest(find_checkpoint(MODEL), {"text": sample("encyclopedia")})
    with pytest.raises(InputError, match="Nothing is stored"):
        requested_contents(request, empty, None)


@pytest.mark.slow
def test_the_site_of_72_heads_has_less_than_12_mb(tmp_path, monkeypatch):
    """By the pages of every sixth head, which make most of it and are alike."""
    every = all_heads(6, 12)[2::6]
    monkeypatch.setattr(ModelContents, "heads", every)
    out = tmp_path / "site"
    ended = run("atlas", "demo", "--out", out, "--quiet", store=Store(tmp_path / "store").folder)
    assert ended.returncode == 0, ended.stderr
    sizes = {path: path.stat().st_size for path in out.rglob("*") if path.is_file()}
    of_heads = sum(size for path, size in sizes.items() if path.parent.name == "heads")
    assert len([path for path in sizes if path.parent.name == "heads"]) == 2 * len(every)
    assert sum(sizes.values()) + 5 * of_heads < 12_000_000
    assert links.broken(out) == []
    first = json.loads((out / "demo" / headvis.FOLDER / "heads" / "L0H2.json").read_text("utf-8"))
    for each in first["sequences"]:
        assert len(each["tokens"]) == each["seq_len"] and each["max_activation"] > 0
        assert len(each["attention_indices"]) == len(each["attention_values"]) <= headvis.KEPT * each["seq_len"]
    assert "Where it is clearest" in (out / "demo" / "heads" / "1-3.html").read_text("utf-8")
