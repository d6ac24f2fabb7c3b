"""The key of a request: equal for equal requests, and another one when results become invalid."""

import re
from dataclasses import replace

import pytest

from bertviz_core.analyses.base import request as request_module
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request, key_version
from bertviz_core.corpora.source import from_bytes
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.settings import Settings

TEXT = from_bytes(b"the cat sat .", "a.txt")


@pytest.fixture
def request_() -> Request:
    return Request("entropy", find_checkpoint("demo"), TEXT)


def test_names_do_not_matter_and_everything_else_does(request_: Request) -> None:
    key = request_.key()
    assert re.fullmatch("[0-9a-f]{64}", key)
    assert replace(request_, source=from_bytes(b"the cat sat .", "b.txt")).key() == key
    other = from_bytes(b"the dog sat .", "a.txt")
    changed = [
        replace(request_, analysis="surface_patterns"),
        replace(request_, source=other),
        replace(request_, settings=Settings(weights="norms")),
        replace(request_, options={"replace": "mean"}),
        replace(request_, others={"vectors": TEXT}),
        replace(request_, others={"vectors": other}),
    ]
    assert len({key, *(each.key() for each in changed)}) == 1 + len(changed)


def test_the_version_of_an_analysis_is_a_part_of_its_keys_alone(request_: Request, monkeypatch) -> None:
    before = {name: request_.for_analysis(name).key() for name in ANALYSES}
    monkeypatch.setattr(type(ANALYSES["entropy"]), "key_version", ANALYSES["entropy"].key_version + 1)
    after = {name: request_.for_analysis(name).key() for name in ANALYSES}
    assert [name for name in ANALYSES if before[name] != after[name]] == ["entropy"]
    monkeypatch.setattr(request_module, "FORMAT", request_module.FORMAT + 1)
    assert all(request_.for_analysis(name).key() != after[name] for name in ANALYSES)


def test_versions_are_counted_from_1_for_all_analyses_and_for_each() -> None:
    for name, analysis in ANALYSES.items():
        version = key_version(name, one_text=False)
        assert version == [request_module.FORMAT, analysis.key_version]
        assert all(type(number) is int and number >= 1 for number in version)
