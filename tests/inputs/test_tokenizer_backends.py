"""Tokenizers that are written in Python: of bytes, of letters, and of pieces marked at their ends."""

import json
import string
import sys
from pathlib import Path
from typing import Any

import pytest
import transformers

from bertviz_core.corpora import Skipped
from bertviz_core.errors import InputError, ModelError
from bertviz_core.inputs.encoding import collate, encode_words
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.attention import forward
from bertviz_core.models.checkpoint import describe
from bertviz_core.models.single_input import from_text
from bertviz_core.settings import Settings

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
SIZES |= {"max_position_embeddings": 66}
LETTERS = list(string.ascii_letters)
MERGES = "t h 1\nth e</w> 1\nc a 1\n"


def written(path: Path, names: list[str]) -> str:
    path.write_text("\n".join(names))
    return str(path)


def esm(folder: Path) -> Any:
    vocabulary = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCX.-", "<mask>"]
    return transformers.EsmTokenizer(written(folder / "vocab.txt", vocabulary))


def byt5(folder: Path) -> Any:
    return transformers.ByT5Tokenizer()


def phobert(folder: Path) -> Any:
    pieces = [*LETTERS, *(f"{letter}@@" for letter in LETTERS), "ca@@", "the", ".", ",", "[", "]"]
    vocabulary = written(folder / "pieces.txt", [f"{piece} 1" for piece in pieces])
    (folder / "merges.txt").write_text(MERGES)
    return transformers.PhobertTokenizer(vocabulary, str(folder / "merges.txt"))


def ctrl(folder: Path) -> Any:
    pieces = ["<unk>", *LETTERS, *(f"{letter}@@" for letter in LETTERS), "ca@@", "the", ".", ","]
    (folder / "pieces.json").write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}))
    (folder / "merges.txt").write_text("#version\n" + MERGES.replace(" 1\n", "\n"))
    return transformers.CTRLTokenizer(str(folder / "pieces.json"), str(folder / "merges.txt"))


def japanese(folder: Path) -> Any:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocabulary = written(folder / "pieces.txt", [*pieces, "the", "ca", ".", ",", "[", "]"])
    return transformers.BertJapaneseTokenizer(vocabulary, word_tokenizer_type="basic")


# name: (how it is made, frame of one and of two texts by name, pieces of "cat", punctuation by name)
PAIR = [["[CLS]"], ["[SEP]"], ["[SEP]"]]
KINDS: dict[str, tuple[Any, ...]] = {
    "esm": (esm, [["<cls>"], ["<eos>"], ["<eos>"]], ["<unk>"], {"."}),
    "byt5": (byt5, [[], ["</s>"], ["</s>"]], [" ", "c", "a", "t"], {".", ","}),
    "phobert": (phobert, [["<s>"], ["</s>", "</s>"], ["</s>"]], ["ca@@", "t"], {".", ","}),
    "ctrl": (ctrl, [[], [], []], ["ca@@", "t"], {".", ","}),
    "japanese": (japanese, PAIR, ["ca", "##t"], {".", ","}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_frames_pieces_and_punctuation(kind, tmp_path):
    make, frame, cat, punctuation = KINDS[kind]
    tokens = Tokens(make(tmp_path))
    assert list(map(tokens.names, tokens.frame)) == frame
    assert list(map(tokens.names, tokens.single)) == [frame[0], frame[2]]
    assert tokens.names(tokens.pieces("cat")) == cat
    assert set(tokens.names(tokens.punctuation)) == punctuation
    example = encode_words(["the", "cat", "."], tokens, 0, "", Skipped())
    assert sorted(set(example.words.tolist()) - {-1}) == [0, 1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_that_a_text_spells_are_letters(kind, tmp_path):
    tokens = Tokens(KINDS[kind][0](tmp_path))
    names = {*tokens.tokenizer.all_special_tokens}
    text = "the ".join(sorted(names))
    ids = tokens.encode(text)
    assert not set(ids) & set(tokens.special.tolist()) - {tokens.unknown}
    assert tokens.spelled(text) == len(names)


@pytest.mark.parametrize(
    ("kind", "words"), [("byt5", ["the", "cat", "."]), ("phobert", ["the", "cat"]), ("japanese", ["the", "cat", "."])]
)
def test_words_of_the_viewer_are_found_by_the_tokenizers_marks(kind, words, tmp_path):
    tokens = Tokens(KINDS[kind][0](tmp_path))
    layout = from_text("the cat ." if kind == "japanese" else " ".join(words), "", tokens, Settings()).layout
    assert [
        label for label, special in zip(layout.words.labels, layout.words.special, strict=True) if not special
    ] == words


def test_residues_of_a_protein_are_its_tokens(tmp_path):
    tokens = Tokens(esm(tmp_path))
    assert tokens.names(tokens.encode("LAGV SER<mask>T")) == [*"LAGVSER", "<unk>", "T"]
    assert tokens.names(tokens.pieces("LAGV")) == [*"LAGV"]


def test_bytes_of_letters_are_labels(tmp_path):
    tokens = Tokens(byt5(tmp_path))
    layout = from_text("cé", "", tokens, Settings()).layout
    assert layout.tokens.labels == ("c", "<0xC3>", "<0xA9>", "</s>")
    assert layout.words.labels == ("cé", "</s>")


def test_byt5_is_opened_from_its_folder(tmp_path):
    sizes = {"d_model": 32, "d_ff": 64, "d_kv": 8, "num_layers": 2, "num_decoder_layers": 1, "num_heads": 4}
    config = transformers.T5Config(vocab_size=384, feed_forward_proj="gated-gelu", **sizes)
    transformers.T5ForConditionalGeneration(config).save_pretrained(tmp_path)
    byt5(tmp_path).save_pretrained(tmp_path)
    assert not list(tmp_path.glob("vocab*"))
    opened(tmp_path)


def test_esm_is_opened_from_its_folder_and_in_memory(tmp_path):
    tokenizer = esm(tmp_path)
    kinds = {"mask_token_id": len(tokenizer) - 1, "pad_token_id": 1, "position_embedding_type": "rotary"}
    kinds |= {"token_dropout": True, "emb_layer_norm_before": False}
    model = transformers.EsmForMaskedLM(transformers.EsmConfig(vocab_size=len(tokenizer), **kinds, **SIZES))
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    opened(tmp_path)
    assert loading.model_in_memory((model, tokenizer), describe(model, tokenizer)).layers == 2


def opened(folder: Path) -> None:
    model = loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")
    example = encode_words(["LAG", "VS."], model.tokens, 0, "", Skipped())
    layers: list[Any] = []
    forward(model, collate([example], model.tokens, "cpu"), layers.append)
    assert len(layers) == 2 and layers[0].weights.shape[-1] == len(example)


def test_tokenizers_that_cannot_be_used_are_named_in_one_sentence(tmp_path, monkeypatch):
    """TAPAS reads tables; MeCab, which many Japanese models need, is a package of its own."""
    model = transformers.BertModel(transformers.BertConfig(vocab_size=200, **SIZES))
    japanese(tmp_path)
    tables = transformers.TapasTokenizer(str(tmp_path / "pieces.txt"))
    with pytest.raises(ModelError, match=r"tokenizer of .* cannot be used \(ValueError: With TAPAS"):
        loading.model_in_memory((model, tables), describe(model, tables))
    model.save_pretrained(tmp_path / "model")
    (tmp_path / "pieces.txt").rename(tmp_path / "model" / "vocab.txt")
    settings = {"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "mecab"}
    (tmp_path / "model" / "tokenizer_config.json").write_text(json.dumps(settings))
    monkeypatch.setitem(sys.modules, "fugashi", None)
    with pytest.raises(ModelError, match="You need to install fugashi") as refused:
        loading.load(checkpoint.find_checkpoint(str(tmp_path / "model")), "cpu")
    assert "Install the package" in refused.value.hint


def test_a_text_that_a_tokenizer_cannot_read_is_an_input_error(tmp_path, monkeypatch):
    tokens = Tokens(japanese(tmp_path))
    monkeypatch.setattr(tokens.tokenizer, "_tokenize", lambda *_, **__: list(string.digits)[10])
    with pytest.raises(InputError, match=r"BertJapaneseTokenizer\) cannot read 'the cat' \(IndexError"):
        tokens.encode("the cat")
