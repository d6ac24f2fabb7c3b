"""Statements: a sentence names each quantity of which it gives a number; networks that know nothing show nothing."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from bertviz_core.analyses.ablation.result import QUANTITIES as OF_ABLATION
from bertviz_core.analyses.ablation.result import Ablation
from bertviz_core.analyses.base.findings import DECIDED, Finding
from bertviz_core.analyses.base.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.entropy.result import QUANTITIES as OF_ENTROPY
from bertviz_core.analyses.induction.result import COLUMNS as OF_INDUCTION
from bertviz_core.analyses.next_token.result import QUANTITIES as OF_NEXT_TOKEN
from bertviz_core.analyses.reach.result import QUANTITIES as OF_REACH
from bertviz_core.analyses.sep_gradients.result import SepGradients
from bertviz_core.analyses.surface_patterns.result import QUANTITIES as OF_SURFACE
from tests.support import shipped

AVERAGES = {
    "surface_patterns": OF_SURFACE,
    "entropy": OF_ENTROPY,
    "reach": OF_REACH,
    "next_token": OF_NEXT_TOKEN,
    "induction": tuple(column.quantity for column in OF_INDUCTION),
}
# What a clause has to say of a number of each quantity. The control of one kind of attention may be another's.
WORDS = {
    "current": "on the token itself",
    "previous": "previous token",
    "next": "next token",
    "to_cls": "[CLS]",
    "to_sep": "[SEP]",
    "to_first": "first token",
    "to_punct": "full stops and commas",
    "sep_to_sep": "from [SEP] to [SEP]",
    "entropy": "entropy",
    "from_cls": "from [CLS]",
    "max_weight": "largest weight",
    "uniform": "uniform",
    "distance_ordinary": "between ordinary tokens",
    "uniform_ordinary": "uniform attention",
    "sink_cls": "[CLS] in",
    "sink_sep": "[SEP] in",
    "sink_first": "the first token in",
    "output": "output",
    "prefix": "to the token after the first occurrence",
    "duplicate": "to the first occurrence of the same token",
    "prefix_control": "to the same position where nothing is repeated",
    "duplicate_control": "to the same position where nothing is repeated",
    "loss_change": "Without head",
    "to_sink_loss_change": "Without the attention of head",
    "to_next_token": "to th",
    "next_token_logit": "the whole logit",
}
OTHER_WORDS = {("previous", "duplicate_control"): "to the token one sequence before where nothing is repeated"}
NO_VALUE = re.compile(r"\(95% interval [^)]*\)|± \S+|(more|less) than [\d.]+|by [\d.]+% or more|\d+% of the heads")
OF_HEADS = {"surface_patterns.current", "ablation.together"}  # Their numbers are how many heads do something.
OF_LOSSES = {"induction.copies"}


def of_averages(analysis: str) -> Result:
    """A result of 3 layers of 2 heads whose numbers all differ, also as rounded percentages."""
    names = AVERAGES[analysis]
    random = np.random.default_rng(5)
    mean = random.permutation(np.linspace(0.10, 0.99, 6 * len(names))).reshape(len(names), 3, 2)
    for uniform in {"uniform", "uniform_ordinary"} & {*names}:
        mean[names.index(uniform)] = mean[names.index(uniform), 0, 0]
    none, many = np.zeros((*mean.shape, 0)), np.full(len(names), 40)
    provenance = {"settings": {"mode": "corrected"}, "model": {"causal": False}}
    more: dict[str, object] = {}
    if analysis == "induction":
        more = {"length": 10, "copy_losses": np.array([[8.0], [4.0]]), "saving_error": 0.01}
    if analysis == "reach":
        fields = ("offsets", "offset_errors", "act_counts", "act_numbers", "act_values", "act_pairs")
        of_tokens = ("token_counts", "token_summed", "token_shares", "token_errors", "token_units")
        more = {"tokens": [], **dict.fromkeys((*fields, *of_tokens), none)}
    return ANALYSES[analysis].result_class(
        provenance,
        quantities=list(names),
        mean=mean,
        error=np.full_like(mean, 1e-4),
        segments=many,
        units=many,
        effective_units=many.astype(float),
        unit="documents",
        top=none.astype(int),
        top_values=none,
        texts={},
        **more,
    )


ALONE, WITH_INTERVAL = (".3f", ".2f", ".1%", ".0%", "+.3f"), (".5f", "+.5f", ".3%")  # of an error of 1e-4


def numbers_of(result: Result) -> dict[str, set[str]]:
    """The quantities of each number, as a sentence may write it: those of heads, of layers, and the mean of all."""
    texts: dict[str, set[str]] = {}
    for quantity in result.quantities:
        values = result[quantity]
        for value in (*values.flat, *values.mean(1), values.mean()):
            forms = (".1f",) if quantity == "uniform_ordinary" else ALONE + WITH_INTERVAL
            for form in forms:
                texts.setdefault(format(value, form), set()).add(quantity)
    return texts


def clauses(text: str) -> list[str]:
    return re.split(r"; |\. ", text)


def unnamed(text: str, statement: str, numbers: dict[str, set[str]]) -> Iterator[str]:
    """The numbers of a sentence whose clause names none of the quantities that have them."""
    for clause in clauses(NO_VALUE.sub("", text)):
        for number in re.findall(r"(?<![\d-])[+-]?\d+\.\d+%?|\d+%", clause):
            words = [
                OTHER_WORDS.get((statement, name), WORDS[name]) for name in numbers.get(number, ()) if name in WORDS
            ]
            if number in numbers and not any(each in clause for each in words):
                yield f"{number} of {numbers[number]} in {clause!r}"


def texts_of(finding: Finding) -> list[str]:
    return [text for text in (finding.sentence, finding.claim) if text]


@pytest.mark.parametrize("analysis", AVERAGES)
def test_a_sentence_names_each_quantity_of_which_it_gives_a_number(analysis):
    result = of_averages(analysis)
    numbers = numbers_of(result)
    for statement in ANALYSES[analysis].statements:
        finding = statement.finding(analysis, "", result)
        assert finding.state in DECIDED
        for text in texts_of(finding):
            assert not list(unnamed(text, statement.name, numbers)), text
            found = [each for each in re.findall(r"[+-]?\d+\.\d+%?|\d+%", text) if each in numbers]
            known = found or finding.id in OF_HEADS | OF_LOSSES
            assert known, f"{text!r} gives no number of a quantity that the test knows"


def test_a_sentence_of_a_loss_names_what_is_ablated_or_has_a_gradient():
    names = list(OF_ABLATION)
    mean = np.random.default_rng(1).permutation(np.linspace(0.10, 0.99, 6 * len(names))).reshape(len(names), 3, 2)
    none, many = np.zeros((*mean.shape, 0)), np.full(len(names), 40)
    words = (np.zeros((3, 2, 0)), np.zeros((3, 2, 0)), np.zeros((3, 2, 0, 3)), np.zeros((3, 2, 0, 2)), {}, {})
    provenance = {"model": {"causal": False}}
    group = {"name": "to_sep", "heads": ["1-1", "1-2"], "loss_change": 1.37, "interval": 0.2}
    averages = (
        provenance,
        names,
        mean,
        np.full_like(mean, 1e-4),
        many,
        many,
        many.astype(float),
        "documents",
        none,
        none,
        {},
    )
    result = Ablation(*averages, 2.53, 3, 12, "sep", [group], np.array([0, 3, 6]), np.array([2.53, 2.4, 7.0]), *words)
    numbers = numbers_of(result)
    for statement in ANALYSES["ablation"].statements:
        text = statement.finding("ablation", "", result).sentence
        assert not list(unnamed(text, statement.name, numbers)), text
    sentence = ANALYSES["ablation"].statements[1].finding("ablation", "", result).sentence
    assert "the masked-word loss of 2.53 nats" in sentence
    assert "2 heads that attend mostly to [SEP] change it by +1.37 ± 0.20 nats" in sentence

    values = {"attention_to_sep": 0.61, "to_sep": 0.31, "to_other": 2.0}
    mean = np.array([[[value]] for value in values.values()])
    none, many = np.zeros((*mean.shape, 0)), np.full(len(values), 40)
    gradients = SepGradients(
        provenance,
        list(values),
        mean,
        mean * 1e-3,
        many,
        many,
        many.astype(float),
        "documents",
        none,
        none,
        {},
        4.0,
        1,
        2,
    )
    text = ANALYSES["sep_gradients"].statements[0].finding("sep_gradients", "", gradients).sentence
    assert (
        "puts 61% of its attention on [SEP]" in text and "the gradient there is 0.15 times that to other tokens" in text
    )


def test_a_sentence_of_shares_or_scores_names_whose_each_is():
    """Of the results that ship, whose statements name heads, baselines and probes."""
    pattern = {
        "coreference_heads.simple_baselines": (r"nearest \d", r"head match \d", r"chance \d|random candidate \d"),
        "dependency_heads.relation": (r"offset, [+-]\d+, finds \d", r"held out"),
        "dependency_heads.overall": (r"offset, [+-]\d+, finds \d", r"held out"),
        "probes.attention_only": (r"“attention only” finds \d", r"“right branching” \d"),
        "minimal_pairs.needed": (
            r"in \d+% of the pairs, with it in \d",
            r"other heads of its layer \d",
            r"margin [+-]\d",
        ),
        "minimal_pairs.prefers": (r"in \d+% \(.*\) to \d+% \(",),
        "clustering.layers": (r"of one layer differ by \d", r"of different layers by \d"),
        "clustering.behaviors": (r"with the same behavior differ by \d", r"with different behaviors by \d"),
    }
    texts = {
        each.id: each.sentence
        for name in ("coreference_heads", "dependency_heads", "probes", "clustering", "minimal_pairs")
        for each in ANALYSES[name].findings(shipped.result(name))
    }
    for name, patterns in pattern.items():
        for each in patterns:
            assert re.search(each, texts[name]), (name, each, texts.get(name))


def test_every_analysis_with_statements_is_tested_here():
    others = {"ablation", "sep_gradients", "coreference_heads", "dependency_heads", "probes", "clustering"}
    others |= {"minimal_pairs"}
    assert {name for name in BUILT_IN if ANALYSES[name].statements} == {*AVERAGES, *others}


def test_the_sentence_of_the_sink_says_that_its_number_is_a_share_of_attention():
    result = of_averages("surface_patterns")
    (statement,) = (each for each in ANALYSES["surface_patterns"].statements if each.name == "sink")
    sentence = statement.finding("surface_patterns", "", result).sentence
    highest = max(result[name].mean(1).max() for name in ("to_cls", "to_sep"))
    assert f": {highest:.2f} of the attention in layer " in sentence
