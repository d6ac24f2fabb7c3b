"""Records as files: a JSON list written as it is read."""

from __future__ import annotations

import json

import pytest

from bertviz_core import exports
from bertviz_core.errors import SettingsError


@pytest.mark.parametrize(
    "records", [[], [{"a": ["line\u2028sep\x85 \n", {}], "b": []}], [1, "zwei", [None, {"c": [[]]}]]]
)
def test_records_are_written_as_json_writes_a_whole_list(records, tmp_path):
    exports.write_records(tmp_path / "x.json", iter(records))
    assert (tmp_path / "x.json").read_text("utf-8") == json.dumps(records, ensure_ascii=False, indent=1)


def test_records_that_end_in_an_error_leave_what_stood_there(tmp_path):
    def broken():
        yield {}
        raise SettingsError("half way")

    (tmp_path / "x.json").write_text("before")
    with pytest.raises(SettingsError, match="half way"):
        exports.write_records(tmp_path / "x.json", broken())
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]
