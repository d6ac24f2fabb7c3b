"""The map of behaviors and the rows of one head: every head once, with its own marker and numbers."""

import numpy as np

from bertviz_core.heads import DirectedHead, Head
from bertviz_core.overview.figure import behavior_map, head_rows, relation_rows
from bertviz_core.overview.head_summary import Column, Relation
from bertviz_core.plotting.style import BEHAVIORS

LABELS = np.array([["next", "other", "to_sep"], ["broad", "linguistic", "to_sep"]])
ENTROPY = np.array([[0.1, 0.2, 0.3], [4.2, 0.5, float("nan")]])
COLUMNS = [
    Column("entropy", "entropy", ENTROPY),
    Column("surface_patterns", "to_sep", ENTROPY / 10),
    Column("coreference_heads", "all", ENTROPY / 10, 0.4, "head match"),
]


def test_every_head_stands_at_its_layer_and_number_under_its_behavior():
    described = behavior_map(LABELS, COLUMNS, {"2-2": "dobj"})
    texts = np.array(described.hover).reshape(LABELS.shape)
    groups = {Head.parse(label): group for group in described.groups for label in group.heads}
    seen = {(at.layer, at.head): (group.name, group.symbol, texts[at.layer, at.head]) for at, group in groups.items()}
    assert len(seen) == LABELS.size
    for (layer, head), (name, symbol, _) in seen.items():
        _, marker, _, words = BEHAVIORS[LABELS[layer, head]]
        assert name == f"{words} ({(LABELS[layer, head] == LABELS).sum()})"
        assert symbol == marker
    assert seen[1, 1][2].startswith("2-2: dobj")
    assert seen[1, 0][2] == "2-1: broad attention; entropy 4.200 nats, rank 1 of 6"
    assert seen[0, 2][2] == "1-3: [SEP]; attention to [SEP] 0.03, rank 3 of 6"


def test_labels_from_zero_are_shown_and_clicks_stay_from_one():
    described = behavior_map(LABELS, COLUMNS, {}, base=0)
    assert described.groups[0].heads[0] == "1-1"
    assert described.hover[0].startswith("0-0: ")


def test_rows_say_value_rank_and_baseline():
    rows = head_rows(COLUMNS, Head(1, 0))
    assert rows[0] == {"quantity": "entropy, nats", "value": "4.200", "rank": "1 of 6", "baseline": ""}
    assert (rows[2]["value"], rows[2]["baseline"]) == ("42.0%", "40.0% (head match)")
    absent = head_rows(COLUMNS, Head(1, 2))[0]
    assert (absent["value"], absent["rank"]) == ("–", "6 of 6")


def test_a_relation_stands_beside_its_offset():
    row = relation_rows([Relation("dobj", DirectedHead(0, Head(7, 9)), 0.868, 0.4, -2, 1591, 1)], 144)[0]
    assert (row["found"], row["best offset"], row["rank"], row["words"]) == ("86.8%", "40.0% (-2)", "1 of 144", "1,591")
