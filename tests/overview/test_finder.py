"""Heads by an expression: it finds what Python's own comparison of the numbers finds, and says what it cannot read."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bertviz_core.errors import SettingsError
from bertviz_core.heads import counting_from
from bertviz_core.overview.finder import MAX_CHARACTERS, MAX_DEPTH, find_rows, simplified
from bertviz_core.overview.head_columns import frame
from bertviz_core.overview.scatter import scatter
from bertviz_core.overview.vocabulary import find, searched_numbers, vocabulary

TABLE = pd.DataFrame(
    {
        "layer": [1, 1, 2, 2],
        "previous": [0.9, 0.2, 0.5, np.nan],
        "loss_change": [0.02, -0.01, 0.3, 0.5],
        "behavior": ["previous", "other", "other", "other"],
    }
)
NAMES = {simplified(name): name for name in ("layer", "previous", "loss_change")}


def rows(text):
    return find_rows(TABLE, text, NAMES).tolist()


CASES = {
    "": lambda r: True,
    "previous > 0.5": lambda r: r.previous > 0.5,
    "previous >= 50%": lambda r: r.previous >= 0.5,
    "loss change < -.005": lambda r: r.loss_change < -0.005,
    "Loss_Change>1e-1 AND layer=2": lambda r: r.loss_change > 0.1 and r.layer == 2,
    "previous > .8 or loss change > .1 and layer != 1": lambda r: (
        r.previous > 0.8 or (r.loss_change > 0.1 and r.layer != 1)
    ),
    "(previous > .8 or loss change > .1) and layer != 2": lambda r: (
        (r.previous > 0.8 or r.loss_change > 0.1) and r.layer != 2
    ),
    "not previous > 0.3": lambda r: not r.previous > 0.3,
    "not not (0.3 < previous)": lambda r: r.previous > 0.3,
    "previous <= loss change": lambda r: r.previous <= r.loss_change,
    "0.2 < previous < 0.9": lambda r: 0.2 < r.previous < 0.9,
    "1 ≤ layer < 2 ≤ 3": lambda r: r.layer < 2,
    "previous ≥ 50 % or loss_change ≠ .02": lambda r: r.previous >= 0.5 or r.loss_change != 0.02,
    "[previous] > 0.5": lambda r: r.previous > 0.5,
}


@pytest.mark.parametrize("text", CASES)
def test_it_finds_what_the_words_say(text):
    expected = []
    for row in TABLE.itertuples():
        lacks = "previous" in text and math.isnan(row.previous)  # a number that is not there satisfies nothing
        expected.append(not lacks and bool(CASES[text](row)))
    assert rows(text) == expected


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("prevous > 1", "There is no column 'prevous'; is 'previous' meant? (at character 1)."),
        ("previous > 0.5 and", "Instead of 'the end' a number or the name of a column is expected (at character 19)."),
        ("(previous > 1", "This parenthesis is not closed (at character 1)."),
        ("previous $ 2", "'$' cannot be read (at character 10)."),
        ("previous 2", "Instead of '2' one of < <= > >= = == != is expected (at character 10)."),
        ("loss 2 > 1", "There is no column 'loss 2' (at character 1)."),
        ("previous > 0.5 layer", "'layer' is not expected (at character 16)."),
        ("previous", "Instead of 'the end' one of < <= > >= = == != is expected (at character 9)."),
        ("0.2 < previous <", "Instead of 'the end' a number or the name of a column is expected (at character 17)."),
        ("[FOO] > 1", "There is no column '[FOO]' (at character 1)."),
        ("behavior > 1", "There is no column 'behavior' (at character 1)."),
        ("__import__('os').system('x')", '"\'" cannot be read (at character 12).'),
        ("(" * (MAX_DEPTH + 1), f"More than {MAX_DEPTH} parentheses are inside each other (at character 21)."),
        ("1" * (MAX_CHARACTERS + 1), f"An expression has at most {MAX_CHARACTERS} characters."),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(text, what):
    with pytest.raises(SettingsError) as refused:
        rows(text)
    assert refused.value.what == what


def test_any_text_is_read_or_refused():
    random = np.random.default_rng(0)
    parts = [
        "previous",
        "layer",
        "and",
        "or",
        "not",
        "(",
        ")",
        "<",
        ">=",
        "=",
        "0.5",
        "3%",
        "-",
        "é",
        "'",
        "\n",
        "1e999",
    ]
    for _ in range(2000):
        text = " ".join(random.choice(parts, random.integers(1, 9)))
        try:
            assert len(rows(text)) == len(TABLE)
        except SettingsError as problem:
            assert "character" in problem.what


def test_numbers_of_results_have_names_titles_and_the_readers_count(results):
    table = frame(results)
    for text in ("previous > 0.2", "attention to the previous token > 20%"):
        assert find(results, text)["label"].tolist() == table[table["previous"] > 0.2]["label"].tolist()
    changed = table[table["ablation_loss_change"] > 0.02]["label"].tolist()
    assert find(results, "loss change > 0.02")["label"].tolist() == changed
    with counting_from(0):
        assert find(results, "[CLS] > 60%")["label"].tolist() == table[table["to_cls"] > 0.6]["label"].tolist()
        from_zero = find(results, "layer = 0")
    assert from_zero["label"].tolist() == table[table["layer"] == 1]["label"].tolist()


def labels(table, values, least):
    """The labels of a table's heads whose value is above `least`."""
    return [label for label, value in zip(table["label"], np.asarray(values).reshape(-1), strict=True) if value > least]


def test_it_knows_the_names_that_pages_show(results):
    table = frame(results)
    shown = {
        "attention to [SEP]": table["to_sep"],
        "[CLS]": table["to_cls"],
        "previous token": table["previous"],
        "full stops and commas": table["to_punct"],
        "Coreference": table["coreference_all"],
        "antecedents found": table["coreference_all"],
        "induction": table["induction_prefix"],
        "prefix matching": table["induction_prefix"],
        "attention to the token after the first occurrence (prefix matching)": table["induction_prefix"],
        "duplicate": table["induction_duplicate"],
        "duplicate token": table["induction_duplicate"],
        "all governors found by this head (UAS)": table["UAS"],
        "attention × gradient to [SEP]": table["gradient_to_sep_times_attention"],
        "loss change, head removed": table["ablation_loss_change"],
        "ablation": table["ablation_loss_change"],
        "minimal pairs": table["minimal_pairs_accuracy_change"],
        "antecedents": table["coreference_all"],
        "previous token heads": table["previous"],
    }
    for name, values in shown.items():
        least = float(values.median())
        found = find(results, f"(not layer < 1) and ({name} > {least!r})")["label"].tolist()
        assert found == labels(table, values, least) != [], name


@pytest.mark.parametrize(
    ("own", "name"), [("obj", "dobj"), ("compound", "nn"), ("nmod:poss", "poss"), ("aux:pass", "auxpass")]
)
def test_a_relation_is_found_by_the_label_of_the_treebank_too(results, own, name):
    expected = find(results, f"{name} > 0.3")
    assert len(expected) and find(results, f"{own} > 0.3").equals(expected)


def test_a_label_that_another_name_has_is_not_taken_from_it(results):
    """Where a treebank has rows of both labels, each finds its own."""
    result = results["dependency_heads"]
    relations = ["obj" if name == "det" else name for name in result.relations]
    both = results | {"dependency_heads": replace(result, relations=relations)}
    assert find(both, "obj > 0.3")["label"].tolist() == find(results, "det > 0.3")["label"].tolist()
    assert find(both, "dobj > 0.3")["label"].tolist() == find(results, "dobj > 0.3")["label"].tolist()


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("nsubj", "nsubj > 30 %"),
        ("obj", "obj > 30 %"),
        ("entropy", "entropy > 2"),
        ("Layer", "layer > 2"),
        ("[SEP]", "[SEP] > 30 %"),
        ("2", "entropy > 2"),
        ("0", "entropy > 0.5"),
        ("1e5", "entropy < 1e5"),
        ("not", "not entropy > 2"),
    ],
)
def test_a_phenomenon_with_a_name_that_is_taken_is_found_by_its_title(results, name, other):
    pairs = results["minimal_pairs"]
    plain = results | {"minimal_pairs": replace(pairs, phenomena=["verb", "noun", *pairs.phenomena[2:]])}
    named = results | {"minimal_pairs": replace(pairs, phenomena=[name, "noun", *pairs.phenomena[2:]])}
    assert find(named, other)["label"].tolist() == find(plain, other)["label"].tolist()
    expected = find(plain, "verb < -3")
    assert len(expected) and find(named, f"minimal pairs {name} < -3")["label"].tolist() == expected["label"].tolist()


def test_phenomena_that_are_written_alike_or_as_columns_of_text_have_names_of_their_own(results):
    pairs = results["minimal_pairs"]
    phenomena = ["a b", "a_b", "a-b", "self", "behavior", *pairs.phenomena[5:]]
    named = results | {"minimal_pairs": replace(pairs, phenomena=phenomena)}
    names = ["a b", "minimal pairs a b", "minimal pairs minimal pairs a b", "self", "behavior"]
    for place, name in enumerate(names):
        expected = labels(frame(results), -pairs.changes[place, 0], 0.03)
        assert find(named, f"{name} < -3")["label"].tolist() == expected, name


def test_relations_and_types_of_mentions_can_be_asked(results):
    table = frame(results)
    counts = results["dependency_heads"].default_view()
    for relation in ("dobj", "nsubj", "auxpass"):
        row = counts.relations.index(relation)
        right = counts.correct.sum(0)[:, row].max(0) / counts.n.sum(0)[row]
        assert find(results, f"{relation} > 30 %")["label"].tolist() == labels(table, right, 0.3), relation
    mentions = results["coreference_heads"].default_view()
    pronouns = mentions.accuracy[0, 1]
    assert find(results, "antecedents of pronouns > 0.4")["label"].tolist() == labels(table, pronouns, 0.4) != []


def test_every_listed_name_is_found(results):
    table = frame(results)
    listed, known = [*table.select_dtypes("number"), *searched_numbers(table, results)], vocabulary(results)
    assert {"dobj", "nsubj", "to_sep", "UAS"} <= {*listed}
    for name in listed:
        assert len(known.find(f"{name} > -1e9")) + len(known.find(f"not {name} > -1e9")) > 0, name


def test_the_words_of_the_map_name_what_its_heads_are_best_at(results):
    assert find(results, "objects > 0.3")["label"].tolist() == find(results, "dobj > 0.3")["label"].tolist() != []


def test_every_completion_is_read_and_finds_all_heads_between_its_ends(results):
    known = vocabulary(results)
    numbers = frame(results).select_dtypes("number")
    assert len(known.terms) == len(numbers.columns) + len(searched_numbers(frame(results), results))
    for term, completion in zip(known.terms, known.completions(), strict=True):
        low, high = completion["range"].split(" to ")
        shorter = abs(float(high) - float(low)) / 100 + 1e-12  # the ends are rounded
        values = known.table[term.column].to_numpy(dtype=float)
        found = known.find(f"{float(low) - shorter} <= {term.name} <= {float(high) + shorter}")
        assert len(found) == np.isfinite(values).sum() > 0, term
        assert simplified(term.name) in completion["words"].split(" | ")
    assert len({simplified(term.name) for term in known.terms}) == len(known.terms)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("layer = 2", "12 of 72 heads"),
        ("layer = 2 and dob", "12 of 72 heads so far"),
        ("layer = 2 or layer = 3 and pre", "24 of 72 heads so far"),
        ("lay", ""),
        ("(layer = 2 or", ""),
        ("layer = 2" + " or layer = 2" * 400, "12 of 72 heads so far"),
        ("and and", ""),
    ],
)
def test_an_unfinished_expression_counts_what_can_be_read_of_it(results, text, said):
    assert vocabulary(results).count(text) == said


def test_axes_are_the_readers_then_those_of_the_expression(results):
    known = vocabulary(results)

    def names(chosen, expression):
        return [term.name for term in known.axes(chosen, expression)]

    nothing = (None, None, None)
    first, second, color = names(nothing, "")
    assert (first, color) == (known.terms[0].name, "layer") and second not in (first, color)
    assert names(nothing, "obj > 0.5 and not 2 < entropy or (det > 1)") == ["dobj", "entropy", "layer"]
    assert names(("det", None, "head"), "obj > 0.5") == ["det", first, "head"]
    assert names((None, "dobj", "nonsense"), "obj > 0.5") == [first, "dobj", "layer"]


def test_a_dot_stands_at_the_two_numbers_of_its_head(results):
    known = vocabulary(results)
    across, up, color = (known.term(name) for name in ("dobj", "induction", "layer"))
    found = {*known.find("dobj > 0.3")["label"]}
    others, those = scatter(known, (across, up, color), found).data
    assert {head for head, _ in those.customdata} == found
    assert len(others.x) + len(those.x) == 72 and others.marker.opacity < 1
    for trace in (others, those):
        for (key, hover), *point in zip(trace.customdata, trace.x, trace.y, trace.marker.color, strict=True):
            row = known.table[known.table["label"] == key].iloc[0]
            assert point == [row["dobj"], row["induction_prefix"], row["layer"]]
            assert hover.startswith(f"{key}: dobj ")
