from collections import deque

import numpy as np
import pytest

from bertviz_core.corpora.files import FOLDER
from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.errors import InputError
from bertviz_core.inputs.annotated_words import Sentences, Windows
from bertviz_core.inputs.encoded_corpus import CorpusReading, Reading
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.settings import Settings
from tests.oracles import coreference as oracle
from tests.support.bracketed import conll


@pytest.fixture
def tokens(demo) -> Tokens:
    return demo.tokens


def read_whole(examples) -> Reading:
    """What one reading of the whole corpus counts."""
    corpus = CorpusReading(examples)
    deque(corpus, maxlen=0)
    return corpus.reading


def windows_of(tokens: Tokens, *documents: str, **settings) -> Windows:
    return Windows(from_bytes(conll(*documents).encode(), "given"), tokens, Settings(**settings))


def lost(windows: Windows) -> dict[str, int]:
    return {entry["reason"]: entry["count"] for entry in read_whole(windows).skipped.to_json()}


def test_the_paper_keeps_whole_sentences_and_drops_the_mentions_cut_off(tokens):
    # Every word is one token. 10 tokens hold 8 words: the first two sentences (7 words), not the third.
    text = "[1 he ] saw [2 her ] . / [1 he ] sat . / [2 she ] and [1 he ] ran ."
    windows = windows_of(tokens, text, mode="paper", max_length=10)
    (window,) = windows
    assert window.span == (0, 7) and len(window) == 9 and not window.types.any()
    assert [item.mention for item in window.items] == [2]
    assert (window.items[0].candidates, window.items[0].antecedents) == ((0, 1), (0,))
    assert lost(windows) == {"a word past the cut at 10 tokens": 5, "a mention cut off at 10 tokens": 2}
    long = windows_of(tokens, "[1 he ] and [1 he ] and he and he and he . / he .", mode="paper", max_length=10)
    assert [(window.span, len(window)) for window in long] == [((0, 8), 10)]  # cut inside the first sentence alone


def test_windows_overlap_by_half_and_ask_each_mention_where_most_stands_before_it(tokens):
    # 16 words of one token, 8 to a window: words 0-7, 4-11, 8-15. he = 0, 5, 9 and 15.
    text = "[1 he ] and so on to [1 he ] and so on [1 he ] and so on to be [1 he ]"
    windows = windows_of(tokens, text, max_length=10)
    first, second, third = list(windows)
    assert [window.span for window in (first, second, third)] == [(0, 8), (4, 12), (8, 16)]
    assert [[item.mention for item in window.items] for window in (first, second, third)] == [[1], [2], [3]]
    assert second.items[0].candidates == (1,)  # the first `he` is out of the window
    assert [window.item_number for window in (first, second, third)] == [0, 1, 2]
    assert not lost(windows) and read_whole(windows).counts["items"] == 3
    assert read_whole(windows).counts["head_words"] == "rule" and read_whole(windows).counts["format"] == "CoNLL-2012"
    windows = windows_of(tokens, "[1 he ] so [1 he ]", "[1 he ] so [1 he ]", limit=1)
    assert len(list(windows)) == 1 and read_whole(windows).counts["items"] == 1


def test_mentions_without_an_antecedent_are_counted_and_a_file_without_any_is_refused(tokens):
    text = "[1 he ] and so on to be or not or so [1 he ] saw [2 [2 him ] ] there [2 him ]"
    windows = windows_of(tokens, text, max_length=10)
    assert sum(len(window.items) for window in windows) == 1
    assert lost(windows) == {
        "a mention with no antecedent in its window (out of reach)": 1,
        "a mention given twice (read once)": 1,
    }
    nested = windows_of(tokens, "[1 [1 him ] of there ] ran , [1 he ] sat")
    assert [item.mention for window in nested for item in window.items] == [2]
    assert lost(nested) == {"a mention whose only antecedents share its head word": 1}
    with pytest.raises(InputError, match="No mention has an antecedent"):
        list(windows_of(tokens, "[1 he ] sat"))


def test_split_words_keep_their_tokens_together_and_a_monstrous_one_is_cut(tokens):
    (window,) = windows_of(tokens, "[1 he ] saw [1 unquestionablyness ] \u200b .", max_length=32)
    assert (np.diff(window.words[1:-1]) >= 0).all() and window.words[[0, -1]].tolist() == [-1, -1]
    assert (window.words == 2).sum() == len(tokens.pieces("unquestionablyness")) > 1
    assert window.ids[list(window.words).index(3)] == tokens.unk
    windows = windows_of(tokens, "[1 he ] " + "xq" * 40 + " [1 he ]", max_length=16)
    assert max(map(len, windows)) <= 16 and lost(windows)["a word longer than half a window (cut)"] == 1


@pytest.mark.parametrize("mode", ["paper", "corrected"])
@pytest.mark.parametrize("max_length", [24, 128])
@pytest.mark.parametrize("ending", ["conll", "conllu"])
def test_the_sample_equals_the_oracle(tokens, mode, max_length, ending):
    windows = Windows(from_path(FOLDER / f"coreference.{ending}"), tokens, Settings(mode=mode, max_length=max_length))
    budget, ours, documents = max_length - 2, [], {}
    for window in windows:
        assert len(window) <= max_length
        documents[window.document.number] = window.document
        for item in window.items:
            ours.append(
                {
                    "window": window.span,
                    "head": window.heads[item.mention],
                    "candidate_heads": {window.heads[other] for other in item.candidates},
                    "antecedent_heads": {window.heads[other] for other in item.antecedents},
                }
            )
    theirs = []
    for document in documents.values():
        given = plain(document, tokens)
        theirs += sorted(oracle.items(given, budget, mode == "paper"), key=lambda item: item["window"])
    for item in theirs:
        del item["type"], item["bin"], item["candidates_in_order"]
    assert len(ours) > 20 and ours == theirs


def plain(document, tokens: Tokens) -> dict:
    return {
        "number": document.number,
        "words": list(document.words),
        "sentences": list(document.sentences),
        "mentions": [(mention.start, mention.end, mention.cluster) for mention in document.mentions],
        "tags": document.tags,
        "governors": document.governors,
        "pieces": [tokens.pieces(word) or [tokens.unk] for word in document.words],
    }


BANK = "He 2-nsubj\nsat 0-root\n\n\u200b 2-dep\nunquestionablyness 0-root\n\n" + "so 0-root\n" * 40


def test_every_word_has_its_pieces_in_order(tokens):
    sentences = Sentences(from_bytes(BANK.encode(), "bank"), tokens, Settings(max_length=32))
    first, second = list(sentences)
    assert first.words.tolist() == [-1, 0, 1, -1] and first.ids[0] == tokens.cls and first.ids[-1] == tokens.sep
    assert first.sentence.governors == (2, 0) and not first.types.any()
    assert second.words[:2].tolist() == [-1, 0] and second.ids[1] == tokens.unk  # the word that cleans to nothing
    assert set(second.words.tolist()) == {-1, 0, 1} and (np.diff(second.words[1:-1]) >= 0).all()
    reading = read_whole(sentences)
    counted = {"words": 4, "split_words": 1, "sentences": 2, "tokens": len(first) + len(second)}
    counted |= {"vocabulary": len(tokens.ordinary)}
    assert reading.counts == {"format": "word head-label", "unit": "sentences"} | counted
    assert {entry["reason"]: entry["count"] for entry in reading.skipped.to_json()} == {
        "a word the tokenizer cleans to nothing (read as unknown)": 1,
        "a token not in the vocabulary (read as unknown)": 1,
        "a sentence of more than 32 tokens": 1,
    }
