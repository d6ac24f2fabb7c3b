"""Findings: each statement is shown where it should be, not where it should not, and says its numbers."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bertviz_core.analyses.base.averages import name_heads_over
from bertviz_core.analyses.base.findings import (
    ABSENT,
    DEMONSTRATION,
    NOT_SHOWN,
    SHOWN,
    STATES,
    UNDECIDED,
    Interval,
    column_finding,
    decide,
    decide_worth,
)
from bertviz_core.analyses.base.registry import ANALYSES, findings
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.sep_gradients.analysis import cards
from bertviz_core.analyses.surface_patterns.analysis import cards as patterns_cards
from bertviz_core.heads import counting_from
from bertviz_core.overview.summary import behaviors_finding

PAPER_TABLES = 20


def averages(analysis, error=0.005, units=20, causal=False, **values):
    """A result of document averages, all with one standard error."""
    arrays = np.array(list(values.values()), dtype=float)
    top = np.full((*arrays.shape, 1), -1)
    provenance = {"settings": {"mode": "corrected"}, "model": {"causal": causal}}
    more = {"sep_gradients": {"loss": 4.0, "right": 1, "predicted": 2}, "induction": {"length": 10}}.get(analysis, {})
    return ANALYSES[analysis].result_class(
        provenance,
        quantities=list(values),
        mean=arrays,
        error=np.full_like(arrays, error),
        top=top,
        top_values=top,
        segments=np.full(len(values), units),
        units=np.full(len(values), units),
        unit="documents",
        effective_units=np.full(len(values), float(units)),
        texts={},
        **more,
    )


def found(name, result):
    """The finding of one statement."""
    analysis = ANALYSES[name.partition(".")[0]]
    return next(finding for finding in analysis.findings(result) if finding.id == name)


@pytest.mark.parametrize(
    ("interval", "state"),
    [
        (Interval(0.6, 0.7), SHOWN),
        (Interval(0.4, 0.6), UNDECIDED),
        (Interval(0.3, 0.5), NOT_SHOWN),
        (Interval(np.nan, 1.0), UNDECIDED),
        (Interval(0.6, 0.7, False), UNDECIDED),
        (Interval(0.3, 0.4, False), UNDECIDED),
    ],
)
def test_one_function_decides(interval, state):
    assert decide(interval, 0.5) == state


@pytest.mark.parametrize(
    ("interval", "difference", "state"),
    [
        (Interval(0.01, 0.03), 0.02, NOT_SHOWN),  # not chance, but tiny
        (Interval(0.01, 0.19), 0.1, SHOWN),
        (Interval(-0.1, 0.4), 0.15, UNDECIDED),
        (Interval(-0.3, -0.1), -0.2, NOT_SHOWN),
        (Interval(np.nan, np.nan), np.nan, UNDECIDED),
    ],
)
def test_a_difference_is_shown_where_it_is_worth_the_name(interval, difference, state):
    assert decide_worth(interval, difference, 0.1) == state


def test_the_ledger_has_every_statement_once_with_its_rule():
    ledger = findings({})
    assert len({finding.id for finding in ledger}) == len(ledger)
    assert len({finding.statement for finding in ledger if finding.statement}) == PAPER_TABLES
    for finding in ledger:
        assert finding.state == STATES[-1] and finding.rule.endswith(".")
        assert not finding.statement or (finding.statement.endswith(".") and finding.section)
    assert [finding.section for finding in ledger] == sorted((f.section for f in ledger), key=lambda s: s or "beyond")


def test_neighbors_and_their_rule():
    result = averages("surface_patterns", previous=[[0.2, 0.9], [0.55, 0.1]], next=[[0.505, 0.1], [0.1, 0.2]])
    finding = found("surface_patterns.previous", result)
    assert finding.state == SHOWN and finding.head == (0, 1) and finding.quantity == "previous"
    assert finding.sentence == (
        "Head 1-2 puts 0.900 ± 0.010 of its attention on the previous token; 2 of 4 heads put more than 0.5 there."
    )
    with counting_from(0):
        assert "Head 0-1 puts" in found("surface_patterns.previous", result).sentence
    assert found("surface_patterns.next", result).state == UNDECIDED
    assert found("surface_patterns.current", result).state == ABSENT  # no input has it


@pytest.mark.parametrize(("units", "error", "state"), [(1, np.nan, UNDECIDED), (4, 0.01, UNDECIDED), (5, 0.01, SHOWN)])
def test_averages_over_fewer_than_five_units_decide_nothing(units, error, state):
    result = averages("surface_patterns", error, units, previous=[[0.2, 0.9]])
    finding = found("surface_patterns.previous", result)
    assert finding.state == state and ("too few document" in finding.sentence) == (units < 5)
    assert ("0.900 (too few documents to say) of its" in finding.sentence) == (units == 1)


def test_intervals_widen_with_the_number_of_heads():
    few = averages("surface_patterns", previous=[[0.52, 0.1]])
    many = averages("surface_patterns", previous=[[0.52] + [0.1] * 99])
    states = [found("surface_patterns.previous", result).state for result in (few, many)]
    assert states == [SHOWN, UNDECIDED]


def test_special_tokens_and_their_order():
    layers = {"to_cls": [0.9, 0.1, 0.1], "to_sep": [0.1, 0.6, 0.1], "to_punct": [0.1, 0.1, 0.3]}
    values = {name: [[value, value] for value in means] for name, means in layers.items()}
    result = averages("surface_patterns", **values)
    assert found("surface_patterns.to_sep", result).state == SHOWN
    assert found("surface_patterns.order", result).state == SHOWN
    turned = averages("surface_patterns", **values | {"to_sep": [values["to_sep"][i] for i in (1, 0, 2)]})
    assert found("surface_patterns.order", turned).state == NOT_SHOWN
    assert found("surface_patterns.order", averages("surface_patterns", error=1.0, **values)).state == UNDECIDED
    flat = averages("surface_patterns", error=0.0001, **values | {"to_punct": [[0.1, 0.1], [0.1, 0.1], [0.11, 0.11]]})
    finding = found("surface_patterns.order", flat)
    assert finding.state == NOT_SHOWN and "layer 3 (0.11)" in finding.sentence
    assert finding.sentence.endswith("No layer stands out by 10 points in attention to full stops and commas.")


def test_the_sink_is_the_token_that_receives_most_whichever_it_is():
    values = {"to_cls": [[0.9, 0.7], [0.1, 0.1]], "to_sep": [[0.1, 0.1], [0.6, 0.5]]}
    finding = found("surface_patterns.sink", averages("surface_patterns", **values))
    assert finding.state == SHOWN and finding.quantity == "to_cls" and finding.head == (0, 0)
    assert (
        "is [CLS]: 0.80 of the attention in layer 1" in finding.sentence
        and "more than 0.5 in layer 1." in finding.sentence
    )
    two = averages("surface_patterns", to_cls=[[0.9], [0.6]])
    assert found("surface_patterns.sink", two).sentence.endswith("more than 0.5 in layers 1, 2.")
    swapped = averages("surface_patterns", to_cls=values["to_sep"], to_sep=values["to_cls"])
    assert "is [SEP]: 0.80" in found("surface_patterns.sink", swapped).sentence
    decoder = found("surface_patterns.sink", averages("surface_patterns", to_first=[[0.7]], to_punct=[[0.1]]))
    assert "the special or first token that receives" in decoder.sentence and decoder.quantity == "to_first"
    assert "is the first token: 0.70" in decoder.sentence
    assert found("surface_patterns.sink", averages("surface_patterns", next=[[0.5]])).state == ABSENT


def test_a_no_op_has_a_small_gradient_where_attention_to_the_sink_is_high():
    def gradients(sep):
        values = averages(
            "sep_gradients",
            attention_to_sep=[[0.1, 0.1], [0.7, 0.5]],
            attention_to_cls=[[0.2, 0.2], [0.0, 0.0]],
            to_sep=sep,
            to_cls=[[1, 1], [1, 1]],
            to_other=[[1, 1], [5, 5]],
        )
        return values

    finding = found("sep_gradients.no_op", gradients([[9, 9], [0.4, 0.6]]))
    assert (
        finding.state == SHOWN
        and "0.10 times that to other tokens." in finding.sentence
        and "60% of its attention on [SEP] (masked text)" in finding.text
    )
    weaker = found("sep_gradients.no_op", gradients([[9, 9], [1.9, 2]]))
    assert weaker.state == NOT_SHOWN
    assert "0.39 times that to other tokens: weaker, but not below 0.2 times." in weaker.sentence
    assert found("sep_gradients.no_op", gradients([[0, 0], [5, 5]])).state == NOT_SHOWN
    zero = averages("sep_gradients", error=0.0, attention_to_cls=[[0.5]], to_cls=[[0]], to_other=[[0]])
    assert found("sep_gradients.no_op", zero).state == UNDECIDED
    few = averages("sep_gradients", attention_to_cls=[[0.02]], to_cls=[[0.01]], to_other=[[1]])
    finding = found("sep_gradients.no_op", few)
    assert finding.state == UNDECIDED and finding.sentence.endswith("less than 10% of its attention: there is no sink.")


def test_what_is_said_of_a_decoder_has_no_word_of_masks():
    values = {"attention_to_first": [[0.7]], "to_first": [[0.1]], "to_other": [[1]]}
    result = averages("sep_gradients", causal=True, **values)
    sentence = found("sep_gradients.no_op", result).sentence
    assert "70% of its attention on the first token, the most that a layer puts on a special or first token" in sentence
    patterns = averages("surface_patterns", causal=True, previous=[[0.6]], to_first=[[0.7]])
    texts = [*ANALYSES["surface_patterns"].key_numbers(patterns), *patterns_cards(patterns, 0.5), *cards(result)]
    assert len(texts) == 8 and "mask" not in str(texts)


def test_more_heads_than_are_named_are_counted():
    values = np.linspace(0.6, 0.9, 12).reshape(3, 4)
    names = "3-4, 3-3, 3-2, 3-1, 2-4, 2-3, 2-2, 2-1, 1-4, 1-3"
    assert name_heads_over(values, 0.5, "Over half") == f"Over half: {names} and 2 more."
    assert name_heads_over(values, 0.89, "Over 89%") == "Over 89%: 3-4."


def test_a_head_of_repeated_sequences_is_compared_with_sequences_that_repeat_nothing():
    found_in_both = {"duplicate": [[0.1, 0.2]], "duplicate_control": [[0.1, 0.2]]}
    result = averages(
        "induction", prefix=[[0.1, 0.9]], prefix_control=[[0.1, 0.1]], previous=[[0.8, 0]], **found_in_both
    )
    shown = {name: found(f"induction.{name}", result) for name in ("prefix", "duplicate", "previous")}
    assert [finding.state for finding in shown.values()] == [SHOWN, UNDECIDED, SHOWN]
    assert (shown["prefix"].head, shown["previous"].head) == ((0, 1), (0, 0))


def test_broad_heads_are_looked_for_in_the_first_third():
    def entropies(early, last):
        flat = [[1, 1], [1, 1], [1, 1]]
        entropy = [[1, 3], [1, 1], [4, 1]]
        weights = [[0.5, early], [0.5, 0.5], [0.01, 0.5]]
        from_cls = [[1, 1], [1, 1], [last, last]]
        return averages("entropy", entropy=entropy, max_weight=weights, from_cls=from_cls, uniform=flat)

    finding = found("entropy.broad", entropies(0.05, 2))
    assert finding.state == SHOWN and "head 1-2 has the highest entropy: 3.00 nats" in finding.sentence
    assert finding.sentence.endswith("Of all layers 3-1 has the highest.")
    assert "its largest weight per token is 5.0% ± 1.0% on average" in finding.sentence  # 0.005 x 2.093
    assert found("entropy.broad", entropies(0.5, 2)).state == NOT_SHOWN
    assert found("entropy.from_cls", entropies(0.5, 4)).state == SHOWN
    as_all = found("entropy.from_cls", entropies(0.5, 2))
    assert as_all.state == NOT_SHOWN, "from all tokens the last layer is as broad"
    assert "2.00 nats in the last layer, 1.33 on average over all layers; from all tokens" in as_all.sentence
    assert found("entropy.from_cls", entropies(0.5, 0.5)).state == NOT_SHOWN
    tiny = found("entropy.from_cls", entropies(0.5, 1.2))
    assert tiny.state == NOT_SHOWN and "There is a difference, but a tiny one: less than 0.5 nats." in tiny.sentence


def test_in_an_untrained_network_that_is_broad_everywhere_no_broad_head_is_shown():
    flat = [[4, 4.1], [4, 4]]
    result = averages("entropy", entropy=flat, max_weight=[[0.03, 0.03], [0.03, 0.03]], from_cls=flat, uniform=flat)
    finding = found("entropy.broad", result)
    assert (
        finding.state == NOT_SHOWN and "But the average head is as broad, as in an untrained network." in finding.text
    )


def test_a_difference_that_is_not_chance_but_tiny_is_not_shown():
    result = averages("induction", 0.0005, prefix=[[0.021, 0.0]], prefix_control=[[0.004, 0.0]])
    finding = found("induction.prefix", result)
    assert finding.state == NOT_SHOWN and finding.number == "2.1%"
    assert finding.sentence.endswith("There is a difference, but a tiny one: less than 10 points.")


def test_probes_differ_where_their_intervals_are_apart():
    frame = pd.DataFrame(
        {"probe": ["right-branching", "attention-only"], "score": [0.3, 0.5], "low": [0.28, 0.47], "high": [0.32, 0.53]}
    )
    about = {"units": {"test": 40}, "sentences": {"train": 2000}}
    result = SimpleNamespace(to_frame=frame.copy, weight=lambda: np.zeros((1, 1)), about=about, is_demonstration=False)
    result.default_view = lambda: result
    assert found("probes.attention_only", result).state == SHOWN  # 0.47 - 0.32 > 0.1
    result.about["units"]["test"] = 4
    assert found("probes.attention_only", result).state == UNDECIDED
    result.is_demonstration, result.about["sentences"] = True, {"train": 70}
    finding = found("probes.attention_only", result)
    assert finding.state == DEMONSTRATION and finding.number == "20.0 points"
    assert finding.sentence.endswith("Trained on 70 sentences, fewer than 1,000: a demonstration, not a finding.")
    frame.loc[1, "low"] = 0.41
    assert found("probes.words", result).state == ABSENT


def clusters(divergence, behaviors, summed=False):
    layers = np.indices(behaviors.shape)[0].reshape(-1)
    result = SimpleNamespace(
        divergence=divergence, behaviors=behaviors, layers=layers, summed=summed, read_units=(64, "documents")
    )
    result.default_view = lambda: result
    return result


def grouped(groups: int, size: int, within: float) -> np.ndarray:
    """Divergences between heads of groups, 5 between groups."""
    label = np.repeat(np.arange(groups), size)
    divergence = np.where(label[:, None] == label, within, 5.0)
    np.fill_diagonal(divergence, 0)
    return divergence


def test_clusters_are_decided_by_permutations_of_the_heads():
    behaviors = np.array([["next"] * 4, ["to_sep"] * 4, ["previous"] * 4])
    close = clusters(grouped(3, 4, 1.5), behaviors)
    assert found("clustering.layers", close).state == SHOWN
    finding = found("clustering.behaviors", close)
    assert finding.state == SHOWN and "1.5 nats" in finding.sentence and "by 5." in finding.sentence
    apart = clusters(grouped(3, 4, 9.0), behaviors)
    assert found("clustering.layers", apart).state == found("clustering.behaviors", apart).state == NOT_SHOWN
    few = clusters(grouped(2, 2, 1.5), behaviors[:2, :2])
    assert found("clustering.layers", few).state == UNDECIDED  # 4 heads have 3 partitions
    summed = clusters(grouped(3, 4, 1.5), behaviors, summed=True)
    assert all("1.5 nats in all" in found(f"clustering.{name}", summed).sentence for name in ("layers", "behaviors"))
    one = clusters(grouped(3, 4, 1.5), np.full((3, 4), "other"))
    assert found("clustering.behaviors", one).state == ABSENT


def counts(n, right, offset, mode="corrected"):
    """One relation of n words, of which the best of four heads finds `right` and the best offset `offset`; half in each
    fold."""
    correct = np.zeros((2, 2, 3, 1, 4), dtype=int)
    correct[:, 0, :, 0, 1] = right // 2
    provenance = {"settings": {"mode": mode}, "corpus": {"name": "x"}, "options": {"view": "function-heads"}}
    offsets = np.full((1, 3), offset)
    words = np.full((2, 3), n // 2)
    return RelationCounts(
        provenance, ["all", "UAS", "det"], words, correct, np.array([1]), offsets, unit_moments=np.stack([words, words])
    )  # each word is a unit


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_relations_are_decided_on_held_out_words_in_both_modes(mode):
    finding = found("dependency_heads.relation", counts(200, 180, 80, mode))
    assert finding.state == SHOWN and finding.head == (0, 1)
    assert "Head 1-2, dependent → governor, finds 90.0% of 200 det" in finding.sentence
    assert "90.0% held out" in finding.sentence and "+1, finds 40.0%" in finding.sentence
    lucky = counts(200, 180, 80, mode)
    lucky.correct[1] = np.roll(lucky.correct[1], 1, axis=-1)  # another head in each half: nothing is held out
    assert found("dependency_heads.relation", lucky).state == NOT_SHOWN
    assert found("dependency_heads.relation", counts(200, 110, 80, mode)).state == UNDECIDED


@pytest.mark.parametrize(
    ("statement", "counted", "state"),
    [
        ("relation", (4, 4, 0), UNDECIDED),  # too few words
        ("overall", (400, 380, 80), NOT_SHOWN),  # one head finds every governor
        ("overall", (400, 90, 80), SHOWN),
        ("direction", (200, 180, 80), UNDECIDED),  # which needs five relations above their offsets
    ],
)
def test_a_treebank_decides(statement, counted, state):
    finding = found(f"dependency_heads.{statement}", counts(*counted))
    assert finding.state == state
    assert ("Fewer than 20 words are too few to decide." in finding.sentence) == (counted[0] < 20)


def test_an_installed_analysis_without_statements_says_its_columns():
    result = averages("surface_patterns", to_punct=[[0.2, 0.9]])
    analysis = ANALYSES["surface_patterns"]
    finding = analysis.claim(result, analysis.view(quantity="to_punct"))
    assert finding.state == UNDECIDED
    assert finding.sentence == "Head 1-2 has the highest attention to full stops and commas: 0.900 ± 0.010."


@pytest.mark.parametrize(
    ("maximum", "best", "state"),
    [
        (1.0, 0.55, NOT_SHOWN),  # above 0.5 for sure, but by 5 points
        (1.0, 0.65, SHOWN),
        (None, 0.54, NOT_SHOWN),  # of no share: by 8% of the baseline
        (None, 0.57, SHOWN),  # by 14%
    ],
)
def test_a_column_is_above_its_baseline_by_what_one_can_see(maximum, best, state):
    column = ANALYSES["surface_patterns"].column("to_punct")
    column = replace(column, maximum=maximum, baseline=lambda result: (0.5, "uniform attention"))
    result = averages("surface_patterns", units=20, to_punct=[[0.2, best]])
    finding = column_finding("surface_patterns", column, result)
    assert finding.state == state
    assert ("tiny" in finding.sentence) == (state == NOT_SHOWN)


def test_patterns_of_heads_need_enough_units_too():
    values = {"previous": [[0.2, 0.9]], "next": [[0.6, 0.1]]}
    states = {
        units: behaviors_finding({"surface_patterns": averages("surface_patterns", units=units, **values)})
        for units in (4, 20)
    }
    assert states[4].state == UNDECIDED and states[20].state == SHOWN
    assert states[20].sentence.startswith("2 of 2 heads have a recognizable pattern: attention to the next token (1), ")
