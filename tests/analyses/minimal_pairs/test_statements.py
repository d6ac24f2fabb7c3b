"""A head that carries number is found, its controls are not, and nothing is claimed where there is nothing."""

from collections import Counter
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertForMaskedLM

import bertviz_core as bv
from bertviz_core.analyses.base.blocks import Claim
from bertviz_core.analyses.base.findings import NOT_SHOWN, SHOWN, UNDECIDED
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import choosing
from bertviz_core.analyses.minimal_pairs.figure import paper_figure
from bertviz_core.analyses.minimal_pairs.measure import PairsRun, finish
from bertviz_core.analyses.minimal_pairs.pair_blocks import phenomena_table
from bertviz_core.analyses.minimal_pairs.result import ALL, MinimalPairs
from bertviz_core.analyses.minimal_pairs.set_statements import set_answer, set_states
from bertviz_core.analyses.minimal_pairs.statements import controls, needed_finding, needed_states
from bertviz_core.analyses.minimal_pairs.view import MinimalPairsView
from bertviz_core.corpora.files import source_of
from bertviz_core.engine.progress import Progress
from bertviz_core.heads import Head
from bertviz_core.inputs.encoded_pairs import Pairs
from bertviz_core.models import checkpoint, loading
from bertviz_core.settings import Settings
from tests.analyses.test_untrained import drawn
from tests.support import planted, shipped
from tests.support.families import small_tokenizer

NOUNS = [("house", "houses"), ("book", "books"), ("ship", "ships"), ("river", "rivers"), ("song", "songs")]
FRAMES = ("we saw {} {} again", "people like {} {} very much", "she left {} {} behind")
NUMBER, OUTPUT = 70, 72  # dimensions of the embeddings that say the number, and of those that the head writes


def pairs() -> list[tuple[str, str, str]]:
    """Determiners with the right and the wrong noun; and nouns after "the", of which the singular is called right."""
    found = []
    for frame in FRAMES:
        for singular, plural in NOUNS:
            texts = (frame.format("this", singular), frame.format("this", plural))
            others = (frame.format("these", plural), frame.format("these", singular))
            found += [(*texts, "determiners"), (*others, "determiners")]
            found.append((frame.format("the", singular), frame.format("the", plural), "nothing"))
    return found


@pytest.fixture(scope="module")
def number_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 layers of 2 heads, of which 1-1 takes the number of the previous word to where a noun is predicted; without it
    the singular is somewhat likelier."""
    folder = planted.save(tmp_path_factory.mktemp("number"), {(0, 0): "previous"})
    model, tokenizer = BertForMaskedLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    layer, words = model.bert.encoder.layer[0], model.bert.embeddings.word_embeddings.weight
    with torch.no_grad():
        for word, sign in (("this", 4.0), ("these", -4.0)):
            words[tokenizer.convert_tokens_to_ids(word), NUMBER : NUMBER + 2] = torch.tensor([sign, -sign])
        for singular, plural in NOUNS:
            for word, at in ((singular, OUTPUT), (plural, OUTPUT + 1)):
                words[tokenizer.convert_tokens_to_ids(word), at] = 1.0
        layer.attention.self.value.weight[0, NUMBER] = 1.0
        layer.attention.output.dense.weight[OUTPUT, 0], layer.attention.output.dense.weight[OUTPUT + 1, 0] = 2.0, -2.0
        for singular, _ in NOUNS:
            model.cls.predictions.bias[tokenizer.convert_tokens_to_ids(singular)] = 0.5
        for at in (OUTPUT, OUTPUT + 1):
            model.cls.predictions.transform.dense.weight[at, at] = 1.0
        model.cls.predictions.transform.dense.bias[0] = 1.0  # so that rounding is not normalized to a preference
    model.save_pretrained(folder)
    return folder


def run_of(folder: Path, **options: str) -> tuple[PairsRun, Pairs, dict[str, Any]]:
    model = loading.load(checkpoint.find_checkpoint(str(folder)), "cpu", language_model=True)
    request = Request("minimal_pairs", model.checkpoint, source_of(pairs(), "pairs"), Settings(max_length=32), options)
    corpus = Pairs(request.source, model.tokens, request.settings)
    found = PairsRun(model, request)
    found.run(list(corpus), lambda *_: None, Progress(), None)
    return found, corpus, {"unit": "pairs", "model": {"causal": False}, "options": options}


@pytest.fixture(scope="module")
def run(number_folder: Path) -> tuple[PairsRun, Pairs, dict[str, Any]]:
    return run_of(number_folder)


@pytest.fixture(scope="module")
def result(run: tuple[PairsRun, Pairs, dict[str, Any]]) -> MinimalPairs:
    return finish(*run)


def test_a_planted_head_is_found_and_its_controls_are_not(result: MinimalPairs) -> None:
    states = needed_states(result)
    assert result.accuracy.tolist() == [1.0, 1.0]
    assert np.argwhere(states == SHOWN).tolist() == [[0, 0, 0]]
    assert result.changes[0, 0, 0, 0] == -0.5 and result.clearest() == "determiners"
    other = controls(result.changes[0, 0], Head(0, 0))
    assert other is not None and (other.mean, other.others) == (0, 1)
    finding = next(each for each in ANALYSES["minimal_pairs"].findings(result) if each.id == "minimal_pairs.needed")
    assert (finding.state, finding.head, finding.number) == (SHOWN, Head(0, 0), "-50.0 points")
    assert "in 50% of the pairs, with it in 100%" in finding.sentence and "backups" in finding.sentence
    assert "1 of 4 heads" in finding.sentence


def test_a_set_with_the_planted_head_is_needed_and_its_controls_are_not(number_folder: Path) -> None:
    found = finish(*run_of(number_folder, heads="1-1,2-2"))
    assert found.controls == [["1-2", "2-1"]] and (found.control_changes[:, 0] == 0).all()
    assert set_states(found).tolist() == [SHOWN, NOT_SHOWN] and found.clearest() == "determiners"
    assert found.set_changes[:, 0, 0].tolist() == pytest.approx([-0.5, 0, -1 / 3])
    finding = ANALYSES["minimal_pairs"].findings(found)[0]
    assert (finding.id, finding.state, finding.number) == ("minimal_pairs.set", SHOWN, "-50.0 points")
    assert finding.sentence.startswith(
        "Without 1-1 and 2-2 the model prefers the grammatical sentence in 50% of the pairs, with them in 100%; "
        "without 1 random set of the same layers 100% (determiners, 30 pairs: -50 ± "
    )
    determiners = found.of("determiners")
    claim, *others = (b for b in ANALYSES["minimal_pairs"].shown(choosing(determiners)) if isinstance(b, Claim))
    assert claim.first and claim.finding.state == SHOWN and "1-1 and 2-2" in claim.finding.claim and others


def test_a_set_without_it_is_not_needed(number_folder: Path) -> None:
    found = finish(*run_of(number_folder, heads="1-2,2-2"))
    assert set(set_states(found)) == {NOT_SHOWN} and found.head_set is not None
    assert set(set_states(replace(found, controls=[], control_changes=np.zeros((3, 2, 0))))) == {UNDECIDED}
    assert "with them in 100%" in set_answer(found, found.head_set).claim


def test_labels_that_are_shuffled_need_no_set(number_folder: Path) -> None:
    found, corpus, provenance = run_of(number_folder, heads="1-1,2-2")
    claims = 0
    for seed in range(20):
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], len(found.examples))
        shuffled = copy(found)
        shuffled.margins, shuffled.without = found.margins * signs, found.without * signs
        shuffled.without_sets = found.without_sets * signs
        claims += bool((set_states(finish(shuffled, corpus, provenance)) == SHOWN).any())
    assert claims <= 1


def test_the_pairs_that_turn_wrong_have_their_margins(result: MinimalPairs) -> None:
    flipped = result.of("determiners").flipped_pairs(Head(0, 0))
    assert len(flipped) == 5 and result.flip_count(Head(0, 0)) == 15
    assert all(pair.text["margin"] > 0 >= pair.without for pair in flipped)
    falls = [pair.without - pair.text["margin"] for pair in flipped]
    assert falls == sorted(falls) and result.flipped_pairs(Head(1, 1)) == []


def test_the_view_opens_where_the_accuracy_falls_most(result: MinimalPairs) -> None:
    view = MinimalPairsView()
    opening = view.show(result)
    resolved = view.resolve(opening)
    assert (resolved.phenomenon, resolved.head, resolved.quantity) == ("determiners", "1-1", "accuracy_change")
    everything = MinimalPairsView(phenomenon=ALL)
    assert everything.show(result)["accuracy_change"][0, 0] == pytest.approx(-1 / 3)
    with pytest.raises(bv.BertvizError, match="no phenomenon 'verbs'"):
        MinimalPairsView(phenomenon="verbs").choose(MinimalPairsView(phenomenon="verbs").show(result))


def test_a_phenomenon_of_too_few_pairs_is_not_the_first_that_is_shown(result: MinimalPairs) -> None:
    small = replace(result, units_of=np.where(np.array(result.phenomena) == "determiners", 4, result.units_of))
    assert result.clearest() == "determiners" != small.clearest()
    assert replace(result, units_of=np.full(len(result.phenomena), 4)).clearest() == "determiners"


def test_every_phenomenon_has_a_row_of_its_own_whatever_its_name(result: MinimalPairs) -> None:
    names = ["determiner_noun_agreement_with_adj_irregular_1", "determiner_noun_agreement_with_adj_irregular_2"]
    axis = paper_figure(replace(result, phenomena=names)).layout.yaxis
    assert axis.tickvals == tuple(names) and len(set(axis.ticktext)) == 2
    numbers = paper_figure(replace(result, phenomena=["10", "<b>x</b>"])).layout.yaxis
    assert (numbers.type, numbers.ticktext) == ("category", ("10", "&lt;b&gt;x&lt;/b&gt;"))


def test_a_phenomenon_with_the_name_of_all_is_itself(result: MinimalPairs) -> None:
    with_all = replace(result, phenomena=["determiners", ALL])
    of_all = MinimalPairsView(phenomenon=ALL).show(with_all)
    assert of_all.places == [1] and MinimalPairsView().offered(with_all)["phenomenon"] == ["determiners", ALL]


@pytest.mark.parametrize("effective_units", [1.1, np.nan])
def test_an_interval_that_says_nothing_is_not_written(result: MinimalPairs, effective_units: float) -> None:
    """As where one template has nearly all pairs, or all of them: ± 2049.7 points, of a change from -100 to 100."""
    few = replace(result, unit="templates", effective_units_of=np.full_like(result.units_of, effective_units, float))
    head = few.needed()
    row = phenomena_table(few, head).table.iloc[0]
    assert row["change"].endswith(" points (too few templates to say)")
    assert ("(too few templates to say)" in row["accuracy"]) == np.isnan(effective_units)
    sentence = needed_finding(few.of(few.phenomena[0]), head).sentence
    assert "points (too few templates to say); margin" in sentence and "nan" not in sentence


def test_files_have_the_numbers_by_phenomenon(result: MinimalPairs) -> None:
    arrays = result.arrays()
    assert result.summary()["phenomena"] == ["determiners", "nothing"] and arrays["accuracy"] == [1.0, 1.0]
    assert np.shape(arrays["accuracy_change"]) == np.shape(arrays["margin_change"]) == (2, 2, 2)
    assert result.tables()["changes"]["accuracy_change"].tolist() == result.changes[:, 0].ravel().tolist()


def test_specificity_is_the_change_against_the_other_phenomena(result: MinimalPairs) -> None:
    assert result.specificity(Head(0, 0)).tolist() == [-0.5, 0.5]


def test_four_pairs_decide_nothing(run: tuple[PairsRun, Pairs, dict[str, Any]]) -> None:
    found, corpus, provenance = run
    few = PairsRun(found.model, Request("minimal_pairs", found.model.checkpoint, corpus.source))
    few.examples, few.margins, few.without = found.examples[:4], found.margins[:, :4], found.without[..., :4]
    assert set(needed_states(finish(few, corpus, provenance)).ravel()) == {UNDECIDED}


def test_labels_that_are_shuffled_show_nothing(run: tuple[PairsRun, Pairs, dict[str, Any]]) -> None:
    """Which sentence is called grammatical is drawn for each pair: the model cannot prefer it."""
    found, corpus, provenance = run
    claims = 0
    for seed in range(20):
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], len(found.examples))
        shuffled = PairsRun(found.model, Request("minimal_pairs", found.model.checkpoint, corpus.source))
        shuffled.examples, shuffled.margins = found.examples, found.margins * signs
        shuffled.without = found.without * signs
        claims += bool((needed_states(finish(shuffled, corpus, provenance)) == SHOWN).any())
    assert claims <= 1


@pytest.mark.slow
def test_networks_that_know_nothing_need_no_head_and_no_set() -> None:
    tokenizer = small_tokenizer()
    claims = Counter[str]()
    for seed in range(8):
        model = drawn(tokenizer, seed, initializer=(0.02, 0.15)[seed % 2], causal=seed % 4 == 3)
        found = bv.analyze("minimal_pairs", model=(model, tokenizer), corpus=pairs()[::2], heads="1-1,2-2", store=False)
        claims.update(each.id for each in found.findings() if each.state == SHOWN)
    assert claims["minimal_pairs.needed"] <= 1 and claims["minimal_pairs.set"] <= 1


def test_a_head_is_not_needed_where_the_margin_alone_falls(result: MinimalPairs) -> None:
    changes = result.changes.copy()
    changes[0, 0] = 0
    assert set(needed_states(replace(result, changes=changes))[0].ravel()) == {NOT_SHOWN}


def test_what_the_model_prefers_is_said_from_the_lowest_share_to_the_highest():
    result = shipped.result("minimal_pairs")
    finding = next(each for each in ANALYSES["minimal_pairs"].findings(result) if each.id == "minimal_pairs.prefers")
    low, high = result.accuracy.min(), result.accuracy.max()
    assert f" in {low:.0%} (" in finding.sentence and f") to {high:.0%} (" in finding.sentence
    same = replace(result, accuracy=np.ones_like(result.accuracy))
    finding = next(each for each in ANALYSES["minimal_pairs"].findings(same) if each.id == "minimal_pairs.prefers")
    assert " in 100% (every phenomenon) of the pairs;" in finding.sentence
