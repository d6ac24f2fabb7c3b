"""Dependency heads equal the literal loops in both modes, of encoders and of decoders."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest
import torch

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.dependency_heads.figure import examples
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.measure import RelationSums, finish
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, RelationFilter
from bertviz_core.analyses.dependency_heads.statements import relation_sentence
from bertviz_core.analyses.dependency_heads.word_classes import PART_OF_SPEECH, WordClasses
from bertviz_core.analyses.dependency_heads.word_intervals import effective_words
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.source import from_bytes
from bertviz_core.corpora.treebank import POSSESSIVES
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.inputs import encoded_corpus
from bertviz_core.inputs.annotated_words import Sentences
from bertviz_core.inputs.encoding import collate
from bertviz_core.models import checkpoint
from bertviz_core.models.attention import forward
from bertviz_core.models.loading import load
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Execution, Settings
from tests.oracles import dependency as oracle
from tests.oracles.reference import word_level
from tests.support import predicting
from tests.support.families import FAMILIES, save

PLAIN = """
The 3-det old 3-amod clockmaker 4-nsubj fixed 0-root Grandfather 7-poss 's 5-possessive watch 4-dobj . 4-punct
Grandfather 3-poss 's 1-possessive watches 4-nsubj tick 0-root loudly 4-advmod . 4-punct
She 2-nsubj borrowed 0-root her 4-poss sister 6-poss 's 4-possessive notebook 2-dobj
the 2-det boys 4-poss ' 2-possessive bikes 5-nsubj rusted 0-root in 5-prep the 8-det rain 6-pobj
Unquestionably 4-advmod , 4-punct rhododendrons 4-nsubj bloom 0-root early 4-advmod-x
Stop 0-root
He 2-nsubj thinks 0-root that 6-mark quick 5-amod dogs 6-nsubj bark 2-ccomp at 6-prep night 7-pobj . 2-punct
whose 2-poss hat 3-nsubj fell 0-root ? 3-punct
""".strip().splitlines()


def plain() -> str:
    """The sentences above in the authors' format."""
    lines = [line.split() for line in PLAIN]
    return "\n\n".join("\n".join(f"{w} {t}" for w, t in zip(c[::2], c[1::2], strict=True)) for c in lines)


@pytest.fixture(scope="module")
def model(demo) -> AttentionModel:
    return demo


def request(mode="corrected", **options) -> Request:
    source = from_bytes(plain().encode(), "bank")
    return Request("dependency_heads", checkpoint.find_checkpoint("demo"), source, Settings(mode=mode), options)


def analyzed(model, text: str) -> DependencyHeads:
    asked = Request("dependency_heads", checkpoint.find_checkpoint("demo"), from_bytes(text.encode(), "x"))
    return compute(asked, None, Execution("cpu"), model=model)


@pytest.fixture(scope="module")
def literal(model):
    return literal_maps(model, request())


def literal_maps(model, asked):
    """The sentences as the oracle wants them, and their (layer, head, token, token) maps, one sentence at a time."""
    sentences, maps = [], []
    for encoded in Sentences(asked.source, model.tokens, asked.settings):
        layers: list[np.ndarray] = []
        batch = collate([encoded], model.tokens, "cpu")
        forward(model, batch, lambda seen, layers=layers: layers.append(seen.weights[0].double().numpy()))
        s = encoded.sentence
        sentences.append(s.to_json() | {"number": s.number, "tags": s.tags})
        maps.append((layers, encoded.words.tolist()))
    return sentences, maps


def words_of(maps, first_piece):
    """(word, word) maps of every head of every layer of every sentence."""

    def of_words(head, words):
        ends = slice(int(words[0] < 0), len(words) if words[-1] >= 0 else -1)  # without special tokens
        return np.array(word_level(head, words, first_piece))[ends, ends]

    return [[[of_words(head, words) for head in layer] for layer in layers] for layers, words in maps]


def test_worked_example(model):
    """One head on "a dog barks", with det(dog, a), nsubj(barks, dog) and the root barks. Its weights between words:

        from \\ to    a    dog  barks
        a           0.1  0.7  0.2
        dog         0.6  0.1  0.3
        barks       0.3  0.6  0.1

    Dependent -> governor reads rows, without the diagonal: "a" guesses "dog" (0.7), its governor, which is right; "dog"
    guesses "a" (0.6) in place of "barks"; "barks" guesses "dog", and a root is never right. Governor -> dependent reads
    columns: "a" gets most from "dog" (0.6), right; "dog" most from "a" (0.7), wrong. So in both directions the accuracy
    is 1 / 1 for det, 0 / 1 for nsubj, and 1 / 3 for all words. The offset +1 finds both "dog" and "barks": 2 / 3.
    """
    source = from_bytes(b"a 2-det\ndog 3-nsubj\nbarks 0-root\n", "x.txt")
    sentences = Sentences(source, model.tokens, Settings())
    sums = RelationSums(1, 1, "cpu")
    sums.open(collate(list(sentences), model.tokens, "cpu"))
    sums.score(torch.tensor([[[[0.1, 0.7, 0.2], [0.6, 0.1, 0.3], [0.3, 0.6, 0.1]]]]))
    sums.complete()
    result = finish(sums, sentences, {"options": {}, "model": {"causal": False}, "settings": {"mode": "corrected"}})
    counts = result.show(RelationFilter("as-is", min_count=1))
    accuracy = dict(zip(counts.relations, counts.accuracy[:, :, 0, 0].T.tolist(), strict=True))
    assert accuracy["det"] == [1, 1] and accuracy["nsubj"] == [0, 0]
    assert accuracy["all"] == pytest.approx([1 / 3, 1 / 3])
    assert counts.best_offset[0] == 1 and counts.baseline[0] == pytest.approx(2 / 3)


@pytest.mark.parametrize(("mode", "possessives"), [("corrected", False), ("corrected", True), ("paper", False)])
def test_the_table_equals_the_literal_loops(model, literal, mode, possessives):
    result = compute(request(mode, possessives=possessives), None, Execution("cpu", 64), model=model)
    sentences, maps = literal
    paper = mode == "paper"
    forms = ("'s", "s'") if paper else POSSESSIVES if possessives else ()
    offsets = list(range(-3, 3)) if paper else [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5]
    words = words_of(maps, first_piece=paper)
    rows = result.show(RelationFilter("as-is", min_count=2)).to_frame().set_index("relation").to_dict("index")
    counted = Counter(relation for s in sentences for relation in s["relns"])
    assert set(rows) == {"all", "UAS"} | {relation for relation, n in counted.items() if n >= 2} - {"root"}
    assert list(rows)[:2] == ["all", "UAS"]
    for relation in ("all", "UAS", "poss", "nsubj", "det", "possessive"):
        expected = oracle.table(sentences, words, relation, offsets, forms)
        got = {name: rows[relation][name] for name in expected}
        assert got == pytest.approx(expected, nan_ok=True), relation


def test_the_best_heads_of_one_direction_equal_the_literal_loops(model, literal):
    sentences, maps = literal
    words = words_of(maps, first_piece=False)
    counts = compute(request(), None, Execution("cpu", 64), model=model).show(RelationFilter("as-is", min_count=2))
    for index, direction in enumerate(DIRECTIONS):
        rows = counts.in_direction(index).to_frame().set_index("relation").to_dict("index")
        for relation in ("UAS", "nsubj", "det"):
            offsets = [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5]
            expected = oracle.table(sentences, words, relation, offsets, directions=[direction])
            got = {name: rows[relation][name] for name in expected}
            assert got == pytest.approx(expected, nan_ok=True), (direction, relation)


def test_every_head_and_the_kept_guesses_equal_the_literal_loops(model, literal):
    result = compute(request(), None, Execution("cpu", 64), model=model).show(RelationFilter("as-is", 1))
    sentences, maps = literal
    words = words_of(maps, first_piece=False)
    for d, direction in enumerate(DIRECTIONS):
        for layer in range(model.layers):
            for head in range(0, model.heads, 3):
                guesses = [oracle.head_guesses(m[layer][head], direction) for m in words]
                for relation, (right, n) in oracle.score(sentences, guesses).items():
                    if relation == "root":
                        continue
                    row = result.relations.index(relation)
                    assert result.correct[:, d, row, layer, head].sum() == right and result.n[:, row].sum() == n
                kept = result.stored.guesses[d, layer, head]
                assert kept.tolist() == [guess - 1 for guessed in guesses for guess in guessed]
                axes = [m[layer][head] if d == 0 else m[layer][head].T for m in words]
                weights = [m[i, g - 1] for m, guessed in zip(axes, guesses, strict=True) for i, g in enumerate(guessed)]
                alone = [i for i, s in enumerate(s for s in sentences for _ in s["words"]) if len(s["words"]) == 1]
                expected = np.delete(np.array(weights), alone)
                other_weights = np.delete(result.stored.weights[d, layer, head], alone)
                np.testing.assert_allclose(other_weights / 255, expected, atol=0.5001 / 255)


TAGGED = """
1	The	_	DET	_	_	2	det	_	_
2	clockmakers	_	NOUN	_	_	3	nsubj	_	_
3	tick	_	VERB	_	_	0	root	_	_
4	.	_	PUNCT	_	_	3	punct	_	_

1	Unquestionably	_	ADV	_	_	3	advmod	_	_
2	she	_	PRON	_	_	3	nsubj	_	_
3	sat	_	VERB	_	_	0	root	_	_
4	on	_	ADP	_	_	6	case	_	_
5	the	_	DET	_	_	6	det	_	_
6	mat	_	NOUN	_	_	3	obl	_	_

1	Stop	_	VERB	_	_	0	root	_	_
"""


@pytest.mark.parametrize("family", ["bert", "gpt2"])
@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_what_words_are_attended_to_equals_the_literal_loops(tmp_path, family, mode):
    chosen = checkpoint.find_checkpoint(str(save(FAMILIES[family], tmp_path)))
    model, settings = load(chosen, "cpu"), Settings(mode=mode, max_length=64)
    asked = Request("dependency_heads", chosen, from_bytes(TAGGED.encode(), "bank"), settings)
    shown = compute(asked, None, Execution("cpu", 16), model=model).show(RelationFilter("as-is", 1))
    assert WordClasses(shown.stored).schemes("as-is") == [PART_OF_SPEECH, "as-is"]
    sentences, maps = literal_maps(model, asked)
    words = words_of(maps, first_piece=mode == "paper")
    table = shown.tables()["attended"].set_index(["scheme", "class", "head"])
    labels = {PART_OF_SPEECH: [s["tags"] for s in sentences], "as-is": [s["relns"] for s in sentences]}
    assert {(scheme, name) for scheme, name, _ in table.index} == {
        (scheme, name) for scheme, of in labels.items() for name in chain(*of)
    }
    for (scheme, name, head), row in table.iterrows():
        layer, number = Head.parse(head)
        own = [sentence[layer][number] for sentence in words]
        share, expected, half, n = oracle.attended(own, labels[scheme], name, FAMILIES[family].causal)
        assert row[["share", "expected", "share_interval"]].tolist() == pytest.approx([share, expected, half], rel=1e-5)
        assert row["n"] == n and row["times"] == pytest.approx(share / expected, rel=1e-5)
        to_words = np.concatenate([attention.sum(1) for attention in own]).mean()
        assert WordClasses(shown.stored).to_words[layer, number] == pytest.approx(to_words, rel=1e-6)


def test_bytes_and_choices(model):
    result = analyzed(model, plain())
    classes = WordClasses(result)  # without parts of speech
    assert classes.schemes("function-heads") == ["function-heads"]
    assert classes.preferred(PART_OF_SPEECH, [Head(0, 0)]) == [""]
    again = DependencyHeads.from_bytes(result.to_bytes())
    assert again.to_frame().equals(result.to_frame()) and again.sentences == result.sentences
    shown = result.show(RelationFilter("as-is", min_count=3, offsets=2))
    assert shown.offsets.tolist() == [-2, -1, 1, 2] and shown.n.sum(0)[2:].min() >= 3
    assert shown.provenance["options"] == {"view": "as-is", "min_count": 3, "offsets": 2, "merge_subtypes": False}
    with pytest.raises(SettingsError):
        result.show(RelationFilter("as-is", offsets=50))
    with pytest.raises(SettingsError):
        result.show(RelationFilter(view="upside-down"))


def test_merged_subtypes_are_added_up_roots_have_no_row_and_labels_named_as_totals_are_relations(model):
    text = "a\t2-nsubj:pass\nb\t0-root\n\nc 2-nsubj\nd 0-root\ne 2-punct\n"
    every, merged = (analyzed(model, text).show(RelationFilter("as-is", 1, 5, merge)) for merge in (False, True))
    assert merged.relations == ["all", "UAS", "nsubj", "punct"] and merged.n.sum(0).tolist() == [5, 4, 2, 1]
    rows = [every.relations.index(name) for name in ("nsubj", "nsubj:pass")]
    assert np.array_equal(merged.correct[:, :, 2], every.correct[:, :, rows].sum(2))
    assert np.array_equal(merged.offset_correct[:, :2], every.offset_correct[:, :2])
    text = "a\t2-all\nb\t0-ROOT\n\nc 2-UAS\nd 0-root\ne 2-all:x\nf 2-punct\n"
    every, merged = (analyzed(model, text).show(RelationFilter("as-is", 1, 5, merge)) for merge in (False, True))
    counts = dict(zip(every.relations, every.n.sum(0).tolist(), strict=True))
    assert counts == {"all": 6, "UAS": 5, "UAS_": 1, "all_": 1, "all_:x": 1, "punct": 1}
    assert merged.relations == ["all", "UAS", "all_", "UAS_", "punct"] and merged.n.sum(0).tolist() == [6, 5, 2, 1, 1]


@pytest.mark.parametrize("name", ["PUNCT", "P", "AuxK", "--"])
def test_punctuation_by_other_guidelines_is_left_out_of_uas_too(model, name):
    text = "c 2-nsubj\nd 0-root\ne 2-obj\nf 2-{}\n\ng 2-p\nh 0-root\ni 2-nsubj\n"
    shown = [analyzed(model, text.format(each)).show(RelationFilter("as-is", 1, 5, False)) for each in ("punct", name)]
    for each in shown:
        row = each.relations.index("UAS")
        assert each.n[:, row].sum() == 5
        assert np.array_equal(each.correct[:, :, row], shown[0].correct[:, :, row])


def test_the_function_head_view_scores_the_same_guesses_against_the_other_tree(model, literal):
    tree = ("He 2-nsubj", "sat 0-root", "on 6-case", "the 6-det", "old 6-amod", "mat 2-obl")
    view = ("He 2-nsubj", "sat 0-root", "on 2-prep", "the 6-det", "old 6-amod", "mat 3-pobj")
    results = [analyzed(model, "\n".join(lines)) for lines in (tree, view)]
    viewed, asked = results[0].show(RelationFilter("function-heads", 1)), results[1].show(RelationFilter("as-is", 1))
    assert viewed.relations == asked.relations != results[0].show(RelationFilter("as-is", 1)).relations
    assert np.array_equal(viewed.correct, asked.correct) and np.array_equal(viewed.offset_correct, asked.offset_correct)
    assert examples(viewed, viewed.best_choice("all"), "all")[0].sentence["governors"] == [2, 0, 2, 6, 6, 3]


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_a_causal_model_s_arcs_equal_the_literal_loops(family, tmp_path):
    """Each direction counts the words whose governor it can see; roots are among all words alone."""
    causal = load(checkpoint.find_checkpoint(str(predicting.save(family, tmp_path))), "cpu")
    source = from_bytes(plain().encode(), "bank")
    asked = Request("dependency_heads", causal.checkpoint, source, Settings(max_length=64))
    result = compute(asked, None, Execution("cpu", 64), model=causal).show(RelationFilter("as-is", min_count=2))
    sentences, maps = literal_maps(causal, asked)
    words = words_of(maps, first_piece=False)
    rows, everyone = result.to_frame().set_index("relation"), sum(len(s["words"]) for s in sentences)
    counted, offsets = result.counted.sum(0), result.offsets.tolist()
    for row, relation in enumerate(result.relations):
        expected = oracle.causal_counts(sentences, words, relation, offsets)
        for direction, (n, right, by_offset, random) in enumerate(expected.values()):
            assert result.random_correct[direction, row] == pytest.approx(random), relation
            assert counted[direction, row] == n, relation
            np.testing.assert_array_equal(result.correct.sum(0)[direction, row], right)
            np.testing.assert_array_equal(result.offset_correct[direction, :, row], list(by_offset.values()))
        best = max(expected.values(), key=lambda side: side[1].max())
        assert rows.loc[relation, "accuracy"] == best[1].max() / best[0] and rows.loc[relation, "n"] == best[0]
        assert rows.loc[relation, "baseline_accuracy"] == max(best[2].values()) / best[0]
        assert rows.loc[relation, "random_accuracy"] == pytest.approx(best[3] / best[0])
        assert result.control[row] == pytest.approx(max(*best[2].values(), best[3]) / best[0])
    whole = rows.loc["all"]
    assert whole["n_of_all_words"] == everyone == counted[:, 0].sum() + len(sentences)
    assert whole["accuracy_of_all_words"] == pytest.approx(whole["accuracy"] * whole["n"] / everyone)
    choice = result.best_choice("all")
    listed = examples(result, choice, "all")
    assert sum(len(each.chosen) for each in listed) == whole["n"]
    assert sum(each.right for each in listed) == result.correct.sum(0)[choice.direction, 0, *choice.head]
    sentence = relation_sentence(result, "all")
    assert all(part in sentence for part in ("whose governor comes", "Of all", "a random word among those that come"))


def documents_of(text: str, sizes) -> str:
    """A treebank in CoNLL-U whose documents have so many sentences."""
    blocks, lines = iter(text.strip().split("\n\n")), []
    for number, size in enumerate(sizes):
        for place in range(size):
            rows = [line.rsplit(maxsplit=1) for line in next(blocks).splitlines()]
            lines += [f"# newdoc id = {number}"] if not place else []
            for index, (word, tag) in enumerate(rows, 1):
                governor, relation = tag.split("-", 1)
                lines.append(f"{index}\t{word}\t_\tX\t_\t_\t{governor}\t{relation}\t_\t_")
            lines.append("")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("sizes", [(1, 3, 2, 2), (8,)])
@pytest.mark.parametrize("chunk", [20, 60, 65536])
def test_intervals_over_documents_or_sentences_equal_the_literal_loops(model, monkeypatch, sizes, chunk):
    monkeypatch.setattr(encoded_corpus, "CHUNK_TOKENS", chunk)
    result = analyzed(model, documents_of(plain(), sizes))
    asked = Request(
        "dependency_heads", checkpoint.find_checkpoint("demo"), from_bytes(documents_of(plain(), sizes).encode(), "x")
    )
    sentences, maps = literal_maps(model, asked)
    numbered = [document for document, size in enumerate(sizes) for _ in range(size)]
    units = oracle.units_of(sentences, numbered)
    shown = result.show(RelationFilter("as-is", 1))
    assert shown.unit == ("documents" if len(sizes) > 1 else "sentences")
    low, high = shown.intervals()
    words = words_of(maps, first_piece=False)
    for direction, layer, head in ((0, 0, 0), (1, 3, 2), (0, 5, 7)):
        guesses = [oracle.head_guesses(m[layer][head], DIRECTIONS[direction]) for m in words]
        for relation in ("all", "UAS", "nsubj", "det", "poss"):
            row = shown.relations.index(relation)
            expected = oracle.interval_over_units(sentences, guesses, relation, units)
            found = low[direction, row, layer, head], high[direction, row, layer, head], shown.units[row]
            assert found == pytest.approx(expected, rel=1e-5, abs=1e-9), relation
    folds = [unit % 2 for unit in units]
    n = [sum(len(s["words"]) for s, fold in zip(sentences, folds, strict=True) if fold == each) for each in (0, 1)]
    assert shown.n[:, 0].tolist() == n


def test_the_design_effect_worked_by_hand():
    """Three documents have 4 nsubj each, of which a head finds 4, 2 and 0: as much as 3 independent words."""
    moments = np.array([3, 3 * 16, 4 * 6, 16 + 4])
    assert effective_words(np.array(6), np.array(12), moments.astype(float))[0] == pytest.approx(3)
