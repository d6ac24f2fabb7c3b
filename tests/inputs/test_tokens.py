import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from bertviz_core.corpora import Skipped
from bertviz_core.inputs.encoding import encode_words
from bertviz_core.inputs.labels import layout_of, spaced, token_labels
from bertviz_core.inputs.tokens import Tokens, distinct_labels, joined_pieces, read_names
from tests.support import families

FAMILIES = (families.wordpiece, families.roberta_bpe, families.gpt2_bpe, families.unigram)


@pytest.fixture(scope="module")
def every() -> tuple[Tokens, ...]:
    """WordPiece, BPE with special tokens, BPE of a causal model, and unigram pieces."""
    return tuple(Tokens(make()) for make in FAMILIES)


def test_names_alone_are_read_as_with_the_tokenizer(every):
    for tokens in every:
        ids = np.array(tokens.encode("The cat sat, an é\n and a dog: 17 of them."))
        assert read_names(tokens.names(ids)) == token_labels(ids, tokens)
    assert read_names(["▁cat", "<0x0A>", "▁", "<0xC3>", "<bos>"]) == ("cat", "↵", "␣", "<0xC3>", "<bos>")


def test_labels_with_their_spaces_make_the_text(every):
    text = "the cat sat, and a dog."
    for tokens in every:
        ids = np.array(tokens.encode(text))
        joined = "".join(spaced(token_labels(ids, tokens), tokens.names(ids), tokens))
        assert joined.strip() == text if tokens.marks_spaces else " " not in joined


def test_of_tokens_that_read_alike_those_after_a_space_show_it():
    assert distinct_labels(["Ġa", "a", "Ġthe", "<s>"]) == ["␣a", "a", "the", "<s>"]


def test_a_token_that_is_no_bytes_leaves_the_others_readable():
    assert joined_pieces("The Ġca t ĠcafÃ© 日本") == "The cat café日本"
    assert joined_pieces("<bos> ▁A <0x0A> ▁cat") == "<bos> A cat"


def test_frames_and_special_tokens_by_id(every):
    wordpiece, bpe, causal, unigram = every
    assert (wordpiece.single, wordpiece.frame) == ([[2], [3]], [[2], [3], [3]])
    assert (bpe.single, bpe.frame) == ([[0], [2]], [[0], [2, 2], [2]])
    assert (causal.single, causal.frame) == ([[], []], [[], [], []])
    assert (unigram.single, unigram.frame) == ([[], [3, 2]], [[], [3], [3, 2]])
    assert [(t.cls, t.sep, t.pad, t.unk, t.mask) for t in every] == [
        (2, 3, 0, 1, 4),
        (0, 2, 1, 3, 4),
        (None, None, 0, 0, None),
        (2, 3, 1, 0, 4),
    ]
    assert wordpiece.special.tolist() == [0, 1, 2, 3, 4]


def test_punctuation_is_exactly_full_stop_and_comma(every):
    for tokens in every:
        names = set(tokens.names(tokens.punctuation))
        assert {".", ","} <= names <= {".", ",", "Ġ.", "Ġ,", "▁.", "▁,"}
    wordpiece, *_ = every
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
    monkeypatch.setattr("bertviz_core.inputs.tokens.CALL_CHARACTERS", 50)
    parted = tokens.encode(text)
    monkeypatch.setattr("bertviz_core.inputs.tokens.CALL_CHARACTERS", len(text))
    assert parted == tokens.encode(text)


# Words of treebanks, cut one by one, have the pieces that the tokenizer gives them in the whole sentence.
SENTENCES = {
    "English": "The naïve gardener 's newest greenhouses don't fit , 1,234 of them .",
    "German": "Die Öffnungszeiten der Bücherei ändern sich größtenteils .",
    "Chinese": "我们 在 学校 学习 语言 。",
    "Arabic": "قرأت الطالبة كِتابًا جديدًا .",
    "emoji": "ice 👩\u200d👩\u200d👧 cream ❤\ufe0f 👍🏽 !",
}
BYTES = pre_tokenizers.ByteLevel
MARKS = pre_tokenizers.Metaspace


def trained(pre_tokenizer, bos: bool) -> Tokens:
    """A tokenizer without CLS and SEP, with a BOS token before each text or without special tokens."""
    byte_level = isinstance(pre_tokenizer, BYTES)
    tokenizer = Tokenizer(models.BPE(byte_fallback=not byte_level, unk_token=None if byte_level else "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel() if byte_level else decoders.Metaspace()
    bytes_of_fallback = [] if byte_level else [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=["<s>", "<unk>", *bytes_of_fallback],
        initial_alphabet=BYTES.alphabet() if byte_level else [],
        show_progress=False,
    )
    tokenizer.train_from_iterator([*SENTENCES.values()][:4], trainer)  # emoji are cut into bytes
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 0)]
        )
    return Tokens(families.fast(tokenizer, bos_token="<s>", unk_token="<unk>"))


@pytest.fixture(scope="module", params=[False, True], ids=["no special token", "BOS"])
def bos(request) -> bool:
    return request.param


@pytest.fixture(
    scope="module",
    params=[
        BYTES(add_prefix_space=False),
        BYTES(add_prefix_space=True),
        MARKS(prepend_scheme="always"),
        MARKS(prepend_scheme="first"),
        MARKS(prepend_scheme="never"),
    ],
    ids=["bytes", "bytes after a space", "marks always", "marks first", "marks never"],
)
def tokens(request, bos) -> Tokens:
    return trained(request.param, bos)


@pytest.mark.parametrize("language", SENTENCES)
def test_words_have_the_pieces_of_the_tokenizers_own_offsets(tokens, bos, language):
    words = SENTENCES[language].split()
    encoded = encode_words(words, tokens, 0, "", Skipped())
    text = " " * tokens.spaced + " ".join(words)
    whole = tokens.tokenizer(text, return_offsets_mapping=True)
    assert encoded.ids.tolist() == whole["input_ids"]
    ends = np.cumsum([len(word) + 1 for word in words]) - 1 + tokens.spaced  # a word ends where its space begins
    owners = [int(np.searchsorted(ends, end)) for _, end in whole["offset_mapping"][bos:]]
    assert encoded.words.tolist() == [-1] * bos + owners


def test_bos_stands_where_the_tokenizer_puts_it_and_is_no_word(tokens, bos):
    assert (tokens.cls, tokens.sep) == (None, None)
    assert (tokens.single, tokens.frame) == (([[0], []], [[0], [0], []]) if bos else ([[], []], [[], [], []]))
    layout = layout_of(encode_words(["The", "gardener"], tokens, 0, "", Skipped()), tokens)
    assert layout.words.special.tolist() == [True] * bos + [False, False]


def test_a_row_of_the_model_that_the_vocabulary_does_not_name_has_its_number():
    """Tables of models are often padded, as Pythia's; the model may guess such a row."""
    from bertviz_core.models.checkpoint import find_checkpoint
    from bertviz_core.models.loading import load_tokens

    tokens = load_tokens(find_checkpoint("demo"))
    beyond = len(tokens.tokenizer) + 3
    assert tokens.names([beyond, tokens.tokenizer.cls_token_id]) == [f"[{beyond}]", "[CLS]"]
