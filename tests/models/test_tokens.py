"""Tokenizers: what they call their special tokens, how they frame, how they cut words."""

import pytest

from bertviz_core.models.tokens import Tokens
from tests import families

FAMILIES = (families.wordpiece, families.roberta_bpe, families.gpt2_bpe, families.unigram)


@pytest.fixture(scope="module")
def every() -> tuple[Tokens, ...]:
    """WordPiece, BPE with special tokens, BPE of a causal model, and unigram pieces."""
    return tuple(Tokens(make()) for make in FAMILIES)


def test_frames(every):
    wordpiece, bpe, causal, unigram = every
    assert (wordpiece.single, wordpiece.frame) == ([[2], [3]], [[2], [3], [3]])
    assert (bpe.single, bpe.frame) == ([[0], [2]], [[0], [2, 2], [2]])
    assert (causal.single, causal.frame) == ([[], []], [[], [], []])
    assert (unigram.single, unigram.frame) == ([[], [3, 2]], [[], [3], [3, 2]])


def test_special_tokens_by_id(every):
    wordpiece, bpe, causal, unigram = every
    assert [(t.cls, t.sep, t.pad, t.unk, t.mask) for t in (wordpiece, bpe, causal, unigram)] == [
        (2, 3, 0, 1, 4),
        (0, 2, 1, 3, 4),
        (None, None, 0, 0, None),
        (2, 3, 1, 0, 4),
    ]
    assert wordpiece.special.tolist() == [0, 1, 2, 3, 4]


def test_punctuation_is_exactly_full_stop_and_comma(every):
    wordpiece, bpe, causal, unigram = every
    for tokens in (wordpiece, bpe, causal, unigram):
        names = set(tokens.names(tokens.punctuation))
        assert {".", ","} <= names <= {".", ",", "Ġ.", "Ġ,", "▁.", "▁,"}
    marks = set(wordpiece.punctuation.tolist())
    ids = wordpiece.encode("the cat, it's ; a . b")
    assert [name for i, name in zip(ids, wordpiece.names(ids), strict=True) if i in marks] == [",", "."]


def test_text_that_looks_like_a_special_token_stays_text(every):
    wordpiece, bpe, causal, unigram = every
    ids = wordpiece.encode("[SEP] [CLS] the cat a [MASK] b x[PAD]")
    assert len(ids) > 12 and not set(ids) & {0, 2, 3, 4}
    assert not set(bpe.encode("a </s> b <s>")) & {0, 2}
    assert 0 not in causal.encode("a <|endoftext|> b")
    assert not set(unigram.encode("a <sep> b <cls>")) & {2, 3}


def test_words_are_cut_as_within_a_sentence(every):
    wordpiece, bpe, causal, unigram = every
    assert wordpiece.names(wordpiece.pieces("Greenhouses")) == ["greenhouses"]
    assert wordpiece.names(wordpiece.pieces("cab")) == ["c", "##a", "##b"]
    for tokens in (bpe, causal):
        assert tokens.spaced
        assert tokens.names(tokens.pieces("cat"))[0].startswith("Ġ")
        assert tokens.pieces("cat") == tokens.encode("the cat")[len(tokens.encode("the")) :]
    assert not unigram.spaced
    assert unigram.names(unigram.pieces("cat"))[0].startswith("▁")


def test_a_tokenizer_without_an_unknown_token_reads_unknown_ones_as_padding():
    tokenizer = families.roberta_bpe()
    tokenizer.unk_token = None
    tokens = Tokens(tokenizer)
    assert tokens.unk is None
    assert tokens.ids(["Ġthe", "nosuch"]) == ([*tokens.encode(" the"), tokens.pad], 1)


@pytest.mark.parametrize("family", range(len(FAMILIES)))
def test_a_huge_text_in_parts_gives_the_same_tokens(family, every, monkeypatch):
    tokens = every[family]
    pieces = ["The cat sat, on the mat.", "naïve 😀 don't", "two  spaces", "中文 words", "x" * 40]
    text = " ".join(pieces * 20)
    monkeypatch.setattr("bertviz_core.models.tokens.AT_ONCE", 50)
    parted = tokens.encode(text)
    monkeypatch.setattr("bertviz_core.models.tokens.AT_ONCE", len(text))
    assert parted == tokens.encode(text)
