"""What tokens receive and give equals the oracle: on random attention, in batches and chunks; planted heads do as
planted; and what is forgotten of rare tokens is said."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from bertviz_core.analyses.reach import token_sums
from bertviz_core.analyses.reach.measure import ReachSums
from bertviz_core.analyses.reach.result import FIRST_TOKEN, SHARES
from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.models.attention import LayerAttention
from tests.oracles import reach as oracle
from tests.support import maps

CLS, SEP = maps.TOKENS.cls, maps.TOKENS.sep
NAMES = SimpleNamespace(names=lambda ids: [f"t{int(number)}" for number in ids])
LAYERS = 2


def encoded(number, document, ids):
    ids = np.array(ids, dtype=np.int64)
    return Encoded(number, f"line {number + 1}", ids, np.zeros_like(ids), document_number=document)


def corpus(documents, inputs=48, seed=0):
    """Inputs of random tokens, the frequent ones with low numbers; every second begins with CLS and ends with SEP."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(inputs):
        ids = (3 + rng.geometric(0.25, rng.integers(3, 9)) % 12).tolist()
        framed = [CLS, *ids, SEP] if number % 2 else ids
        made.append(encoded(number, number * documents // inputs, framed))
    return made


def logits_of(example):
    return maps.scores(example.number, len(example), layers=LAYERS)


def chunk_sums(examples, causal, size):
    """The sums of one chunk, in batches of this size."""
    sums = ReachSums(LAYERS, 2, "cpu", 0, maps.TOKENS, causal)
    for first in range(0, len(examples), size):
        rows = examples[first : first + size]
        part = sums.new_empty()
        for layer in range(LAYERS):
            part.update(*maps.show(rows, [logits_of(each) for each in rows], layer, causal=causal))
        sums.merge(part)
    return sums


def summed(chunks, causal=False, size=3, *, as_bytes=False):
    """The fields of tokens of a corpus in these chunks."""
    total = ReachSums(LAYERS, 2, "cpu", 0, maps.TOKENS, causal)
    for examples in chunks:
        sums = chunk_sums(examples, causal, size)
        total.merge(total.from_bytes(sums.to_bytes()) if as_bytes else sums)
    return total.tokens.fields(NAMES)


def literal(examples, layer, head, causal, units):
    kinds = {CLS: "cls", SEP: "sep"}
    inputs = []
    for example in examples:
        rows = maps.literal(logits_of(example), causal)[layer, head].tolist()
        unit = example.document_number if units == "documents" else example.number
        inputs.append((unit, NAMES.names(example.ids), [kinds.get(i, "other") for i in example.ids.tolist()], rows))
    return oracle.token_sums(inputs, causal)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("documents", [1, 2, 8])
@pytest.mark.parametrize("ends", [[48], [5, 48], [14, 24, 25, 48]])
def test_random_attention_in_batches_and_chunks(documents, causal, ends):
    examples = corpus(documents)
    chunks = [examples[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    found = summed(chunks, causal, as_bytes=True)
    units = "inputs" if documents == 1 else "documents"
    if documents == 2:
        assert not found["tokens"], "fewer than five units"
        return
    assert FIRST_TOKEN in found["tokens"] and len(found["tokens"]) > 3
    np.testing.assert_array_equal(found["token_counts"], found["token_summed"])
    for layer, head in np.ndindex(LAYERS, 2):
        expected = literal(examples, layer, head, causal, units)
        for share, token in np.ndindex(2, len(found["tokens"])):
            values = [found[name][share, token, layer, head] for name in ("token_shares", "token_errors")]
            by_unit = expected.get((SHARES[share], found["tokens"][token]))
            if by_unit is None or not sum(n for n, _ in by_unit.values()):
                assert np.isnan(values).all()
            else:
                *both, effective = oracle.ratio(by_unit)
                np.testing.assert_allclose(values, both, rtol=1e-4, atol=1e-6)
                assert found["token_units"][share, token, layer] == pytest.approx(effective)


def test_counts_are_the_corpus_counts_and_the_least_is_kept():
    examples = corpus(8)
    found = summed([examples])
    names = [name for each in examples for name in NAMES.names(each.ids)]
    for name, count in zip(found["tokens"], found["token_counts"].tolist(), strict=True):
        if name not in (FIRST_TOKEN,):
            firsts = sum(NAMES.names(each.ids[:1])[0] == name for each in examples if each.ids[0] != CLS)
            assert count == names.count(name) - firsts
    assert found["token_counts"].min() >= token_sums.LEAST
    assert (np.diff(found["token_counts"]) <= 0).all(), "the most frequent first"


def test_chunks_are_equal_to_the_last_bit_as_bytes():
    examples = corpus(8)
    chunks = [examples[:10], examples[10:]]
    here, sent = summed(chunks), summed(chunks, as_bytes=True)
    for name, values in here.items():
        np.testing.assert_array_equal(sent[name], values, err_msg=name)


def test_only_the_most_frequent_tokens_are_kept_and_what_is_forgotten_is_said(monkeypatch):
    """Sums are kept of some more tokens than are asked for. A token that is rare at first loses its first sums: then
    the numbers are of the others alone."""
    monkeypatch.setattr(token_sums, "head_tokens", lambda heads: 1)
    monkeypatch.setattr(token_sums, "SPARE", 2)
    early = [encoded(n, n, [CLS, 5, 6, 5, 6, 7, SEP]) for n in range(6)]
    late = [encoded(n, n, [CLS, 7, 7, 7, 7, 7, 8, 7, 7, SEP]) for n in range(6, 12)]
    found = summed([early, late])
    assert found["tokens"] == ["t7"] and found["token_counts"] == [6 * 8] and found["token_summed"] == [6 * 7]
    expected = literal(late, 0, 1, False, "documents")
    for share, name in enumerate(SHARES):
        value, error, _ = oracle.ratio(expected[name, "t7"])
        assert found["token_shares"][share, 0, 0, 1] == pytest.approx(value, rel=1e-4)
        assert found["token_errors"][share, 0, 0, 1] == pytest.approx(error, rel=1e-3)


@pytest.mark.parametrize("causal", [False, True])
def test_planted_heads(causal):
    """Uniform attention gives and receives once what uniform attention does; one head looks at a token alone, where it
    is to be seen; and one looks from it alone, else at the first token."""
    word, ids = 9, [CLS, 4, 5, 9, 6, 7, SEP]
    examples = [encoded(n, n, ids) for n in range(30)]
    size = len(ids)
    seen = torch.ones(size, size).tril() if causal else torch.ones(size, size)
    uniform = seen / seen.sum(-1, keepdim=True)
    at_word = uniform.clone()
    at_word[3 if causal else 0 :] = torch.eye(size)[3]
    from_word = torch.eye(size)[0].repeat(size, 1)
    from_word[3] = torch.eye(size)[1]
    weights = torch.stack([uniform, at_word, from_word])
    sums = ReachSums(1, 3, "cpu", 0, maps.TOKENS, causal)
    batch = collate(examples, maps.TOKENS, "cpu")
    part = sums.new_empty()
    part.update(batch, LayerAttention(0, weights.expand(30, -1, -1, -1).contiguous(), None, causal))
    sums.merge(part)
    found = sums.tokens.fields(NAMES)
    received, given = found["token_shares"][:, :, 0]  # (token, head)
    np.testing.assert_allclose(received[:, 0], 1, rtol=1e-5)
    assert np.nanmax(np.abs(given[:, 0] - 1)) < 1e-5
    place = found["tokens"].index(f"t{word}")
    assert received[:, 1].argmax() == place and np.nanargmax(given[:, 2]) == place
    others = [index for index in range(len(ids)) if index != place]
    assert np.nanmax(given[others, 2]) == 0 and np.isnan(given[found["tokens"].index(f"t{SEP}")]).all()
