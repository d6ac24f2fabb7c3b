"""One head: its facts are those of the definition, and all its forms say the same."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from math import isnan

import numpy as np
import pandas as pd
import pytest

from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow, WordList
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.behaviors import linguistic
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, all_heads, counting_from
from bertviz_core.one_head.clear_input import clear_input, clear_input_of, lines, window
from bertviz_core.one_head.description import APART, FACTS, FURTHEST, NOTHING, distinctive, of_model, one_head
from bertviz_core.one_head.drawing import figure_svg, lines_svg
from bertviz_core.one_head.files import to_frame, to_html, to_json, to_text
from bertviz_core.overview.head_columns import columns
from tests.oracles import one_head as oracle


def rows_apart(name: str, result: Result, head: Head) -> list[HeadRow]:
    """The numbers of an analysis that may set a head apart."""
    return [row for each in ANALYSES[name].of_head(result, head) for row in each.figure.apart]


def test_rows_are_placed_among_all_heads_as_defined(results):
    heads = all_heads(*columns(results)[0].values.shape)
    for head in heads[::7]:
        for name, result in results.items():
            for row in rows_apart(name, result, head):
                numbers = [float(row.others[each]) for each in heads]
                own = float(row.others[row.head])
                assert row.value == own
                assert row.score == pytest.approx(oracle.score(own, numbers), rel=1e-5), (name, row.name)
                assert row.band == pytest.approx([oracle.quantile(share, numbers) for share in (0.05, 0.95)])
                assert row.rank == oracle.rank(own, numbers)
                assert f"rank {row.rank} of " in row.sentence


def test_facts_are_chosen_by_effect_and_rank_one_of_each_analysis(results):
    for head in all_heads(*columns(results)[0].values.shape)[::5]:
        best = {}
        is_far = False
        for name, result in results.items():
            found = []
            for row in rows_apart(name, result, head):
                numbers = [number for number in row.others.reshape(-1).tolist() if not isnan(number)]
                below, above = sum(other < row.value for other in numbers), sum(other > row.value for other in numbers)
                if max(below, above) >= 0.75 * len(numbers) and not row.low <= row.median <= row.high:
                    found.append((row.is_worth, oracle.salience(row.value, numbers, row.limits)))
                    is_far |= row.is_worth and abs(oracle.score(row.value, numbers)) >= 3
            if found:
                best[name] = max(found)
        expected = sorted(best.values(), reverse=True)[:FACTS]
        facts = distinctive(results, head)
        assert [fact.row.salience[1] for fact in facts] == pytest.approx([salience for _, salience in expected])
        assert len({fact.analysis for fact in facts}) == len(facts)
        assert one_head(results, head).is_far == is_far


def test_a_head_begins_with_what_it_is_named_for_and_stored_inputs_that_show_it(results):
    """Of every named head: each example has only right guesses, and no number is among the facts twice."""
    for label, names in linguistic(results).items():
        shown = one_head(results, Head.parse(label))
        assert [role.name for _, role in shown.roles] == names.split(", ")
        assert shown.facts[0].row is shown.roles[0][1].row and shown.claim == shown.roles[0][1].finding.claim
        assert shown.examples and shown.fact_text(shown.facts[0].row) == f"rank {shown.facts[0].row.rank} of 72"
        assert clear_input_of(results, shown) is None
        for _, role, example in shown.examples:
            right, total = map(int, re.search(r"(\d+) of (\d+) (?:guesses )?right", example.title).groups())
            assert 0 < right == total and ET.fromstring(example.svg).tag.endswith("svg"), role.name
        rows = [(fact.analysis, fact.row.name) for fact in shown.facts]
        others = {
            (name, row.name) for name, each in (*shown.salient_figures, *shown.other_figures) for row in each.rows
        }
        assert len({*rows}) == len(rows) and not others & {*rows}


def test_a_behavior_is_claimed_with_its_number_and_drawn_where_it_is_clearest(results):
    shown = one_head(results, Head(4, 1))
    row = shown.facts[0].row
    assert shown.claim == f"Head 5-2 attends mostly to [CLS]: {row.text}, rank {row.rank} of 72."
    clear = clear_input_of(results, shown)
    assert clear is not None and clear.row.name == row.name == "attention to [CLS]"


def test_a_head_that_repeats_is_drawn_on_the_repetition(results, demo):
    shown = one_head(results, Head(2, 9))
    clear = clear_input_of(results, shown)
    queries, keys = clear.repetition
    tokens = clear.segment.tokens
    assert tokens[queries] == tokens[keys][:-1] and queries.start - keys.start == clear.length
    labels = [each.text for each in ET.fromstring(lines(demo, clear).svg).iter() if each.tag.endswith("}text")]
    assert len(labels) == len(tokens[queries]) + len(tokens[keys])


def test_figures_that_say_nothing_are_the_last(results):
    for head in (Head(0, 2), Head(3, 3), Head(1, 1)):
        shown = one_head(results, head)
        apart = [[row.salience for row in each.rows if row.is_apart] for _, each in shown.salient_figures]
        scores = [max(each, default=(False, 0)) for each in apart]
        assert scores == sorted(scores, reverse=True)
        assert not any(row.is_apart and row.is_far for _, each in shown.other_figures for row in each.rows)
        assert {name for name, _ in shown.salient_figures} | {name for name, _ in shown.other_figures} <= {*results}


def test_a_head_that_looks_far_because_it_looks_at_its_sink_is_not_set_apart_by_that(results):
    name = "mean distance in tokens"
    for head in all_heads(*columns(results)[0].values.shape)[::5]:
        row_names = [row.name for each in ANALYSES["reach"].of_head(results["reach"], head) for row in each.figure.rows]
        assert name in row_names and name not in {row.name for row in rows_apart("reach", results["reach"], head)}


def test_a_head_that_copies_the_previous_token_says_so(results):
    values = results["surface_patterns"]["previous"]
    head = Head(*np.unravel_index(values.argmax(), values.shape))
    shown = one_head(results, Head(int(head.layer), int(head.head)))
    assert shown.sentence.startswith(f"Head {shown.label} attends mostly to the previous token. What sets it apart: ")
    assert shown.claim.startswith(f"Head {shown.label} puts") and shown.finding not in shown.findings


def test_numbers_that_all_heads_share_set_nothing_apart():
    same = np.full((2, 3), 0.25)
    row = HeadRow("share", 0.25, "25%", same, "25%", Head(0, 1), (0.0, 1.0))
    assert (row.score, row.is_apart, row.rank) == (0.0, False, 1)
    assert row.sentence == "share 25% (median of all heads 25%, rank 1 of 6, the same in 5 others)"


def test_an_interval_with_the_median_sets_nothing_apart():
    others = np.array([[0.1, 0.2, 0.3, 0.9]])
    row = HeadRow("share", 0.9, "90%", others, "25%", Head(0, 3), (0.0, 1.0), 0.2, 1.0)
    assert not row.is_apart and replace(row, low=0.26).is_apart


def test_a_distance_that_one_cannot_see_sets_no_head_apart():
    """In a network that knows nothing: 0.02 beside 0.0155 to 0.0157 is many deviations from the median."""
    others = np.array([[0.0155, 0.0155, 0.0156, 0.0156, 0.0157, 0.02]])
    row = HeadRow("share", 0.02, "2%", others, "1.6%", Head(0, 5), (0.0, 1.0))
    assert row.is_apart and row.score > 20 and not row.is_far
    assert replace(row, limits=(0.0, 0.02)).is_far and not replace(row, limits=(0.0, 0.02), least=0.01).is_far


def test_a_number_in_the_midst_of_all_heads_sets_nothing_apart():
    """Nearly all are equal, so that the distance of 0.3 is 20 times the median distance; but 4 of 11 are lower."""
    others = np.array([[0.1, 0.2, 0.2, 0.25, 0.3, 0.98, 0.99, 0.99, 1.0, 1.0, 1.0]])
    row = HeadRow("share", 0.3, "30%", others, "98%", Head(0, 4), (0.0, 1.0))
    assert abs(row.score) > 20 and not row.is_apart
    assert replace(row, value=0.1, head=Head(0, 0)).is_apart


def test_a_head_that_the_model_lacks_is_refused(results):
    with pytest.raises(SettingsError, match="no head 99-1"):
        one_head(results, Head(98, 0))


def test_what_is_missing_is_named_and_labels_follow_the_base(results):
    few = {name: result for name, result in results.items() if name in ("entropy", "clustering")}
    with counting_from(0):
        shown = one_head(few, Head(2, 4), of_model(few))
    assert "Surface patterns" in shown.missing and "Entropy" not in shown.missing
    assert shown.sentence.startswith("Head 2-4 ")
    assert f"Not computed yet: {', '.join(shown.missing)}." in to_text(shown)


def test_an_encoder_does_not_miss_what_only_decoders_have(results):
    assert "Next token" not in one_head(results, Head(0, 0)).missing
    entropy = results["entropy"]
    decoder = entropy.provenance | {"model": entropy.provenance["model"] | {"causal": True}}
    assert "Next token" in one_head({"entropy": replace(entropy, provenance=decoder)}, Head(0, 0)).missing


def test_every_file_says_the_sentence_and_has_the_numbers(results):
    shown = one_head(results, Head(1, 1))
    text, page, whole = to_text(shown), to_html(shown, None), json.loads(to_json(shown))
    assert text.startswith(shown.sentence) and whole["sentence"] == shown.sentence
    assert shown.claim in page and [each["text"] for each in whole["examples"]] == [shown.examples[0][2].text]
    assert shown.examples[0][2].text in text and shown.examples[0][2].svg in page
    rows = [row for each in whole["figures"] for row in each["rows"]]
    table = to_frame(shown)
    assert [row["value"] for row in rows] == table["value"].tolist()
    for row in table["text"]:
        assert f"  {row}" in text
    assert len(page) < 200_000 and "<script" not in page and "://" not in page.replace("http://www.w3.org", "")
    low = pd.to_numeric(table["low"])
    assert ((low <= table["value"]) | low.isna()).all()


def test_drawings_are_xml_and_escape_what_they_show():
    others = np.array([[0.1, np.nan, 0.9]])
    row = HeadRow('<b>&"', 0.9, "<i>", others, "&", Head(0, 2), (0.0, 1.0), other=Head(0, 0))
    for svg in (figure_svg(HeadFigure("<x>", (row,))), lines_svg(["<s>", "\x00&"], np.eye(2), "<y>")):
        assert "<b>" not in svg and "<s>" not in svg
        assert ET.fromstring(svg).tag.endswith("svg")


def test_lists_of_words_are_whole_and_in_every_file(results):
    words = ("one", "<two>", "ثلاثة", *["word"] * 20)
    figure = HeadFigure("What it writes", lists=(WordList("&it", words),), sentence="By weights.")
    drawn = ET.fromstring(figure_svg(figure))
    texts = [text.text or "" for text in drawn.iter() if text.tag.endswith("}text")]
    assert texts[0] == "&it" and len(texts) > 2
    shown = [re.sub("[\u2068\u2069]", "", word) for line in texts[1:] for word in line.split(" · ")]
    assert tuple(shown) == words
    head = one_head(results, Head(0, 0))
    head = replace(head, figures=(*head.figures, ("weights", figure)))
    assert head.salient_figures[-1][1].lists == figure.lists
    listed = json.loads(to_json(head))["figures"][-1]["lists"]
    assert listed == [{"name": "&it", "words": [*words]}]
    assert "&amp;it" in to_html(head, None) and "  &it: one · <two>" in to_text(head)


def test_long_names_of_rows_are_whole_and_take_a_line_more():
    others = np.array([[0.1, 0.5, 0.9]])
    name = "attention to the first occurrence of the same token (duplicate token)"
    heights = []
    for each in ("entropy", name):
        row = HeadRow(each, 0.9, "0.00068 ± 0.00009", others, "0.5", Head(0, 2), (0.0, 1.0))
        svg = ET.fromstring(figure_svg(HeadFigure("x", (row,))))
        words = [text.text or "" for text in svg.iter() if text.tag.endswith("}text")]
        assert " ".join(words[:-1]) == each and words[-1] == row.text
        heights.append(float(svg.attrib["height"]))
    assert heights[1] > heights[0] + 10


def test_the_clearest_input_is_the_only_one_with_its_value(results):
    for head in (Head(4, 3), Head(1, 1), Head(5, 7)):
        clear = clear_input(results, head)
        assert clear is not None and " is a sink" not in clear.row.name


def test_the_small_figure_of_a_head_like_most_does_not_say_that_it_is_apart(results):
    shown = one_head(results, Head(3, 3))
    assert shown.role == NOTHING and not shown.is_far and shown.facts_figure.title == FURTHEST
    assert shown.apart.startswith("It is like most heads; furthest from the median of all heads: ")
    assert replace(shown, is_far=True).apart.startswith(f"{APART}: ")
    assert replace(shown, role="is best at dobj").apart.startswith(f"{FURTHEST}: ")


def test_lines_are_of_the_input_in_which_the_head_is_clearest(results, demo):
    values = results["surface_patterns"]["previous"]
    head = Head(*map(int, np.unravel_index(values.argmax(), values.shape)))
    clear = clear_input(results, head)
    drawn = lines(demo, clear)
    assert "attention to the previous token" in drawn.caption or clear.row.score > 2
    assert f"passage {clear.segment.number + 1}" in drawn.caption
    labels = [each.text for each in ET.fromstring(drawn.svg).iter() if each.tag.endswith("}text")]
    assert len(labels) == 2 * min(20, len(clear.segment.tokens))


def test_the_window_is_the_part_that_attends_most_to_itself():
    weights = np.random.default_rng(0).random((9, 9))
    sums = [sum(weights[i, j] for i in range(s, s + 4) for j in range(s, s + 4)) for s in range(6)]
    assert window(weights, 4) == sums.index(max(sums))
    assert window(weights, 20) == 0
