"""What stored results say of each head, against plain loops; the map of behaviors and the rows of one head."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.analyses.behaviors import found_by_heads, linguistic
from bertviz_core.analyses.dependency_heads.head_facts import relation_columns
from bertviz_core.analyses.dependency_heads.head_relations import Relation, relations
from bertviz_core.analyses.surface_patterns.result import SINKS, sinks
from bertviz_core.heads import DirectedHead, Head, all_heads, counting_from
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.one_head.description import one_head
from bertviz_core.overview.clearest_heads import clearest
from bertviz_core.overview.head_columns import Column, behavior_heads, behavior_labels, columns, frame
from bertviz_core.overview.summary import (
    behavior_map,
    behaviors_finding,
    describe_model,
    encoded_cards,
    every_finding,
    head_rows,
    one_line,
    roles,
)
from bertviz_core.plotting import BEHAVIORS
from bertviz_core.tour import head_roles


def test_columns_hold_each_result_s_own_numbers(results):
    by_name = {(column.analysis, column.quantity): column for column in columns(results)}
    assert (by_name["surface_patterns", "next"].values == results["surface_patterns"]["next"]).all()
    assert (by_name["entropy", "entropy"].values == results["entropy"]["entropy"]).all()
    chosen = results["dependency_heads"].default_view()
    uas = chosen.relations.index("UAS")
    for head in all_heads(*by_name["dependency_heads", "UAS"].values.shape):
        right = [int(chosen.correct[:, d, uas, head.layer, head.head].sum()) for d in (0, 1)]
        expected = max(right) / int(chosen.n[:, uas].sum())
        assert by_name["dependency_heads", "UAS"].values[head.layer, head.head] == pytest.approx(expected)
    coreference = by_name["coreference_heads", "all"]
    assert (coreference.values == results["coreference_heads"].default_view().accuracy[0, 0]).all()
    assert coreference.baseline_name == "head match"
    assert coreference.baseline is not None and ((coreference.baseline > 0) & (coreference.baseline < 1)).all()


def test_a_head_that_points_from_the_antecedent_to_the_mention_is_not_the_coreference_head(results):
    """Its counts in the direction that the paper does not measure neither mark a head nor stand in the overview."""
    shipped = results["coreference_heads"]
    right = shipped.correct.copy()
    right[1, 0, :, 5, 7] = shipped.group_n  # 6-8 is always right from the antecedent to the mention
    turned = {"coreference_heads": replace(shipped, correct=right)}
    assert linguistic(turned) == linguistic({"coreference_heads": shipped}) != {}
    assert "6-8" not in linguistic(turned)
    column = next(iter(columns(turned)))
    assert (column.values == shipped.default_view().accuracy[0, 0]).all()


def test_without_surface_patterns_and_entropy_no_behavior_is_told(results):
    assert behavior_labels({"clustering": results["clustering"]}) is None
    assert columns({}) == []


def test_relations_are_those_furthest_over_their_best_offset(results):
    result = results["dependency_heads"].default_view()
    head = result.best_choice(result.clearest_relation()).head
    gains = {}
    for row, name in enumerate(result.relations):
        if name in ("all", "UAS", "root", "punct"):
            continue
        n = int(result.n[:, row].sum())
        right = max(int(result.correct[:, d, row, head.layer, head.head].sum()) for d in (0, 1))
        offset = max(int(count) for count in result.offset_correct[:, row])
        if right > offset:
            gains[name] = (right / n - offset / n, right / n, n)
    strongest = relations(result, head)
    assert [relation.name for relation in strongest] == sorted(gains, key=lambda name: -gains[name][0])[:3] != []
    for relation in strongest:
        gain, accuracy, n = gains[relation.name]
        assert (relation.accuracy, relation.n) == (pytest.approx(accuracy), n)
        assert relation.accuracy - relation.baseline == pytest.approx(gain)
        assert 1 <= relation.rank <= result.correct.shape[3] * result.correct.shape[4]


def test_the_frame_has_a_row_for_each_head_and_nothing_of_what_is_not_stored(results):
    table = frame(results)
    layers, heads = results["entropy"]["entropy"].shape
    assert len(table) == layers * heads
    assert table["entropy"].tolist() == results["entropy"]["entropy"].reshape(-1).tolist()
    named = linguistic(results)
    assert set(table.loc[table["behavior"] == "linguistic", "label"]) == set(named)
    assert {"UAS", "coreference_all", "gradient_to_sep", "best_relation", "attends_to", "nearest"} <= set(table)
    assert table["attends_to"].str.fullmatch(r"[A-Z]+ \d+% \([\d.]+ times their share\); .*share\)").all()
    only = frame({"entropy": results["entropy"]})
    assert list(only)[:4] == ["label", "layer", "head", "behavior"]
    assert not {"UAS", "best_relation", "nearest"} & set(only)


def test_the_clearest_head_of_a_behavior_and_of_the_sink_has_its_highest_average(results):
    examples = clearest(results)
    quantities = [example.quantity for example in examples]
    assert [name for name in quantities if name in SINKS] == sinks(results["surface_patterns"])[:1], "the sink alone"
    assert set(quantities) - {*SINKS} == {"next", "previous", "to_punct", "entropy"}
    for example in examples:
        values = results[example.analysis][example.quantity]
        assert example.value == max(values.reshape(-1))
        assert values[example.head.layer, example.head.head] == example.value
        within = [segment.value for segment in example.segments]
        assert within == sorted(within, reverse=True)
        assert within[0] >= example.value  # the best segment is no worse than the mean
        assert all(segment.tokens[0] == "[CLS]" for segment in example.segments)


LABELS = np.array([["next", "other", "to_sep"], ["broad", "linguistic", "to_sep"]])
ENTROPY = np.array([[0.1, 0.2, 0.3], [4.2, 0.5, float("nan")]])
COLUMNS = [
    Column("entropy", "entropy", ENTROPY),
    Column("surface_patterns", "to_sep", ENTROPY / 10),
    Column("coreference_heads", "all", ENTROPY / 10, np.full_like(ENTROPY, 0.4), "head match"),
]


def members(labels):
    """(layer, head) bool of each behavior of single labels, in the order of the legend."""
    return {name: labels == name for name in BEHAVIORS if (labels == name).any()}


def test_every_head_stands_at_its_layer_and_number_under_its_behavior():
    described = behavior_map(members(LABELS), COLUMNS, {"2-2": "dobj"})
    texts = np.array(described.hover).reshape(LABELS.shape)
    groups = {Head.parse(label): group for group in described.groups for label in group.heads}
    seen = {(at.layer, at.head): (group.name, group.symbol, texts[at.layer, at.head]) for at, group in groups.items()}
    assert len(seen) == LABELS.size
    for (layer, head), (name, symbol, _) in seen.items():
        _, marker, _, words = BEHAVIORS[LABELS[layer, head]]
        count = (LABELS[layer, head] == LABELS).sum()
        assert name == ("" if LABELS[layer, head] == "other" else f"{words} ({count})"), "the rest has no entry"
        assert symbol == marker
    assert seen[1, 1][2].startswith("2-2: dobj")
    assert seen[1, 0][2] == "2-1: broad attention; entropy 4.200 nats, rank 1 of 5"
    assert seen[0, 2][2] == "1-3: [SEP]; attention to [SEP] 0.03, rank 3 of 5"
    with counting_from(0):
        from_zero = behavior_map(members(LABELS), COLUMNS, {})  # labels are, and clicks stay from one
    assert from_zero.groups[0].heads[0] == "1-1" and from_zero.hover[0].startswith("0-0: ")


def test_linguistic_heads_stand_by_what_they_find():
    labels = np.array([["linguistic", "linguistic"], ["next", "linguistic"]])
    found = {"1-1": "objects", "1-2": "antecedents", "2-2": "objects"}
    groups = behavior_map(members(labels), COLUMNS[:0], found, found=found).groups
    by_name = {group.name: (group.letter, group.heads) for group in groups}
    assert by_name["objects (2)"] == ("O", ("1-1", "2-2")) and by_name["antecedents (1)"] == ("A", ("1-2",))
    assert len(by_name) == 3


def test_the_line_of_the_overview_counts_what_its_map_marks(results):
    labels = behavior_labels(results)
    plain = sum(name not in ("broad", "other") for name in labels.reshape(-1).tolist())
    assert one_line(labels).startswith(f"{plain} of {labels.size} heads do something recognizable")
    assert f"{(labels == 'broad').sum()} attend broadly" in one_line(labels)
    found = found_by_heads(results)
    assert set(found) == set(linguistic(results)) and {"objects", "antecedents"} <= set(found.values())


@pytest.fixture
def inducing(results):
    """The demo's results, with an induction head that attends to the previous token too, 1-3, and one that attends to
    that position whether anything is repeated or not, 4-1."""
    shipped = results["induction"]
    mean = shipped.mean.copy()
    prefix, control = (shipped.quantities.index(name) for name in ("prefix", "prefix_control"))
    mean[prefix, 0, 2] = 0.88
    mean[prefix, 1, 8] = 0.29  # less than much
    mean[prefix, 3, 0], mean[control, 3, 0] = 0.8, 0.75
    return results | {"induction": replace(shipped, mean=mean)}


def test_a_head_that_continues_repetitions_is_an_induction_head_beside_what_else_it_is(inducing):
    heads = behavior_heads(inducing)
    assert np.argwhere(heads["induction"]).tolist() == [[0, 2]] and heads["previous"][0, 2]
    assert heads["duplicate"][1, 1] and heads["linguistic"][1, 1], "the head of antecedents finds equal tokens"
    assert behavior_labels(inducing)[0, 2] == "induction"
    row = frame(inducing).set_index("label").loc["1-3"]
    assert (row["behavior"], row["more_behaviors"]) == ("induction", "previous")


def test_without_inputs_that_repeat_nothing_no_head_is_an_induction_head(inducing):
    result = inducing["induction"]
    mean = result.mean.copy()
    mean[[index for index, name in enumerate(result.quantities) if name.endswith("_control")]] = np.nan
    assert not {"induction", "duplicate"} & {*behavior_heads(inducing | {"induction": replace(result, mean=mean)})}


def test_both_roles_of_a_head_are_on_map_and_card_in_its_sentence_and_among_named_heads(inducing):
    drawn = behavior_map(behavior_heads(inducing), columns(inducing), linguistic(inducing))
    assert [group.name for group in drawn.groups if "1-3" in group.heads] == ["previous token (3)", "induction (1)"]
    hover = drawn.hover[2]
    assert hover.startswith("1-3: induction, previous token; attention to the token after the first occurrence")
    assert "; attention to the previous token" in hover
    card = json.loads(encoded_cards(inducing))["cards"][2]
    assert card["behavior"] == "induction, previous token"
    assert (
        one_head(inducing, Head(0, 2)).does == "Head 1-3 is an induction head and attends mostly to the previous token."
    )
    assert head_roles(inducing)[Head(0, 2)] == "previous token, induction"
    held = {finding.id for finding in every_finding(inducing) if finding.state == "shown" and finding.id in roles()}
    assert "what followed the same token earlier (1)" in behaviors_finding(inducing).sentence
    assert "induction.duplicate" in held


def test_rows_say_value_rank_and_baseline():
    rows = head_rows(COLUMNS, Head(1, 0))
    assert rows[0] == {"quantity": "entropy, nats", "value": "4.200", "rank": "1 of 5", "baseline": ""}
    assert (rows[2]["value"], rows[2]["baseline"]) == ("42.0%", "40.0% (head match)")
    absent = head_rows(COLUMNS, Head(1, 2))[0]
    assert (absent["value"], absent["rank"]) == ("–", "–")


def test_a_relation_stands_beside_its_offset():
    others = np.zeros((12, 12))
    others[7, 9] = 0.868
    columns = relation_columns([Relation("dobj", DirectedHead(0, Head(7, 9)), 0.868, 0.4, -2, 1591, others)])
    row = {column.title: column.values[0] for column in columns}
    assert (row["found"], row["best offset"], row["rank"], row["words"]) == ("86.8%", "40.0% (-2)", "1 of 144", "1,591")


def test_a_model_is_described_in_a_line():
    demo, decoder = (describe_model(find_checkpoint(name)) for name in ("demo", "demo-decoder"))
    assert demo == ("Encoder (bert), 6 × 12 heads, 22.9 M weights", "Tokens see those after them, too.")
    assert decoder[0] == "Decoder (llama), 4 × 8 heads, 4.1 M weights"
    assert decoder[1] == "Each token sees only itself and those before it."
