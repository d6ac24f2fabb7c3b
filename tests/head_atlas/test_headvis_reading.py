"""Exports of HeadVis: what is read of them, and what is refused, with the reason."""

import json

import numpy as np
import pytest

from bertviz_core.errors import InputError, SettingsError
from bertviz_core.head_atlas.headvis_reading import MAX_BYTES, read
from tests.support.running import run

ROWS = [
    {"layer": 0, "head": 0, "induction_score": 0.25, "qk_distance": 3},
    {"layer": 0, "head": 1, "induction_score": None, "qk_distance": 8.5},
    {"layer": 1, "head": 1, "induction_score": 0.5},
]


def written(rows):
    return json.dumps(rows).encode()


def test_metrics_become_maps_with_their_source():
    found = read(written(ROWS), "scatter_data.json")
    expected = [[0.25, np.nan], [np.nan, 0.5]]
    np.testing.assert_array_equal(found.metrics["induction_score"], expected)
    assert found.shape == (2, 2) and "2 metrics of 2 × 2 heads" in found.source and found.digest[:16] in found.source
    drawn = found.map_of("induction_score")
    assert drawn.hover == (
        "1-1: induction_score 0.250; rank 2 of 2",
        "1-2: no value",
        "2-1: no value",
        "2-2: induction_score 0.500; rank 1 of 2",
    )
    assert found.map_of("qk_distance").limits == (0.0, 8.5)
    with pytest.raises(SettingsError, match="no metric"):
        found.map_of("other")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'[{"layer": 0, "head": 0, "a": NaN}]', "NaN"),
        (b'[{"layer": 0, "head": 0, "a": 1e999}]', "no finite number"),
        (b'[{"layer": 0, "head": 0, "a": 1' + b"0" * 5000 + b"}]", "no JSON"),
        (b'{"layer": 0}', "no list of objects"),
        (b"[1, 2]", "no list of objects"),
        (b"[]", "0 heads"),
        (written([{"layer": 0, "a": 1}]), "entry 1"),
        (written([{"layer": True, "head": 0, "a": 1}]), "whole numbers"),
        (written([{"layer": 0.5, "head": 0, "a": 1}]), "whole numbers"),
        (written([{"layer": -1, "head": 0, "a": 1}]), "whole numbers"),
        (written([{"layer": 19_000, "head": 19_000, "a": 1}]), "a map of 19,001"),
        (written([ROWS[0], ROWS[0]]), "twice"),
        (written([{"layer": 0, "head": 0, "a": "x"}]), "0 metrics"),
        (written([ROWS[0], {"layer": 0, "head": 1, "qk_distance": "far"}]), "no finite number"),
        (written([{"layer": 0, "head": 0, "a" * 200: 1}]), "long name"),
        (b" " * (MAX_BYTES + 1), "more than 8 MB"),
    ],
)
def test_what_is_no_export_is_refused_with_the_reason(data, message):
    with pytest.raises(InputError) as error:
        read(data, "scatter_data.json")
    assert message in str(error.value)


def test_the_command_prints_a_metric_and_writes_its_map(tmp_path):
    file = tmp_path / "scatter_data.json"
    file.write_bytes(written([*ROWS, {"layer": 1, "head": 0, "<b>": 1}]))
    ended = run("headvis", file, "--metric", "qk_distance")
    assert ended.returncode == 0 and ended.stdout.startswith("qk_distance\n1-2  8.500\n1-1  3.000\n"), ended.stderr
    out = tmp_path / "x.json"
    assert run("headvis", file, "--out", out).returncode == 0
    assert json.loads(out.read_text())["heads"][3]["induction_score"] == 0.5
    page = tmp_path / "x.html"
    assert run("headvis", file, "--metric", "<b>", "--out", page).returncode == 0
    assert "<b>" not in page.read_text("utf-8")
    assert "cannot be read" in run("headvis", tmp_path / "none.json").stderr
