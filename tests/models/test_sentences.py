"""Sentences: words and pieces aligned, what is too long counted, one row a word whatever the tokenizer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.models import checkpoint
from bertviz_core.models.loading import load_tokens
from bertviz_core.models.sentences import Sentences
from bertviz_core.models.tokens import Tokens
from bertviz_core.settings import Settings

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "treebanks"
BANK = "He 2-nsubj\nsat 0-root\n\n\u200b 2-dep\nunquestionablyness 0-root\n\n" + "so 0-root\n" * 40


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return load_tokens(checkpoint.find("demo"))


def made(tokens: Tokens, text: str, **settings) -> Sentences:
    return Sentences(from_bytes(text.encode(), "bank"), tokens, Settings(**settings))


def test_every_word_has_its_pieces_in_order(tokens):
    sentences = made(tokens, BANK, max_length=32)
    first, second = list(sentences)
    assert first.words.tolist() == [-1, 0, 1, -1] and first.ids[0] == tokens.cls and first.ids[-1] == tokens.sep
    assert first.sentence.governors == (2, 0) and not first.types.any()
    assert second.words[:2].tolist() == [-1, 0] and second.ids[1] == tokens.unk  # the word that cleans to nothing
    assert set(second.words.tolist()) == {-1, 0, 1} and (np.diff(second.words[1:-1]) >= 0).all()
    reading = sentences.index()
    assert reading.counts == {
        "format": "word head-label",
        "words": 4,
        "split_words": 1,
        "sentences": 2,
        "tokens": len(first) + len(second),
    }
    assert {entry["reason"]: entry["count"] for entry in reading.skipped.to_json()} == {
        "a word the tokenizer cleans to nothing (read as unknown)": 1,
        "a sentence of more than 32 tokens": 1,
    }


def test_a_sentence_of_five_thousand_words_is_left_out_and_counted(tokens):
    sentences = made(tokens, "He 2-nsubj\nsat 0-root\n\n" + "so 1-x\n" * 4999 + "end 0-root\n")
    assert len(list(sentences)) == 1
    assert sentences.index().skipped.to_json()[0]["count"] == 1


def test_the_limit_and_a_second_reading_agree(tokens):
    sentences = made(tokens, BANK, limit=1)
    assert [e.number for e in sentences] == [e.number for e in sentences] == [0]


SPECIAL = ["<s>", "</s>", "<pad>", "<unk>"]


def trained(family: str) -> Tokens:
    """A tiny tokenizer of another family, trained here: bytes with leading spaces, or SentencePiece."""
    from tokenizers import ByteLevelBPETokenizer, SentencePieceUnigramTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    text = ["the cat sat on the old mat , and so did he .", "words , and more words : ein Wort , un mot"] * 20
    if family == "bytelevel":
        tokenizer = ByteLevelBPETokenizer()
        tokenizer.train_from_iterator(text, vocab_size=400, special_tokens=SPECIAL)
    else:
        tokenizer = SentencePieceUnigramTokenizer()
        tokenizer.train_from_iterator(text, vocab_size=400, special_tokens=SPECIAL, unk_token="<unk>")
    tokenizer._tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    names = dict(zip(("cls_token", "sep_token", "pad_token", "unk_token"), SPECIAL, strict=True))
    return Tokens(PreTrainedTokenizerFast(tokenizer_object=tokenizer._tokenizer, **names))


@pytest.mark.skipif(not DATA.exists(), reason="no shared data")
@pytest.mark.parametrize("family", ["wordpiece", "bytelevel", "sentencepiece"])
@pytest.mark.parametrize(
    "path",
    [
        "UD_German-GSD/de_gsd-ud-dev.conllu.xz",
        "UD_French-GSD/fr_gsd-ud-dev.conllu.xz",
        "UD_Czech-CAC/cs_cac-ud-dev.conllu.xz",
        "UD_Arabic-PUD/ar_pud-ud-test.conllu.xz",
        "UD_Chinese-GSD/zh_gsd-ud-dev.conllu.xz",
        "UD_Japanese-GSD/ja_gsd-ud-dev.conllu.xz",
    ],
)
def test_words_and_rows_stay_aligned_in_every_language_and_tokenizer_family(tokens, family, path):
    tokens = tokens if family == "wordpiece" else trained(family)
    sentences = Sentences(from_path(DATA / path), tokens, Settings(max_length=2000, limit=60))
    for encoded in sentences:
        words = encoded.words[1:-1]
        assert sorted(set(words.tolist())) == list(range(len(encoded.sentence)))
        assert (np.diff(words) >= 0).all() and len(words) == len(encoded.ids) - 2
        for word, form in enumerate(encoded.sentence.words):
            pieces = encoded.ids[encoded.words == word].tolist()
            assert pieces == (tokens.pieces(form) or [tokens.unk])
