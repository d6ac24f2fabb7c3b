"""The planted heads do what they are said to: else the tests that rely on them test nothing."""

from pathlib import Path

import pytest

from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.requests import Request, compute
from bertviz_core.corpora.files import sample
from bertviz_core.models.checkpoint import find
from bertviz_core.settings import Settings


@pytest.fixture(scope="module")
def result(planted_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> HeadAverages:
    request = Request("surface_patterns", find(str(planted_folder)), sample("encyclopedia"), Settings(limit=8))
    return compute(request, None)


@pytest.mark.parametrize(("quantity", "layer", "head"), [("previous", 0, 0), ("next", 1, 0), ("to_sep", 1, 1)])
def test_each_planted_head_does_what_it_is_for(result, quantity: str, layer: int, head: int) -> None:
    assert result[quantity][layer, head] > 0.9
    others = result[quantity].copy()
    others[layer, head] = 0
    assert others.max() < 0.2


def test_the_rest_look_at_everything_alike(result) -> None:
    assert max(result[name][0, 1] for name in ("previous", "next", "current")) < 0.02
