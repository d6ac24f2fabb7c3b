"""Dependency heads equal the literal loops in both modes, find a planted head, and merge exactly."""

import lzma
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from bertviz_core.analyses.dependency_heads.gold_trees import Rules
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, Guesses
from bertviz_core.analyses.dependency_heads.measure import accumulator, finish
from bertviz_core.analyses.dependency_heads.result import VIEWS, DependencyHeads, RelationFilter
from bertviz_core.analyses.proportions import wilson
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute
from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.corpora.treebank.trees import POSSESSIVES
from bertviz_core.errors import SettingsError
from bertviz_core.models import checkpoint
from bertviz_core.models.annotated import Sentences
from bertviz_core.models.attention import LayerAttention, forward
from bertviz_core.models.encoding import collate
from bertviz_core.models.loading import load
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Execution, Settings
from tests.oracles import dependency as oracle

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "treebanks"
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
def model() -> AttentionModel:
    torch.set_num_threads(1)
    return load(checkpoint.find("demo"), "cpu")


def request(mode="corrected", **options) -> Request:
    source = from_bytes(plain().encode(), "bank")
    return Request("dependency_heads", checkpoint.find("demo"), source, Settings(mode=mode), options)


@pytest.fixture(scope="module")
def literal(model):
    """The sentences as the oracle wants them, and their (layer, head, token, token) maps, one sentence at a time."""
    sentences, maps = [], []
    for encoded in Sentences(request().source, model.tokens, Settings()):
        layers: list[np.ndarray] = []
        batch = collate([encoded], model.tokens, "cpu")
        forward(model, batch, lambda seen, layers=layers: layers.append(seen.weights[0].double().numpy()))
        s = encoded.sentence
        sentences.append({"number": s.number, "words": s.words, "heads": s.governors, "relns": s.relations})
        maps.append((layers, encoded.words.tolist()))
    return sentences, maps


def words_of(maps, first_piece):
    return [
        [[oracle.word_level(head, words, first_piece) for head in layer] for layer in layers] for layers, words in maps
    ]


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


def test_every_head_and_the_kept_guesses_equal_the_literal_loops(model, literal):
    result = compute(request(), None, Execution("cpu", 64), model=model).show(RelationFilter("as-is"))
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
                kept = result.guesses[d, layer, head]
                assert kept.tolist() == [guess - 1 for guessed in guesses for guess in guessed]
                axes = [m[layer][head] if d == 0 else m[layer][head].T for m in words]
                weights = [m[i, g - 1] for m, guessed in zip(axes, guesses, strict=True) for i, g in enumerate(guessed)]
                alone = [i for i, s in enumerate(s for s in sentences for _ in s["words"]) if len(s["words"]) == 1]
                expected = np.delete(np.array(weights), alone)
                np.testing.assert_allclose(
                    np.delete(result.weights[d, layer, head], alone) / 255, expected, atol=0.5001 / 255
                )


def planted(model, rules) -> tuple[Guesses, Sentences]:
    """Maps in which head 1-2 looks from every word to its governor, and head 1-3 from every governor to its words."""
    examples = Sentences(request().source, model.tokens, Settings())
    counts = Guesses(rules, 1, 3, "cpu")
    encoded = list(examples)
    for group in (encoded[:3], encoded[3:]):
        part = counts.fresh()
        batch = collate(group, model.tokens, "cpu")
        weights = torch.rand(len(group), 3, batch.ids.shape[1], batch.ids.shape[1]) * 0.01
        for row, example in enumerate(group):
            first = {int(word): token for token, word in reversed(list(enumerate(example.words)))}
            for word, governor in enumerate(example.sentence.governors):
                if governor:
                    weights[row, 1, first[word], first[governor - 1]] += 5
                    weights[row, 2, first[governor - 1], first[word]] += 5
        part.update(batch, LayerAttention(0, weights, None, False))
        counts.merge(part)
    return counts, examples


def test_a_planted_head_is_found_to_be_perfect(model):
    counts, examples = planted(model, Rules(VIEWS))
    result = finish(counts, examples, {"settings": {"mode": "corrected"}, "options": {}}).show(RelationFilter("as-is"))
    for row, relation in enumerate(result.relations):
        if relation in ("all", "UAS"):
            continue
        assert result.accuracy[0, row, 0, 1] == result.accuracy[1, row, 0, 2] == 1.0, relation
    n = result.n.sum(0)
    assert result.accuracy[0, 0, 0, 1] == 1 - len(list(examples)) / n[0]
    rows = result.to_frame().set_index("relation")
    assert (rows.loc["nsubj", "head"], rows.loc["nsubj", "direction"]) == ("1-2", "dependent->governor")
    assert rows.loc["nsubj", "heldout_accuracy"] == 1.0


def test_merging_other_accumulators_is_exact_whatever_the_order_of_names(model):
    examples = list(Sentences(request().source, model.tokens, Settings()))
    whole = accumulator(model, request())
    parts = [accumulator(model, request()) for _ in range(2)]
    for counts, group in ((whole, examples), (parts[0], examples[5:]), (parts[1], examples[:5])):
        batch = collate(group, model.tokens, "cpu")
        forward(model, batch, lambda seen, counts=counts, batch=batch: counts.update(batch, seen))
    parts[0].merge(parts[1])
    assert list(parts[0].names) != list(whole.names) and set(parts[0].names) == set(whole.names)
    order = [parts[0].names[name] for name in whole.names]
    for name, value in whole.counts().items():
        assert torch.equal(value, parts[0].counts()[name][order]), name
    assert parts[0].kept.keys() == whole.kept.keys()


def test_bytes_choices_and_subtypes(model):
    result = compute(request(), None, Execution("cpu"), model=model)
    again = DependencyHeads.from_bytes(result.to_bytes())
    assert again.to_frame().equals(result.to_frame()) and again.sentences == result.sentences
    shown = result.show(RelationFilter("as-is", min_count=3, offsets=2))
    assert shown.offsets.tolist() == [-2, -1, 1, 2] and shown.n.sum(0)[2:].min() >= 3
    assert shown.provenance["options"] == {"view": "as-is", "min_count": 3, "offsets": 2, "merge_subtypes": False}
    with pytest.raises(SettingsError):
        result.show(RelationFilter("as-is", offsets=50))
    with pytest.raises(SettingsError):
        result.show(RelationFilter(view="upside-down"))


def test_merged_subtypes_are_added_up(model):
    text = "a\t2-nsubj:pass\nb\t0-root\n\nc 2-nsubj\nd 0-root\ne 2-punct\n"
    asked = Request("dependency_heads", checkpoint.find("demo"), from_bytes(text.encode(), "x"))
    result = compute(asked, None, Execution("cpu"), model=model)
    merged, result = result.show(RelationFilter("as-is", merge_subtypes=True)), result.show(RelationFilter("as-is"))
    assert merged.relations == ["all", "UAS", "nsubj", "punct"] and merged.n.sum(0).tolist() == [5, 4, 2, 1]
    rows = [result.relations.index(name) for name in ("nsubj", "nsubj:pass")]
    assert np.array_equal(merged.correct[:, :, 2], result.correct[:, :, rows].sum(2))
    assert np.array_equal(merged.offset_correct[:, :2], result.offset_correct[:, :2])


def test_the_function_head_view_scores_the_same_guesses_against_the_other_tree(model, literal):
    tree = ("He 2-nsubj", "sat 0-root", "on 6-case", "the 6-det", "old 6-amod", "mat 2-obl")
    view = ("He 2-nsubj", "sat 0-root", "on 2-prep", "the 6-det", "old 6-amod", "mat 3-pobj")
    results = [
        compute(
            Request("dependency_heads", checkpoint.find("demo"), from_bytes("\n".join(lines).encode(), "x")),
            None,
            Execution("cpu"),
            model=model,
        )
        for lines in (tree, view)
    ]
    seen, asked = results[0].show(RelationFilter("function-heads")), results[1].show(RelationFilter("as-is"))
    assert seen.relations == asked.relations and seen.relations != results[0].show(RelationFilter("as-is")).relations
    assert np.array_equal(seen.correct, asked.correct) and np.array_equal(seen.offset_correct, asked.offset_correct)
    assert seen.sentences[0]["governors"] == [2, 0, 2, 6, 6, 3]


def test_wilson_intervals():
    low, high = wilson(np.array([8, 0, 10, 0]), np.array([10, 10, 10, 0]))
    np.testing.assert_allclose(low[:3], [0.49016, 0.0, 0.72247], atol=1e-5)
    np.testing.assert_allclose(high[:3], [0.94331, 0.27753, 1.0], atol=1e-5)
    assert np.isnan(low[3]) and np.isnan(high[3])


@pytest.mark.skipif(not DATA.exists(), reason="no shared data")
def test_relations_of_a_real_treebank_are_counted_as_the_file_has_them(model):
    path = DATA / "UD_English-EWT" / "en_ewt-ud-dev.conllu.xz"
    asked = Request("dependency_heads", checkpoint.find("demo"), from_path(path), Settings(limit=80))
    result = compute(asked, None, Execution("cpu"), model=model).show(RelationFilter("as-is"))
    blocks = lzma.decompress(path.read_bytes()).decode().split("\n\n")[:80]
    cells = [line.split("\t") for block in blocks for line in block.splitlines() if line[0] != "#"]
    counted = Counter(row[7] for row in cells if row[0].isdigit())
    n = dict(zip(result.relations, result.n.sum(0).tolist(), strict=True))
    assert (n.pop("all"), n.pop("UAS")) == (counted.total(), counted.total() - counted["punct"])
    del counted["root"]  # no row: no head can find it
    assert n == counted and result.provenance["skipped"] == []


def test_roots_of_any_case_have_no_row_and_labels_named_as_totals_are_relations(model):
    text = "a\t2-all\nb\t0-ROOT\n\nc 2-UAS\nd 0-root\ne 2-all:x\nf 2-punct\n"
    asked = Request("dependency_heads", checkpoint.find("demo"), from_bytes(text.encode(), "x"))
    result = compute(asked, None, Execution("cpu"), model=model)
    counts = {
        name: int(n)
        for name, n in zip(
            result.show(RelationFilter("as-is")).relations, result.show(RelationFilter("as-is")).n.sum(0), strict=True
        )
    }
    assert counts == {"all": 6, "UAS": 5, "UAS_": 1, "all_": 1, "all_:x": 1, "punct": 1}
    merged = result.show(RelationFilter("as-is", merge_subtypes=True))
    assert merged.relations == ["all", "UAS", "all_", "UAS_", "punct"] and merged.n.sum(0).tolist() == [6, 5, 2, 1, 1]
