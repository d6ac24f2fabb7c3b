"""Coreference heads: a planted head is found, the counts equal the oracle's, baselines equal those done by hand."""

import numpy as np
import pytest
import torch

from bertviz_core.analyses.base.findings import UNDECIDED
from bertviz_core.analyses.coreference_heads.antecedents import interval_by_document
from bertviz_core.analyses.coreference_heads.baselines import BASELINES, CHANCE, RANDOM, baselines_right
from bertviz_core.analyses.coreference_heads.groups import BIN_NAMES, TYPE_ROW_COUNT, TYPE_ROWS, by_row
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, DIRECTIONS, earlier_antecedents
from bertviz_core.analyses.coreference_heads.measure import AntecedentSums, finish
from bertviz_core.analyses.coreference_heads.passages import first_guesses
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads
from bertviz_core.analyses.coreference_heads.statements import type_finding
from bertviz_core.corpora.coreference.mentions import TYPES
from bertviz_core.corpora.files import FOLDER
from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.engine import forward_pass
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import SettingsError
from bertviz_core.heads import DirectedHead, Head, highest
from bertviz_core.inputs.annotated_words import Windows
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.attention import LayerAttention
from bertviz_core.settings import Settings
from tests.inputs.test_annotated_words import plain
from tests.oracles import comparison, uncertainty
from tests.oracles import coreference as oracle
from tests.support import predicting
from tests.support.bracketed import conll

# By hand: right guesses of nearest, head match (without and with the nearest in its stead) and rule-based, and items.
TEN = [
    # She: John is nearest, and nothing says his gender. He: "She" disagrees, John does not. her: "He" disagrees.
    ("[1 Mary ] saw [2 John ] . / [1 She ] waved . / [2 He ] smiled at [1 her ] .", (0, 0, 0, 2), 3),
    ("[1 The cat ] slept . / [2 A dog ] barked . / [1 The cat ] woke .", (0, 1, 1, 1), 1),
    # No mention before has the head "She": head match guesses none, which is wrong.
    ("[1 Anna ] sang . / [1 She ] smiled .", (1, 0, 1, 1), 1),
    ("[1 Two boys ] ran . / [2 A man ] watched . / [1 They ] laughed .", (0, 0, 0, 1), 1),
    ("[1 The king ] met [2 the queen ] . / [1 He ] bowed . / [2 She ] smiled .", (0, 0, 0, 2), 2),
    ("[1 I ] saw [2 Tom ] . / [1 I ] waved .", (0, 1, 1, 1), 1),
    # The nearest house is the new one; only the whole string tells them apart.
    ("[1 The old house ] burned . / [2 The new house ] stood . / [1 The old house ] fell .", (0, 0, 0, 1), 1),
    # It: Anna's gender is not known from her name, so she agrees, and she is nearest.
    ("[1 The house of [2 Anna ] ] burned . / [1 It ] fell .", (0, 0, 0, 0), 1),
    ("[1 We ] left . / [2 The girls ] stayed . / [1 We ] sang and [2 they ] listened .", (0, 1, 1, 2), 2),
    ("[1 Mr. Brown ] met [2 Mrs. Brown ] . / [1 He ] left .", (0, 0, 0, 1), 1),
]
SAMPLE = FOLDER / "coreference.conllu"


def by_type(counts: np.ndarray) -> np.ndarray:
    """(..., group) to (..., type, fold)."""
    return by_row(counts)[..., :TYPE_ROW_COUNT].reshape(*counts.shape[:-1], len(TYPE_ROWS), 2)


@pytest.fixture
def tokens(demo) -> Tokens:
    return demo.tokens


def windows(tokens: Tokens, *documents: str, tags: dict[str, str] | None = None, **settings) -> Windows:
    return Windows(from_bytes(conll(*documents, tags=tags).encode(), "given"), tokens, Settings(**settings))


def analyze(given: Windows, attend, layers: int = 1, heads: int = 2, batch: int = 3) -> CoreferenceHeads:
    """The result where `attend(window)` gives the maps (layer, head, query, key) of each window."""
    total = AntecedentSums(layers, heads, "cpu", given.settings.paper)
    examples = list(given)
    for start in range(0, len(examples), batch):
        group = examples[start : start + batch]
        part, collated = total.new_empty(), collate(group, given.tokens, "cpu")
        width = collated.ids.shape[1]
        maps = np.zeros((layers, len(group), heads, width, width), dtype=np.float32)
        for row, window in enumerate(group):
            maps[:, row, :, : len(window), : len(window)] = attend(window)
        for layer in range(layers):
            part.update(collated, LayerAttention(layer, torch.from_numpy(maps[layer]), None, False))
        total.merge(part)
    return finish(total, given, {"options": {}, "model": {"causal": False}})


def uniform(window) -> np.ndarray:
    """(layer, head, query, key): every token attends to all alike."""
    return np.full((1, 2, len(window), len(window)), 1 / len(window))


def planted(window) -> np.ndarray:
    """Head 2 points from each mention's first piece to its first antecedent with most of its weight; head 1 nowhere."""
    maps = uniform(window)
    owners = window.words.tolist()
    for item in window.items:
        source = owners.index(window.heads[item.mention] - window.span[0])
        target = owners.index(window.heads[item.antecedents[0]] - window.span[0])
        maps[0, 1, source] = 0.1 / len(owners)
        maps[0, 1, source, target] += 0.9
    return maps


def backwards(window) -> np.ndarray:
    """Head 1 points from each first antecedent to its mention; head 2 from the mention to its antecedent for "he", and
    for others to another."""
    maps = uniform(window)
    owners = window.words.tolist()
    for item in window.items:
        mention = owners.index(window.heads[item.mention] - window.span[0])
        antecedent = owners.index(window.heads[item.antecedents[0]] - window.span[0])
        wrong = next(c for c in item.candidates if c not in item.antecedents)
        other = owners.index(window.heads[wrong] - window.span[0])
        is_he = window.document.words[window.heads[item.mention]] == "he"
        maps[0, 0, antecedent, mention] += 0.9
        maps[0, 1, mention, antecedent if is_he else other] += 0.9
    return maps


def test_best_heads_are_read_from_the_mention_to_its_antecedent(tokens):
    """Head 1 is always right, but in the direction that the paper does not measure: head 2 is Table 2's."""
    # All equal, head 1's row guesses the first candidate: "one" for "he" and for "him", where "a man" is right.
    text = "[2 one ] saw [1 a man ] . / [1 he ] sat by [1 him ] ."
    result = analyze(windows(tokens, *[text] * 4), backwards).default_view()
    assert result.accuracy[0, 0].tolist() == [[0, 0.5]] and result.accuracy[1, 0, 0, 0] == 1
    assert [result.best(), result.best(direction=1)] == [DirectedHead(0, Head(0, 1)), DirectedHead(1, Head(0, 0))]
    frame = result.to_frame().set_index(["system", "type"])
    assert frame.index.is_unique
    ours, other = (frame.loc[(name, "all")] for name in ("head 1-2", "head 1-1, antecedent->mention"))
    assert (ours["direction"], other["direction"]) == DIRECTIONS
    assert ours["accuracy"] == ours["heldout_accuracy"] == result.accuracy[0, 0, 0, 1]
    assert other["accuracy"] == other["heldout_accuracy"] == 1.0
    for (system, kind), row in frame.iterrows():
        if row["direction"] and row["n"]:
            label = system.removeprefix("head ").partition(",")[0]
            is_best = label == result.best(kind, DIRECTIONS.index(row["direction"])).head.key()
            assert np.isnan(row["heldout_accuracy"]) or is_best, "another head's held-out accuracy is not in its row"
            assert np.isnan(row["heldout_accuracy"]) or row["heldout_accuracy"] <= row["accuracy"]
    assert list(frame.index.get_level_values("system"))[-1] == other.name[0]


def test_every_window_gives_its_own_guesses(tokens):
    """What is kept for people agrees with what is counted, whatever the batches."""
    one, many = (analyze(Windows(from_path(SAMPLE), tokens, Settings()), planted, batch=size) for size in (1, 7))
    np.testing.assert_array_equal(one.correct, many.correct)
    np.testing.assert_array_equal(one.guess, many.guess)
    np.testing.assert_array_equal(one.group_n, many.group_n)
    right, shown = 0, many.default_view()
    for column, (document, mention) in enumerate(many.items[:, :2]):
        mentions = many.first_documents[document]["mentions"]
        right += mentions[mention][2] == mentions[many.guess[1, 0, 1, column]][2]
    assert right == round(shown.accuracy[1, 0, 0, 1] * shown.n[0]) and len(many.items) == shown.n[0]


def test_worked_example(tokens):
    """A mention that has an antecedent is an item; a head is right where its guess, the preceding mention to whose head
    word it attends most, is any antecedent. Folds are the parity of a document's number: 0 and 2 against 1.

    0: He -> a man (pronoun, 4 words back).   1: the boy -> a boy (nominal, 3).   2: She -> Ann (pronoun, 2);
    Ann -> She (proper, 2) or Ann (4), nearest distance 2.

    So there are 4 items. The nearest mention before "He" is "one", which is wrong, the other three are right: 3 / 4. A
    random candidate is right in (1/2 + 1 + 1 + 2/2) / 4 = 0.875 of the cases.
    """
    given = windows(
        tokens,
        "[1 a man ] met [2 one ] . / [1 He ] sat .",
        "[1 a boy ] saw [1 the boy ]",
        "[1 Ann ] . / [1 She ] saw [1 Ann ]",
        tags={"He": "PRP", "She": "PRP", "Ann": "NNP", "one": "CD"},
    )

    def attend(window) -> np.ndarray:
        # Head 1 looks at the previous word, head 2 at word 0 (token 1), each with weight 0.6.
        maps = np.full((1, 2, len(window), len(window)), 0.4 / len(window))
        for query in range(len(window)):
            maps[0, 0, query, query - 1] += 0.6
            maps[0, 1, query, 1] += 0.6
        return maps

    result = analyze(given, attend)
    assert by_type(result.group_n).tolist() == [[3, 1], [2, 0], [1, 0], [0, 1]]  # all, pronoun, proper, nominal; folds
    assert result.single == 2  # documents 1 and 2's She
    # Candidates: He {man, one}; the boy {boy}; She {Ann}; Ann {Ann, She}, where both are right.
    # Head 1 from He: the word before, ".", is no candidate; all others are equal, so the first, "man": right.
    # Head 2 from He looks at word 0, "a", no candidate: again the first, "man": right.
    np.testing.assert_array_equal(result.show("mentions").accuracy[0, 0], [[1, 1]])
    # Among all words head 1 guesses ".", "the", ".", "saw": all wrong; head 2 "a", "a", "Ann", "Ann": half right.
    np.testing.assert_array_equal(result.show("words").accuracy[0, :, 0], [[0, 0.5], [0, 0.5], [0, 1], [0, 0]])
    shown = result.default_view()
    distances = [shown.scores("nearest").of("distance", kind).n.tolist() for kind in TYPE_ROWS]
    assert distances == [[n, 0, 0, 0, 0, 0] for n in (4, 2, 1, 1)]
    # 1 / candidates: 1/2, 1, 1, 1/2; any antecedent: 1/2, 1, 1, 2/2. Of all other words: 1/7, 1/4, 1/4, 1/4.
    assert shown.of_system(CHANCE).tolist() == [0.75, 0.75, 0.5, 1] and shown.of_system(RANDOM)[0] == 0.875
    assert result.show("words").of_system(CHANCE)[0] == pytest.approx((1 / 7 + 3 / 4) / 4)
    assert shown.scores("nearest").of("gender").n.tolist() == [1, 1, 0]
    frame = result.to_frame().set_index(["system", "type"])
    nearest = frame.loc[("nearest", "all")]
    assert (nearest["accuracy"], nearest["documents"]) == (0.75, 3)  # He: "one" is nearest
    assert frame.loc[("head 1-1", "pronoun"), "n"] == 2


def test_intervals_are_over_documents(tokens):
    """Of a head and of a system, and of the choice that is held out; attention is drawn at random."""

    def attend(window) -> np.ndarray:
        random = np.random.default_rng(window.number)
        return random.random((1, 2, len(window), len(window)), dtype=np.float32)

    given = Windows(from_path(SAMPLE), tokens, Settings(max_length=64))
    result = analyze(given, attend, batch=2).default_view()
    listed = range(len(result.stored.first_documents))
    nearest: dict[int, list[int]] = {}
    for window in given:
        hits = baselines_right(window)[BASELINES.index("nearest")]
        counts = nearest.setdefault(window.document.number, [0, 0])
        counts[0], counts[1] = counts[0] + int(hits.sum()), counts[1] + len(hits)

    def of_head(document: int, head: Head) -> tuple[int, int]:
        items = first_guesses(result.stored, DirectedHead(0, head))
        guesses = items.take(items.items[:, 0] == document).guesses()
        return sum(guess.right for guess in guesses), len(guesses)

    def check(found, counts) -> None:
        size = uncertainty.effective_n(counts)
        share = sum(c for c, _ in counts) / sum(n for _, n in counts)
        quantile = uncertainty.t_quantile(uncertainty.kish([n for _, n in counts]) - 1)
        assert found == pytest.approx(comparison.wilson(share * size, size, quantile), abs=1e-5)

    def interval(at) -> tuple[float, float]:
        scores = result.scores(at)
        return scores.low[0], scores.high[0]

    for head in (Head(0, 0), Head(0, 1)):
        check(interval(DirectedHead(0, head)), [of_head(document, head) for document in listed])
    check(interval("nearest"), list(nearest.values()))
    best = [highest(result.rows[0, ..., fold]) for fold in (0, 1)]
    numbers = [document["number"] for document in result.stored.first_documents]
    low, high = interval_by_document(*result.sums_held_out("all", 0))
    check((low[0], high[0]), [of_head(place, best[1 - number % 2]) for place, number in enumerate(numbers)])
    assert result.documents[0] == len(numbers) == len(nearest)
    in_bin: dict[int, list[int]] = {}  # nominal mentions 6 to 10 words after their nearest antecedent
    for window in given:
        document = window.document
        for item, is_right in zip(window.items, baselines_right(window)[BASELINES.index("nearest")], strict=True):
            at = window.heads[item.mention]
            distance = min(abs(at - window.heads[other]) for other in item.antecedents)
            if oracle.mention_type(plain(document, tokens), at) == "nominal" and 6 <= distance <= 10:
                counts = in_bin.setdefault(document.number, [0, 0])
                counts[0], counts[1] = counts[0] + int(is_right), counts[1] + 1
    scores = result.scores("nearest").of("distance", "nominal")
    check((scores.low[1], scores.high[1]), list(in_bin.values()))
    assert np.isnan(interval(CHANCE)).all()


def test_one_document_has_no_interval(tokens):
    result = analyze(windows(tokens, "[1 he ] so [1 he ] so [1 he ]"), uniform).default_view()
    assert np.isnan(result.scores("nearest").low).all() and result.above("nearest") == UNDECIDED
    best = result.row(result.best())
    assert np.isnan(best["heldout_accuracy"]) and best["accuracy"] == 1.0
    finding = type_finding(result, "all", 0)
    assert finding.state == UNDECIDED and "(no interval over 1 document (too few documents" in finding.sentence


@pytest.mark.parametrize(("text", "right", "items"), TEN)
def test_baselines_by_hand(tokens, text, right, items):
    result = analyze(windows(tokens, text), uniform)
    assert result.systems == list(BASELINES) and result.default_view().n[0] == items
    assert tuple(by_type(result.system_correct).sum(-1)[:, 0]) == right


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    """A small random Llama, whose tokenizer puts <s> before a text."""
    folder = predicting.save("llama", tmp_path_factory.mktemp("llama"))
    return loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")


def test_items_of_a_causal_model_have_an_antecedent_before_them(tokens):
    """ "his" precedes its candidate "man": the mention that contains it comes first, its head word later."""
    (window,) = windows(tokens, "[1 [1 his ] own man ] saw [1 him ] .")
    assert [item.mention for item in window.items] == [1, 2]
    assert [item.mention for item in earlier_antecedents(window).items] == [2]


@pytest.mark.parametrize(
    ("which", "settings"), [("tiny", {}), ("tiny", {"mode": "paper"}), ("tiny", {"max_length": 40}), ("causal", {})]
)
def test_the_model_equals_the_oracle(request, which, settings):
    model = request.getfixturevalue(which)
    given = Windows(from_path(SAMPLE), model.tokens, Settings(**{"max_length": 60, **settings}))
    total = AntecedentSums(model.layers, model.heads, "cpu", given.settings.paper)
    forward_pass.run(model, given, [total], Progress())
    origin = {"options": {}, "model": {"causal": model.causal}, "items": sum(len(window.items) for window in given)}
    ours = finish(total, given, origin)
    before, after = model.tokens.single
    documents = {window.document.number: plain(window.document, model.tokens) for window in given}

    def maps(ids: list[int]) -> np.ndarray:
        whole = torch.tensor([[*before, *ids, *after]])
        model.encoder.set_attn_implementation("eager")
        try:
            with torch.inference_mode():
                found = model.encoder(input_ids=whole, output_attentions=True).attentions
        finally:
            model.encoder.set_attn_implementation("bertviz_observed")
        return torch.stack([layer[0] for layer in found]).double().numpy()

    budget = given.settings.max_length - len(before) - len(after)
    asked = budget, given.settings.paper, model.causal
    counts = oracle.right_guesses(list(documents.values()), maps, *asked)
    typed = by_type(np.moveaxis(ours.correct, 2, -1))  # (direction, candidates, layer, head, type, fold)
    assert sum(n for key, n in counts.items() if key[0] == "n") == ours.default_view().n[0] >= 20
    view = ours.default_view()
    row = view.row(view.best()) | {"head": view.best().head.label()}
    expected = oracle.best_head(counts, model.layers, model.heads)
    if model.causal:
        assert row["accuracy_of_all_mentions"] == pytest.approx(row["accuracy"] * view.n[0] / origin["items"])
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    for kind, n in zip(TYPES, view.n[1:], strict=True):
        best = view.best(kind)
        row = view.row(best, kind) | {"head": best.head.label()}
        expected = oracle.best_head(counts, model.layers, model.heads, (kind,)) if n else {}
        assert {name: row[name] for name in expected} == pytest.approx(expected, nan_ok=True)
    written_out = oracle.baselines(list(documents.values()), *asked)
    for row, name in enumerate(ours.systems):
        if name in written_out:
            counted = by_type(ours.system_correct)[row, 1:].sum(-1)
            assert dict(zip(TYPES, counted, strict=True)) == written_out[name], name
    for (measure, candidates, kind), total in oracle.chance(list(documents.values()), *asked).items():
        summed = by_type(ours.chance[("one", "any").index(measure), CANDIDATES.index(candidates)]).sum(-1)
        assert summed[1 + TYPES.index(kind)] == pytest.approx(total, rel=1e-12)
    check_distances(ours, counts)
    for key, right in counts.items():
        if key[0] == "bin":
            continue
        if key[0] == "n":
            assert by_type(ours.group_n)[TYPE_ROWS.index(key[1]), key[2]] == right
        else:
            direction, candidates, kind, fold, layer, head = key
            if direction and model.causal:
                continue  # absent
            place = direction, CANDIDATES.index(candidates), layer, head, 1 + TYPES.index(kind), fold
            assert typed[place] == right, key


def check_distances(ours: CoreferenceHeads, counts: dict) -> None:
    """Right guesses and items of each type of mention in each bin of distance, and of all types, are the oracle's."""
    keys = [key for key in counts if key[0] == "bin" and key[1] != "n"]
    assert len({key[3:5] for key in keys}) >= 6  # types and bins
    for _, direction, candidates, _, _, layer, head in keys:
        view = ours.show(candidates)
        if direction >= len(view.directions):
            continue  # absent
        for kind in TYPE_ROWS:
            scores = view.scores(DirectedHead(direction, Head(layer, head))).of("distance", kind)
            for right, n, name in zip(scores.right, scores.n, BIN_NAMES, strict=True):
                types = TYPES if kind == "all" else (kind,)
                expected = (counts.get(("bin", direction, candidates, of, name, layer, head), 0) for of in types)
                assert (right, n) == (sum(expected), sum(counts.get(("bin", "n", of, name), 0) for of in types))


def test_a_causal_model_cannot_look_ahead(tokens):
    result = analyze(windows(tokens, "[1 he ] so [1 he ]"), uniform)
    result.provenance.update(model={"causal": True}, items=2)
    shown = result.default_view()
    assert np.isnan(shown.accuracy[1]).all() and not np.isnan(shown.accuracy[0, 0]).any()
    assert shown.best().direction == 0 and shown.directions == DIRECTIONS[:1]
    assert set(result.to_frame()["direction"]) == {"", DIRECTIONS[0]}
    for table in result.tables().values():
        back = table["direction"] == DIRECTIONS[1]
        assert back.any() and table.loc[back, ["right", "accuracy"]].isna().all(axis=None)
        assert table["n"].notna().all() and table.loc[~back, "right"].notna().all()


def test_candidates_are_a_choice_of_counts_that_are_there(tokens):
    result = analyze(Windows(from_path(SAMPLE), tokens, Settings()), uniform)
    strict = result.show("words")
    assert (result.default_view().candidates, strict.candidates) == ("mentions", "words")
    assert strict.accuracy.max() < result.default_view().accuracy.max() and result.provenance["options"] == {}
    with pytest.raises(SettingsError, match="Unknown candidates 'tokens'"):
        result.show("tokens")
