"""The table of the highest heads says what a search through all heads finds, and stands on the page, in files and in
the report."""

import json
from html import escape

import pytest

from bertviz_core import exports, paper
from bertviz_core.analyses.base.block_contents import flat
from bertviz_core.analyses.base.highest_tables import BERT
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.heads import Head, counting_from
from tests.support import shipped


def tables_of(name: str) -> dict[str, Table]:
    shown = flat(ANALYSES[name].shown(shipped.result(name)))
    return {block.name: block for block in shown if isinstance(block, Table) and block.in_report}


@pytest.mark.parametrize("name", ["surface_patterns", "entropy", "ablation"])
def test_each_row_has_the_head_that_a_search_finds_and_chooses_it(name):
    result, highest = shipped.result(name), tables_of(name)["highest"]
    for number, (column, row) in enumerate(zip(ANALYSES[name].columns, highest.table.to_dict("records"), strict=True)):
        values = column.values(result).tolist()
        best = max((value, -layer, -head) for layer, heads in enumerate(values) for head, value in enumerate(heads))
        head = Head(-best[1], -best[2])
        assert row["quantity"] == column.label and row["highest head"] == f"{head.layer + 1}-{head.head + 1}"
        assert row["its value ± 95%"] == column.with_interval(result, head)
        means = [sum(heads) / len(heads) for heads in values]
        assert row["highest layer mean"] == f"layer {means.index(max(means)) + 1}: {column.text(max(means))}"
        assert highest.choose(number) == {"head": head}


def test_the_papers_means_stand_beside_this_run_s_and_its_layers_are_more():
    result, means = shipped.result("entropy"), tables_of("entropy")["layer_means"].table
    assert means["layer"].tolist() == list(range(1, 13))
    assert means["all tokens, paper"].tolist() == list(paper.LAYER_MEANS["entropy"])
    assert means["all tokens"].tolist()[:6] == pytest.approx(
        [sum(row) / len(row) for row in result["entropy"].tolist()]
    )
    assert means["all tokens"].isna().tolist() == [False] * 6 + [True] * 6
    highest = tables_of("entropy")["highest"].table
    texts = {"entropy": "layer 1: 3.6", "from_cls": "layer 12: 3.9"}
    assert highest[BERT].tolist() == [texts.get(column.quantity, "") for column in ANALYSES["entropy"].columns]


def test_without_the_papers_means_there_is_no_second_table_and_no_empty_column():
    assert [*tables_of("weights")] == ["highest"] and BERT not in tables_of("weights")["highest"].table


def test_it_counts_as_the_reader_does_and_every_file_has_it():
    with counting_from(0):
        assert tables_of("entropy")["highest"].table["highest head"][0] == "0-7"
    shown = shipped.result("entropy").default_view()
    title = tables_of("entropy")["highest"].title
    assert title in exports.to_text(shown) and escape(title) in exports.to_html(shown).decode()
    chosen = ANALYSES["entropy"].view().resolve(shown).choose(shown)
    assert json.loads(exports.to_json(chosen))["chosen"]["tables"]["highest"]["rows"][0]["highest head"] == "1-8"
