"""Pages of models and corpora that are too small for intervals, pairs of heads and ratios."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.driving import analyze, open_app, words
from tests.families import FAMILIES, save

pytestmark = pytest.mark.usefixtures("own_store")


def computed(page: str, model: Path, **address: str):
    app = open_app(page, model=str(model), max_length="32", **address)
    analyze(app)
    assert not app.error and not app.exception
    return app


def test_a_single_segment_has_no_interval_on_its_page(tiny_folder: Path) -> None:
    app = computed("surface_patterns", tiny_folder, limit="1")
    values = [value.split() for table in app.table if "value" in table.value for value in table.value["value"]]
    assert values and all(value == ["–"] or value[1:] == ["±", "–"] for value in values)


def test_a_model_of_one_head_has_a_clustering(tmp_path: Path) -> None:
    sizes = FAMILIES["bert"].sizes | {"num_hidden_layers": 1, "num_attention_heads": 1}
    app = computed("clustering", save(replace(FAMILIES["bert"], sizes=sizes), tmp_path / "one"), limit="2")
    assert "no two heads of one layer, no two heads of different layers" in words(app)
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Within / between layers"] == shown["Most similar heads"] == "–" and "nan" not in words(app)
