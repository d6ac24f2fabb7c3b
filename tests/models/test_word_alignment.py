"""Words of treebanks, cut one by one, have the pieces that the tokenizer gives them in the whole sentence."""

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from bertviz_core.corpora import Skipped
from bertviz_core.models.encoding import encode_words
from bertviz_core.models.labels import layout_of
from bertviz_core.models.tokens import Tokens

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
    return Tokens(PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", unk_token="<unk>"))


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
